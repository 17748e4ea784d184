#include "common/record/observed_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/base/errors.h"

namespace galley::record {
namespace {

constexpr size_t kShownMax = 100;

absl::Status Malformed(const Observed& observed, std::string_view expected) {
  const std::string_view value = observed.value;
  return InvalidArgumentError("{} has the value \"{}\"{}, expected {}", observed.what.ToString(),
                              value.substr(0, kShownMax), value.size() > kShownMax ? "..." : "",
                              expected);
}

// Names one a line, strictly ascending; the end of the last line may be there or not.
bool AreSortedLines(std::string_view text) {
  std::string_view last;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line <= last) return false;
    last = line;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
  return true;
}

bool IsSetOrUnset(std::string_view value) { return value == kUnset || value.starts_with('='); }

// The phrase for what a value of the kinds without a digest must be; empty when it is that.
std::string_view Expected(const Observed& observed) {
  const std::string& value = observed.value;
  switch (observed.what.kind) {
    case ObservationKind::kExists:
      if (value == kIsFile || value == kFolder || value == kAbsent) return "";
      return "file, folder or absent";
    case ObservationKind::kList:
      return value == kAbsent || AreSortedLines(value) ? "" : "absent or sorted names, one a line";
    case ObservationKind::kGlob:
      return AreSortedLines(value) ? "" : "sorted paths, one a line";
    case ObservationKind::kPlatform:
    case ObservationKind::kEnv:
      return IsSetOrUnset(value) ? "" : "unset or = and the value";
    case ObservationKind::kName:
      return value.starts_with('/') ? "" : "a virtual path";
    case ObservationKind::kFile:
    case ObservationKind::kCooked:
    case ObservationKind::kTool:
      return "";
  }
  return "an observation of a known kind";
}

bool HasDigest(ObservationKind kind) {
  return kind == ObservationKind::kFile || kind == ObservationKind::kCooked ||
         kind == ObservationKind::kTool;
}

}  // namespace

absl::StatusOr<std::optional<Digest>> CheckValue(const Observed& observed) {
  if (!HasDigest(observed.what.kind)) {
    const std::string_view expected = Expected(observed);
    if (!expected.empty()) return Malformed(observed, expected);
    return std::nullopt;
  }
  const bool is_file = observed.what.kind == ObservationKind::kFile;
  if (observed.value == kAbsent || (is_file && observed.value == kFolder)) return std::nullopt;
  const absl::StatusOr<Digest> digest = Digest::Parse(observed.value);
  if (digest.ok()) return *digest;
  return Malformed(observed, is_file ? "a digest, absent or folder" : "a digest or absent");
}

bool IsStrictlySorted(std::span<const Observed> observed) {
  return std::ranges::adjacent_find(observed, [](const Observed& a, const Observed& b) {
           return !(a.what < b.what);
         }) == observed.end();
}

}  // namespace galley::record
