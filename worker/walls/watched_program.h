// WatchedProgram: the places that matter of a program whose calls are watched (CallWatch).
//
// Threads: none; const but for what the folder does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace galley::worker {

// The folder. Paths are host paths, without links, `root()` or below it.
class ReadyFolder {
 public:
  virtual ~ReadyFolder() = default;
  virtual const std::string& root() const = 0;
  // All names of the folder are there afterwards; of one that is none, nothing happens.
  virtual absl::Status FillFolder(const std::string& path) = 0;
  // The file has its bytes afterwards; of one that is none, nothing happens.
  virtual absl::Status FillFile(const std::string& path) = 0;
  // The path below root() of what this is, if it is ours: it may have been reached by another way
  // (a bind mount). Empty: it is not.
  virtual std::string PathOf(uint64_t device, uint64_t inode) const = 0;
};

struct WatchedProgram {
  ReadyFolder* folder = nullptr;  // outlives the watch
  // What is in there is the program's own (its working directory): it is not noted.
  std::string own;
  // Where the project's tools are put: nothing can be changed there, either. Empty: nowhere.
  std::string tools;

  bool IsOurs(std::string_view path) const;
  // What nobody may change.
  bool IsGuarded(std::string_view path) const;
  // The path by which we know it: it may lie in the folder, and have been reached by another way.
  std::string Known(std::string path) const;
};

// `path` is the folder or below it; nothing is below "".
bool IsBelow(std::string_view path, std::string_view folder);

// Looks through the files that the program wrote in `folder`. FAILED_PRECONDITION: one of them says
// where the program's files are, which is another place on each machine; else: they cannot be read.
absl::Status CheckWritten(const WatchedProgram& program, const std::string& folder);

}  // namespace galley::worker
