#include "common/tree/path_limits.h"

#include "fmt/format.h"

namespace galley::tree {

std::string PathFault(std::string_view path) {
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view segment = rest.substr(0, rest.find('/'));
    if (segment.size() > kSegmentBytesMax) {
      return fmt::format(
          "it has a name of {} bytes, file systems take at most {}; give it a shorter name",
          segment.size(), kSegmentBytesMax);
    }
    rest.remove_prefix(segment.size() == rest.size() ? segment.size() : segment.size() + 1);
  }
  if (path.size() > kPathBytesMax) {
    return fmt::format("its path has {} bytes, systems take at most {}; give it a shorter one",
                       path.size(), kPathBytesMax);
  }
  return {};
}

}  // namespace galley::tree
