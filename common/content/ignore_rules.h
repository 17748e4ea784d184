// IgnoreRules: the files and folders that a scan skips. Constant after construction; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/content/glob.h"

namespace galley::content {

class IgnoreRules {
 public:
  // INVALID_ARGUMENT: a pattern is no glob.
  static absl::StatusOr<IgnoreRules> Create(const std::vector<std::string>& patterns,
                                            const std::vector<std::string>& excluded_directories);

  // Rules that ignore nothing, not even files that are never content.
  static IgnoreRules Nothing();

  // True: the scan skips this file, or this folder with all that is in it. `path`: virtual; `name`:
  // its last segment.
  bool Ignores(std::string_view path, std::string_view name) const;
  // True: `real_path`, a host path with links resolved, is an excluded folder or lies in one.
  bool ExcludesDirectory(std::string_view real_path) const;

 private:
  bool is_nothing_ = false;
  std::vector<Glob> globs_;
  std::vector<std::string> excluded_;  // real paths
};

}  // namespace galley::content
