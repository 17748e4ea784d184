// Tree: a folder of files as `galley init` sees it. Paths are relative to the folder, separated by
// '/'; "" is the folder itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::init {

enum class EntryKind {
  kFile,
  kFolder,
  kTrouble,  // neither: a link to nothing, a pipe, a name that no package can have
};

struct Entry {
  std::string name;
  EntryKind kind = EntryKind::kFile;
  uint64_t size_bytes = 0;
  std::string link_target;    // the end of a link, relative to the tree; "": no link
  std::string trouble;        // kTrouble: why, as "a link to nothing"
  bool has_bad_name = false;  // kTrouble: the name is not UTF-8, or has control characters
};

class Tree {
 public:
  virtual ~Tree() = default;
  // The entries of a folder, sorted by name. An error says why the folder cannot be read.
  virtual absl::StatusOr<std::vector<Entry>> List(const std::string& folder) const = 0;
  // The first bytes of a file, at most `bytes_max`.
  virtual absl::StatusOr<std::string> Read(const std::string& path, size_t bytes_max) const = 0;
};

}  // namespace galley::init
