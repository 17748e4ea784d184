#include "common/content/name.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "common/base/errors.h"
#include "common/base/utf8.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

constexpr size_t kSegmentBytesMax = 255;
constexpr size_t kPathBytesMax = 4096;

bool IsAscii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

absl::Status Refuse(std::string_view path, std::string_view why) {
  return InvalidArgumentError("path `{}` {}", EscapeName(path), why);
}

// Checks the rules that hold for every path, asked or virtual.
absl::Status CheckCharacters(std::string_view path) {
  if (path.size() > kPathBytesMax) {
    return Refuse(path.substr(0, 80),
                  fmt::format("(cut) has {} bytes, the limit is {}", path.size(), kPathBytesMax));
  }
  size_t at = 0;
  while (at < path.size()) {
    // Most are printable ASCII. Each path that a cooker looks at comes by here a few times.
    if (path[at] >= ' ' && path[at] < 0x7f) {
      ++at;
      continue;
    }
    const std::optional<char32_t> c = NextCodePoint(path, at);
    if (!c) return Refuse(path, "is not valid UTF-8");
    if (IsControl(*c)) return Refuse(path, "has a control character");
  }
  return absl::OkStatus();
}

absl::Status CheckSegment(std::string_view path, std::string_view segment) {
  if (segment.size() <= kSegmentBytesMax) return absl::OkStatus();
  return Refuse(path, fmt::format("has a segment of {} bytes, the limit is {}", segment.size(),
                                  kSegmentBytesMax));
}

bool IsSeparator(char c) { return c == '/' || c == '\\'; }

}  // namespace

std::string EscapeName(std::string_view name) {
  std::string shown;
  size_t at = 0;
  while (at < name.size()) {
    const size_t begin = at;
    const std::optional<char32_t> c = NextCodePoint(name, at);
    if (c && !IsControl(*c) && *c != U'\\') {
      shown.append(name.substr(begin, at - begin));
      continue;
    }
    if (!c) at = begin + 1;
    for (size_t i = begin; i < at; ++i) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(name[i]));
    }
  }
  return shown;
}

absl::Status ValidateVirtualPath(std::string_view path) {
  if (path.empty() || path.front() != '/') return Refuse(path, "does not begin with `/`");
  if (path.size() == 1) return Refuse(path, "names no file: it is the root");
  if (path.back() == '/') return Refuse(path, "ends with `/`");
  if (path.find('\\') != std::string_view::npos) return Refuse(path, "has a backslash");
  if (absl::Status status = CheckCharacters(path); !status.ok()) return status;
  size_t begin = 1;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view segment = path.substr(begin, end - begin);
    if (segment.empty()) return Refuse(path, "has an empty segment");
    if (segment == "." || segment == "..") {
      return Refuse(path, fmt::format("has a segment `{}`", segment));
    }
    if (absl::Status status = CheckSegment(path, segment); !status.ok()) return status;
    begin = end + 1;
  }
  return absl::OkStatus();
}

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::string ExtensionOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return "";
  std::string extension(name.substr(dot + 1));
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension;
}

bool IsUnder(std::string_view path, std::string_view folder) {
  if (folder.empty() || folder == "/") return true;
  if (!path.starts_with(folder)) return false;
  return path.size() == folder.size() || path[folder.size()] == '/';
}

absl::StatusOr<std::string> NormalizeAsked(std::string_view asked) {
  if (asked.empty()) return absl::InvalidArgumentError("an empty path was asked for");
  if (absl::Status status = CheckCharacters(asked); !status.ok()) return status;
  const bool is_absolute = IsSeparator(asked.front());
  std::string path;
  path.reserve(asked.size());
  for (size_t begin = 0; begin <= asked.size();) {
    const size_t end = std::min(asked.find_first_of("/\\", begin), asked.size());
    const std::string_view segment = asked.substr(begin, end - begin);
    begin = end + 1;
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      const size_t slash = path.rfind('/');
      const size_t last = slash == std::string::npos ? 0 : slash + 1;
      if (!path.empty() && path.compare(last, std::string::npos, "..") != 0) {
        path.resize(last == 0 ? 0 : slash);
        continue;
      }
      if (is_absolute) return Refuse(asked, "leaves the mounts: it goes above `/`");
    } else if (absl::Status status = CheckSegment(asked, segment); !status.ok()) {
      return status;
    }
    if (is_absolute || !path.empty()) path.push_back('/');
    path.append(segment);
  }
  if (path.empty()) path = is_absolute ? "/" : ".";
  return path;
}

absl::StatusOr<std::string> ResolveAsked(std::string_view package, std::string_view asked) {
  if (!asked.empty() && (asked.front() == '/' || asked.front() == '\\')) {
    return NormalizeAsked(asked);
  }
  const std::string_view folder = FolderOf(package);
  std::string joined;
  joined.reserve(folder.size() + 1 + std::max<size_t>(asked.size(), 1));
  joined.append(folder).push_back('/');
  joined.append(asked.empty() ? "." : asked);
  absl::StatusOr<std::string> path = NormalizeAsked(joined);
  if (path.ok()) return path;
  return InvalidArgumentError(
      "`{}` in {}: {}", EscapeName(asked), package,
      std::string_view(path.status().message().data(), path.status().message().size()));
}

std::string FoldName(std::string_view path) {
  std::string folded(path);
  if (IsAscii(path)) {
    for (char& c : folded) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return folded;
  }
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(path.data()),
      static_cast<utf8proc_ssize_t>(path.size()), &mapped,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD));
  if (size >= 0) folded.assign(reinterpret_cast<char*>(mapped), static_cast<size_t>(size));
  std::free(mapped);
  return folded;
}

}  // namespace galley::content
