#include "director/cli/unpublished.h"

#include <set>
#include <string_view>

#include "fmt/format.h"

namespace galley::cli {

std::string UnpublishedText(const std::vector<SummaryFailure>& failures,
                            const std::string& platform, uint64_t in_cook, bool has_last) {
  std::set<std::string_view> failed;
  for (const SummaryFailure& failure : failures) {
    if (!failure.package.empty() && (failure.platform.empty() || failure.platform == platform))
      failed.insert(failure.package);
  }
  std::string why = "no package has an output here";
  if (failed.size() == 1 && in_cook == 1) {
    why = "its only package failed";
  } else if (!failed.empty() && failed.size() == in_cook) {
    why = fmt::format("all {} packages failed", in_cook);
  } else if (!failed.empty()) {
    why = fmt::format("of {} packages {} failed, and the others were not cooked", in_cook,
                      failed.size());
  }
  return fmt::format("nothing was published: {}{}", why,
                     has_last ? "; the last good tree stays" : "");
}

}  // namespace galley::cli
