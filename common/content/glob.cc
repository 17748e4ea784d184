#include "common/content/glob.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/content/expand_braces.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

constexpr size_t kPatternBytesMax = 4096;
constexpr size_t kAlternativesMax = 1024;
constexpr int kBraceDepthMax = 16;

absl::Status Refuse(std::string_view pattern, size_t at, std::string_view why) {
  return InvalidArgumentError("glob `{}`: {} (at character {})", EscapeName(pattern), why, at + 1);
}

// Expands braces: the cross product of what stands one after the other, the union of what commas
// part.
class BraceExpander {
 public:
  explicit BraceExpander(std::string_view pattern) : pattern_(pattern) {}

  absl::StatusOr<std::vector<std::string>> Expand() {
    ASSIGN_OR_RETURN(std::vector<std::string> expanded, Sequence(0));
    if (at_ < pattern_.size()) return Refuse(pattern_, at_, "`}` without `{`");
    return expanded;
  }

 private:
  // Up to the end, or inside braces up to ',' or '}' (not consumed).
  absl::StatusOr<std::vector<std::string>> Sequence(int depth) {
    std::vector<std::string> expanded = {""};
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '}' || (c == ',' && depth > 0)) break;
      if (c == '{') {
        ASSIGN_OR_RETURN(const std::vector<std::string> choices, Braces(depth + 1));
        RETURN_IF_ERROR(Multiply(choices, expanded));
        continue;
      }
      ASSIGN_OR_RETURN(const std::string_view text, c == '[' ? Class() : Literal());
      for (std::string& each : expanded) each.append(text);
    }
    return expanded;
  }

  absl::StatusOr<std::vector<std::string>> Braces(int depth) {
    const size_t open = at_;
    if (depth > kBraceDepthMax) return Refuse(pattern_, at_, "braces are nested too deeply");
    std::vector<std::string> choices;
    do {
      ++at_;  // '{' or ','
      ASSIGN_OR_RETURN(const std::vector<std::string> more, Sequence(depth));
      choices.insert(choices.end(), more.begin(), more.end());
      if (choices.size() > kAlternativesMax) return TooMany(open);
    } while (at_ < pattern_.size() && pattern_[at_] == ',');
    if (at_ == pattern_.size()) return Refuse(pattern_, open, "`{` is not closed");
    ++at_;
    return choices;
  }

  absl::StatusOr<std::string_view> Literal() { return pattern_.substr(at_++, 1); }

  // A class is taken as it stands: braces and commas in it mean themselves.
  absl::StatusOr<std::string_view> Class() {
    const size_t open = at_++;
    if (at_ < pattern_.size() && (pattern_[at_] == '!' || pattern_[at_] == '^')) ++at_;
    if (at_ < pattern_.size() && pattern_[at_] == ']') ++at_;  // a leading ']' is a member
    while (at_ < pattern_.size() && pattern_[at_] != ']') {
      if (pattern_[at_] == '/') return Refuse(pattern_, at_, "`/` inside `[...]`");
      ++at_;
    }
    if (at_ == pattern_.size()) return Refuse(pattern_, open, "`[` is not closed");
    ++at_;
    return pattern_.substr(open, at_ - open);
  }

  absl::Status Multiply(const std::vector<std::string>& choices,
                        std::vector<std::string>& expanded) {
    if (expanded.size() * choices.size() > kAlternativesMax) return TooMany(at_ - 1);
    std::vector<std::string> product;
    for (const std::string& head : expanded) {
      for (const std::string& tail : choices) product.push_back(head + tail);
    }
    expanded = std::move(product);
    return absl::OkStatus();
  }

  absl::Status TooMany(size_t at) const {
    return Refuse(pattern_, at,
                  fmt::format("braces give more than {} alternatives", kAlternativesMax));
  }

  std::string_view pattern_;
  size_t at_ = 0;
};

