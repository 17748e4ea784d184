// WatchedProgram: the places that matter for a program whose calls are watched (CallWatch).
//
// Threads: none; const except for what the folder does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace galley::worker {

// ReadyFolder: the folder that is filled on demand. Paths are host paths without links, `root()` or
// below it.
class ReadyFolder {
 public:
  virtual ~ReadyFolder() = default;
  virtual const std::string& root() const = 0;
  // Gives the folder all its names. Does nothing if `path` is no folder.
  virtual absl::Status FillFolder(const std::string& path) = 0;
  // Gives the file its bytes. Does nothing if `path` is no file.
  virtual absl::Status FillFile(const std::string& path) = 0;
  // The path below root() of a file of ours, which may have been reached by another way (a bind
  // mount). Empty: the file is not ours.
  virtual std::string PathOf(uint64_t device, uint64_t inode) const = 0;
};

struct WatchedProgram {
  ReadyFolder* folder = nullptr;  // outlives the watch
  // The program's own folder (its working directory): nothing in it is noted.
  std::string own;
  // The folder of the project's tools; nothing can be changed there, either. Empty: there is none.
  std::string tools;

  bool IsOurs(std::string_view path) const;
  // Whether nobody may change `path`.
  bool IsGuarded(std::string_view path) const;
  // The path by which we know a file: a file of our folder may have been reached by another way.
  std::string Known(std::string path) const;
};

// Whether `path` is the folder or lies below it; nothing is below "".
bool IsBelow(std::string_view path, std::string_view folder);

// Checks the files that the program wrote in `folder`. FAILED_PRECONDITION: a file holds the host
// path of the program's files, which differs between machines; other errors: a file cannot be read.
absl::Status CheckWritten(const WatchedProgram& program, const std::string& folder);

}  // namespace galley::worker
