// IgnoreRules: what a scan never looks at. Constant after construction; many threads may ask.
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

  // `path`: virtual, of a file or a folder; an ignored folder is ignored with all that lies in it.
  // `name`: its last segment.
  bool Ignores(std::string_view path, std::string_view name) const;
  // `real_path`: a host folder without links in it. True when it is an excluded folder or lies in
  // one.
  bool ExcludesDirectory(std::string_view real_path) const;

 private:
  bool is_nothing_ = false;
  std::vector<Glob> globs_;
  std::vector<std::string> excluded_;  // real paths
};

}  // namespace galley::content
