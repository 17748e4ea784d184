// GlobFilter: the filter of one cook, from the globs and the cultures that were asked for.
//
// Threads: any. Immutable.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/content/glob.h"
#include "director/core/cook_filter.h"

namespace galley::director {

class GlobFilter final : public CookFilter {
 public:
  // `never`: globs of package names. `cultures`: empty: the cultures of the project. Null: neither
  // was asked for. INVALID_ARGUMENT: a glob is malformed.
  static absl::StatusOr<std::shared_ptr<const GlobFilter>> Make(
      const std::vector<std::string>& never, const std::vector<std::string>& cultures);

  bool has_never() const override { return !never_.empty(); }
  bool IsNever(std::string_view package) const override;
  const Cultures& cultures() const override { return cultures_; }
  const std::vector<content::Glob>& never() const { return never_; }

 private:
  GlobFilter() = default;

  std::vector<content::Glob> never_;
  Cultures cultures_;
};
using GlobFilterPtr = std::shared_ptr<const GlobFilter>;

}  // namespace galley::director
