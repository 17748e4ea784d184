#include "director/shell/glob_filter.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {

absl::StatusOr<std::shared_ptr<const GlobFilter>> GlobFilter::Make(
    const std::vector<std::string>& never, const std::vector<std::string>& cultures) {
  if (never.empty() && cultures.empty()) return nullptr;
  std::shared_ptr<GlobFilter> filter(new GlobFilter());
  for (const std::string& pattern : never) {
    ASSIGN_OR_RETURN(content::Glob glob, content::Glob::Parse(pattern));
    filter->never_.push_back(std::move(glob));
  }
  if (!cultures.empty()) filter->cultures_ = cultures;
  return std::shared_ptr<const GlobFilter>(std::move(filter));
}

bool GlobFilter::IsNever(std::string_view package) const {
  return std::ranges::any_of(never_,
                             [&](const content::Glob& glob) { return glob.Matches(package); });
}

}  // namespace galley::director
