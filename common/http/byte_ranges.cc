#include "common/http/byte_ranges.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/parse_whole.h"
#include "common/http/field_syntax.h"
#include "fmt/format.h"

namespace galley::http {
namespace {

// An element of the field: "0-4", "90-" or "-10".
struct RangeSpec {
  std::optional<uint64_t> first;
  std::optional<uint64_t> last;  // without a first: how many bytes from the end
};

// nullopt: `text` is not digits only.
std::optional<uint64_t> ParsePosition(std::string_view text) {
  if (!IsDigits(text)) return std::nullopt;
  return ParseWhole<uint64_t>(text).value_or(UINT64_MAX);
}

// nullopt: `text` is malformed.
std::optional<RangeSpec> ParseRangeSpec(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view first = text.substr(0, dash), last = text.substr(dash + 1);
  const RangeSpec spec{.first = ParsePosition(first), .last = ParsePosition(last)};
  const bool is_malformed = (!spec.first && !first.empty()) || (!spec.last && !last.empty());
  const bool is_empty = !spec.first && !spec.last;
  const bool descends = spec.first && spec.last && *spec.last < *spec.first;
  return is_malformed || is_empty || descends ? std::nullopt : std::optional(spec);
}

// nullopt: the value is of another unit, or malformed.
std::optional<std::vector<RangeSpec>> ParseRangeSpecs(std::string_view value) {
  value = TrimSpace(value);
  const size_t equals = value.find('=');
  if (equals == std::string_view::npos || !EqualsIgnoringCase(value.substr(0, equals), "bytes"))
    return std::nullopt;
  std::vector<RangeSpec> specs;
  for (const std::string_view element : SplitList(value.substr(equals + 1))) {
    const std::optional<RangeSpec> spec = ParseRangeSpec(element);
    if (!spec) return std::nullopt;
    specs.push_back(*spec);
  }
  return specs.empty() ? std::nullopt : std::optional(std::move(specs));
}

// nullopt: no byte is in it. REQUIRES: size > 0.
std::optional<ByteRange> Resolve(const RangeSpec& spec, uint64_t size) {
  if (!spec.first) {
    if (*spec.last == 0) return std::nullopt;
    return ByteRange{.first = size - std::min(*spec.last, size), .last = size - 1};
  }
  if (*spec.first >= size) return std::nullopt;
  return ByteRange{.first = *spec.first, .last = std::min(spec.last.value_or(size - 1), size - 1)};
}

bool AsksForLastBytes(const RangeSpec& spec) { return !spec.first && *spec.last > 0; }

// Whether `b`, which follows `a`, shares a byte with it or lies before it.
bool IsOutOfOrder(const ByteRange& a, const ByteRange& b) { return b.first <= a.last; }

}  // namespace

RangeAnswer SelectRanges(std::string_view value, uint64_t size) {
  const std::optional<std::vector<RangeSpec>> specs = ParseRangeSpecs(value);
  if (!specs || specs->size() > kRangesMax) return WholeBody{};
  if (size == 0 && std::ranges::any_of(*specs, AsksForLastBytes)) return WholeBody{};
  PartialBody body;
  for (const RangeSpec& spec : *specs) {
    const std::optional<ByteRange> range = size > 0 ? Resolve(spec, size) : std::nullopt;
    if (range) body.ranges.push_back(*range);
  }
  if (body.ranges.empty()) return Unsatisfiable{};
  if (std::ranges::adjacent_find(body.ranges, IsOutOfOrder) != body.ranges.end())
    return WholeBody{};
  return body;
}

std::string ContentRange(const ByteRange& range, uint64_t size) {
  return fmt::format("bytes {}-{}/{}", range.first, range.last, size);
}

std::string UnsatisfiedContentRange(uint64_t size) { return fmt::format("bytes */{}", size); }

Multipart FrameParts(const std::vector<ByteRange>& ranges, uint64_t size,
                     std::string_view content_type, std::string_view boundary) {
  Multipart parts;
  for (const ByteRange& range : ranges) {
    parts.heads.push_back(fmt::format("{}--{}\r\nContent-Type: {}\r\nContent-Range: {}\r\n\r\n",
                                      parts.heads.empty() ? "" : "\r\n", boundary, content_type,
                                      ContentRange(range, size)));
    parts.size_bytes += parts.heads.back().size() + (range.last - range.first + 1);
  }
  parts.end = fmt::format("\r\n--{}--\r\n", boundary);
  parts.size_bytes += parts.end.size();
  return parts;
}

}  // namespace galley::http
