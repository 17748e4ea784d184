// DiskTree: a folder of this machine.
//
// A link counts as its target if the target lies in the folder, and is a file or a folder that does
// not contain the link; any other link is trouble.
#pragma once

#include <string>
#include <vector>

#include "director/cli/init/tree.h"

namespace galley::init {

class DiskTree : public Tree {
 public:
  // REQUIRES: `directory` is an absolute path of a folder.
  explicit DiskTree(std::string directory);

  absl::StatusOr<std::vector<Entry>> List(const std::string& folder) const override;
  absl::StatusOr<std::string> Read(const std::string& path, size_t bytes_max) const override;

 private:
  Entry LookAtEntry(const std::string& folder, const std::string& name) const;
  void FollowLink(const std::string& host_path, Entry& entry) const;

  std::string directory_;
  std::string real_;  // without links
};

}  // namespace galley::init