std::vector<std::string_view> Split(std::string_view path) {
  std::vector<std::string_view> segments;
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    segments.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

absl::StatusOr<std::vector<std::string>> Segments(std::string_view pattern, std::string_view text) {
  std::vector<std::string> segments;
  for (const std::string_view segment : Split(text)) {
    const bool is_root = segments.empty() && text.starts_with('/');
    if (segment.empty() && !is_root) {
      return InvalidArgumentError(
          "glob `{}`: an empty segment (`//`, or `/` at the end) matches nothing", pattern);
    }
    if (segment == "." || segment == "..") {
      return InvalidArgumentError("glob `{}`: a segment `{}` matches nothing", pattern, segment);
    }
    if (segment.find("**") != std::string_view::npos && segment != "**") {
      return InvalidArgumentError("glob `{}`: `**` must stand alone between slashes, found `{}`",
                                  pattern, segment);
    }
    // Adjacent `**` mean the same as one.
    if (segment == "**" && !segments.empty() && segments.back() == "**") continue;
    segments.emplace_back(segment);
  }
  return segments;
}

// REQUIRES: pattern[at] == '[', closed. Moves `at` behind the class.
bool ClassMatches(std::string_view pattern, size_t& at, char32_t c) {
  ++at;
  const bool is_negated = pattern[at] == '!' || pattern[at] == '^';
  if (is_negated) ++at;
  bool is_member = false;
  bool is_first = true;
  while (is_first || pattern[at] != ']') {
    is_first = false;
    const char32_t low = NextCodePoint(pattern, at).value_or(0);
    char32_t high = low;
    if (pattern[at] == '-' && pattern[at + 1] != ']') {
      ++at;
      high = NextCodePoint(pattern, at).value_or(0);
    }
    is_member = is_member || (low <= c && c <= high);
  }
  ++at;
  return is_member != is_negated;
}

// Matches one '?', class or literal character. Moves both on when it matches.
bool OneMatches(std::string_view pattern, size_t& at, std::string_view name, size_t& name_at) {
  size_t after = at;
  size_t name_after = name_at;
  const char32_t c = NextCodePoint(name, name_after).value_or(0);
  if (pattern[at] == '[') {
    if (!ClassMatches(pattern, after, c)) return false;
  } else if (pattern[at] == '?') {
    ++after;
  } else if (NextCodePoint(pattern, after) != c) {
    return false;
  }
  at = after;
  name_at = name_after;
  return true;
}

// The classic walk with one point of return: after a later `*` an earlier one need never be tried
// again, so the cost is at most the product of the lengths.
bool SegmentMatches(std::string_view pattern, std::string_view name) {
  size_t at = 0;
  size_t name_at = 0;
  std::optional<size_t> star;
  size_t star_name = 0;
  while (name_at < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      star_name = name_at;
    } else if (at < pattern.size() && OneMatches(pattern, at, name, name_at)) {
      continue;
    } else if (star) {
      if (!NextCodePoint(name, star_name)) return false;
      at = *star;
      name_at = star_name;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

// The same walk, over segments, with `**` in the role of `*`. A trailing `**` needs at least one
// segment: a/** is what lies in a.
bool SegmentsMatch(const std::vector<std::string>& pattern,
                   std::span<const std::string_view> path) {
  size_t at = 0;
  size_t path_at = 0;
  std::optional<size_t> star;
  size_t star_path = 0;
  while (path_at < path.size()) {
    if (at < pattern.size() && pattern[at] == "**") {
      if (at + 1 == pattern.size()) return true;
      star = ++at;
      star_path = path_at;
    } else if (at < pattern.size() && SegmentMatches(pattern[at], path[path_at])) {
      ++at;
      ++path_at;
    } else if (star) {
      at = *star;
      path_at = ++star_path;
    } else {
      return false;
    }
  }
  return at == pattern.size();
}

bool HasWildcard(std::string_view segment) {
  return segment.find_first_of("*?[") != std::string_view::npos;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandBraces(std::string_view pattern) {
  return BraceExpander(pattern).Expand();
}

absl::StatusOr<Glob> Glob::Parse(std::string_view pattern) {
  if (pattern.empty()) return absl::InvalidArgumentError("an empty glob matches nothing");
  if (pattern.size() > kPatternBytesMax) {
    return InvalidArgumentError("a glob of {} bytes; the limit is {}", pattern.size(),
                                kPatternBytesMax);
  }
  for (size_t at = 0; at < pattern.size();) {
    const size_t begin = at;
    const std::optional<char32_t> c = NextCodePoint(pattern, at);
    if (!c) return Refuse(pattern, begin, "not valid UTF-8");
    if (*c < 0x20) return Refuse(pattern, begin, "a control character");
    if (*c == U'\\')
      return Refuse(pattern, begin, "`\\` escapes nothing here; write `[*]` for a star");
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> expanded, ExpandBraces(pattern));
  Glob glob;
  glob.pattern_ = pattern;
  for (const std::string& text : expanded) {
    ASSIGN_OR_RETURN(std::vector<std::string> segments, Segments(pattern, text));
    glob.alternatives_.push_back(std::move(segments));
  }
  return glob;
}

bool Glob::Matches(std::string_view path) const {
  const std::vector<std::string_view> segments = Split(path);
  return std::ranges::any_of(
      alternatives_, [&](const auto& alternative) { return SegmentsMatch(alternative, segments); });
}

std::string Glob::LiteralFolder() const {
  std::optional<std::vector<std::string>> common;
  for (const std::vector<std::string>& alternative : alternatives_) {
    const auto end = std::find_if(alternative.begin(), alternative.end() - 1, HasWildcard);
    std::vector<std::string> leading(alternative.begin(), end);
    if (!common) {
      common = std::move(leading);
      continue;
    }
    const auto [differs, unused] =
        std::mismatch(common->begin(), common->end(), leading.begin(), leading.end());
    common->erase(differs, common->end());
  }
  if (!common || common->empty()) return "";
  std::string folder;
  for (size_t i = 0; i < common->size(); ++i) {
    if (i > 0) folder.push_back('/');
    folder.append((*common)[i]);
  }
  return folder.empty() ? "/" : folder;  // the one segment "" is the root
}

}  // namespace galley::content
