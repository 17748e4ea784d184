#include "common/content/lfs_pointer.h"

#include <algorithm>

namespace galley::content {
namespace {

// Source: https://github.com/git-lfs/git-lfs/blob/main/lfs/pointer.go, v1Aliases.
constexpr std::string_view kVersions[] = {
    "https://git-lfs.github.com/spec/",
    "https://hawser.github.com/spec/",
    "http://git-media.io/v/",
};

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view WithoutBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool IsVersionLine(std::string_view line) {
  constexpr std::string_view kKey = "version ";
  if (!line.starts_with(kKey)) return false;
  const std::string_view url = WithoutBlanks(line.substr(kKey.size()));
  if (url.find_first_of(kBlanks) != std::string_view::npos) return false;  // a sentence
  return std::any_of(std::begin(kVersions), std::end(kVersions),
                     [&](std::string_view version) { return url.starts_with(version); });
}

}  // namespace

bool IsLfsPointer(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  std::string_view rest = WithoutBlanks(head);
  if (rest.starts_with("<<<<<<< ")) {  // a merge that nobody finished
    const size_t end = rest.find('\n');
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return IsVersionLine(WithoutBlanks(rest.substr(0, rest.find('\n'))));
}

bool IsLfsPointerFile(std::string_view bytes) {
  return bytes.size() <= kLfsPointerBytesMax && IsLfsPointer(bytes);
}

}  // namespace galley::content
