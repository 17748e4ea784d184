#include "director/host/unpublished.h"

#include "fmt/format.h"

namespace galley::director {

std::string UnpublishedText(uint64_t failed, uint64_t in_cook, bool has_last) {
  std::string why = "no package has an output here";
  if (failed == 1 && in_cook == 1) {
    why = "its only package failed";
  } else if (failed > 0 && failed == in_cook) {
    why = fmt::format("all {} packages failed", in_cook);
  } else if (failed > 0) {
    why = fmt::format("of {} packages {} failed, and the others were not cooked", in_cook, failed);
  }
  return fmt::format("nothing was published: {}{}", why,
                     has_last ? "; the last good tree stays" : "");
}

}  // namespace galley::director
