// The head of a request as text: each part of it is read without a crash, and what is read keeps
// the promises of the headers. Every value of a field goes to every parser of values.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/http/byte_ranges.h"
#include "common/http/content_coding.h"
#include "common/http/entity_tag.h"
#include "common/http/preconditions.h"
#include "common/http/request_checks.h"
#include "common/http/request_target.h"
#include "common/http/testing/head_from_text.h"

namespace galley::http {
namespace {

bool IsPlain(std::string_view segment) {
  const auto is_bad = [](char c) {
    return c == '/' || c == '\\' || (c >= 0 && c < ' ') || c == '\x7f';
  };
  return !segment.empty() && segment != "." && segment != ".." && IsUtf8(segment) &&
         std::ranges::none_of(segment, is_bad);
}

// Segments are plain, and the same after they were escaped and decoded again.
void FuzzTarget(std::string_view target) {
  const auto parsed = ParseRequestTarget(target);
  if (!parsed.ok()) {
    GALLEY_CHECK(parsed.status().code() == absl::StatusCode::kInvalidArgument);
    GALLEY_CHECK(!parsed.status().message().empty());
    return;
  }
  GALLEY_CHECK(target.size() <= kTargetBytesMax);
  std::string escaped;
  for (const std::string& segment : parsed->segments) {
    GALLEY_CHECK(IsPlain(segment));
    escaped += '/';
    for (const char c : segment) escaped += fmt::format("%{:02x}", static_cast<uint8_t>(c));
  }
  if (escaped.size() > kTargetBytesMax) return;
  const auto again = ParseRequestTarget(escaped.empty() ? "/" : escaped);
  GALLEY_CHECK(again.ok() && again->segments == parsed->segments && !again->query);
}

int64_t CountFields(const RequestHead& head, std::string_view name) {
  return std::ranges::count_if(
      head.fields, [&](const Field& field) { return EqualsIgnoringCase(field.name, name); });
}

// An answered head has one meaning; a refused one has a status of ours and a sentence.
void FuzzChecks(const RequestHead& head) {
  const RequestRules rules{.allowed_hosts = {*ParseHost("localhost"), *ParseHost("cook:8080")}};
  if (const auto refusal = CheckRequest(head, rules)) {
    const std::array<int, 7> statuses = {400, 413, 414, 417, 421, 501, 505};
    GALLEY_CHECK(std::ranges::find(statuses, refusal->status) != statuses.end());
    GALLEY_CHECK(refusal->text.ends_with('.'));
    return;
  }
  GALLEY_CHECK(head.version == 10 || head.version == 11);
  GALLEY_CHECK(CountFields(head, "host") == 1);
  GALLEY_CHECK(CountFields(head, "content-length") + CountFields(head, "transfer-encoding") <= 1);
  GALLEY_CHECK(head.version == 10 || CountFields(head, "expect") == 0);
  for (const Field& field : head.fields) {
    GALLEY_CHECK(IsToken(field.name));
    GALLEY_CHECK(field.value.find_first_of(std::string_view("\0\r\n", 3)) ==
                 std::string_view::npos);
  }
}

void FuzzHeadBytes(std::string_view bytes) {
  if (CheckHeadBytes(bytes)) return;
  for (const std::string_view folded : {"\n ", "\n\t", "\r\r", "\n\n"})
    GALLEY_CHECK(bytes.find(folded) == std::string_view::npos);
  GALLEY_CHECK(std::ranges::count(bytes, '\r') == std::ranges::count(bytes, '\n'));
}

// A host is the same after it was written and read again.
void FuzzHost(std::string_view value) {
  const std::optional<Host> host = ParseHost(value);
  if (!host) return;
  const auto again =
      ParseHost(host->port ? fmt::format("{}:{}", host->name, *host->port) : host->name);
  GALLEY_CHECK(again && again->name == host->name && again->port == host->port);
  const std::string_view rest = value.substr(host->name.size());
  GALLEY_CHECK(EqualsIgnoringCase(value.substr(0, host->name.size()), host->name));
  GALLEY_CHECK(rest.empty() || rest.starts_with(':'));
}

// Tags are the same after they were written and read again; strong equality is the narrower one.
void FuzzTags(std::string_view value) {
  const std::optional<EntityTags> parsed = ParseEntityTags(value);
  if (!parsed) return;
  GALLEY_CHECK(!parsed->is_any || parsed->tags.empty());
  std::string written;
  for (const EntityTag& tag : parsed->tags) {
    written += TextOf(tag) + ", ";
    GALLEY_CHECK(ParseEntityTag(TextOf(tag)) == tag);
    GALLEY_CHECK(MatchWeakly(tag, tag) && MatchStrongly(tag, tag) == !tag.is_weak);
    GALLEY_CHECK(!MatchStrongly(tag, parsed->tags[0]) || MatchWeakly(tag, parsed->tags[0]));
  }
  if (parsed->is_any) return;
  const std::optional<EntityTags> again = ParseEntityTags(written);
  GALLEY_CHECK(again && again->tags == parsed->tags);
}

void CheckParts(const PartialBody& body, uint64_t size) {
  GALLEY_CHECK(!body.ranges.empty() && body.ranges.size() <= kRangesMax);
  uint64_t bytes = 0;
  for (size_t i = 0; i < body.ranges.size(); ++i) {
    const ByteRange& range = body.ranges[i];
    GALLEY_CHECK(range.first <= range.last && range.last < size);
    GALLEY_CHECK(i == 0 || body.ranges[i - 1].last < range.first);
    bytes += range.last - range.first + 1;
  }
  if (size >= uint64_t{1} << 63) return;
  const Multipart parts = FrameParts(body.ranges, size, "image/ktx2", "boundary");
  GALLEY_CHECK(parts.heads.size() == body.ranges.size());
  for (const std::string& head : parts.heads) bytes += head.size();
  GALLEY_CHECK(parts.size_bytes == bytes + parts.end.size());
}

// Ranges lie within the body and ascend, and each selected range asks for itself.
void FuzzRanges(std::string_view value) {
  for (const uint64_t size :
       {uint64_t{0}, uint64_t{1}, uint64_t{100}, uint64_t{1} << 40, uint64_t{UINT64_MAX}}) {
    const RangeAnswer answer = SelectRanges(value, size);
    const auto* body = std::get_if<PartialBody>(&answer);
    if (body == nullptr) continue;
    CheckParts(*body, size);
    std::string again = "bytes=";
    for (const ByteRange& range : body->ranges)
      again += fmt::format("{}-{},", range.first, range.last);
    GALLEY_CHECK(SelectRanges(again, size) == answer);
  }
}

// Only a condition that is there can fail, and ranges go with the bytes.
void FuzzPreconditions(std::string_view a, std::string_view b) {
  const Conditions all[] = {{.if_match = a, .if_none_match = b},
                            {.if_none_match = a, .if_range = b},
                            {.if_match = b, .if_range = a}};
  for (const Conditions& conditions : all) {
    for (const bool is_weak : {false, true}) {
      for (const bool is_head : {false, true}) {
        const Evaluation found =
            Evaluate(conditions, is_head, EntityTag{.is_weak = is_weak, .opaque = "now"});
        if (found.verdict == Verdict::kPreconditionFailed) GALLEY_CHECK(conditions.if_match);
        if (found.verdict == Verdict::kNotModified) GALLEY_CHECK(conditions.if_none_match);
        if (!found.ranges_apply) continue;
        GALLEY_CHECK(found.verdict == Verdict::kSend && !is_head);
        GALLEY_CHECK(!conditions.if_range || !is_weak);
      }
    }
  }
}

// A refused coding is never chosen.
void FuzzCoding(std::string_view value) {
  const std::string text(value);
  ChooseContentCoding(text);
  GALLEY_CHECK(ChooseContentCoding(text + ", zstd;q=0") != ContentCoding::kZstd);
  GALLEY_CHECK(ChooseContentCoding(text + ", gzip;q=0") != ContentCoding::kGzip);
  GALLEY_CHECK(ChooseContentCoding(text + ", zstd;q=0, gzip;q=0") == ContentCoding::kIdentity);
  if (text.find_first_of("sSgG*") != std::string::npos) return;
  GALLEY_CHECK(ChooseContentCoding(text) == ContentCoding::kIdentity);
}

}  // namespace
}  // namespace galley::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::http;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FuzzHeadBytes(bytes);
  const RequestHead head = HeadFromText(bytes);
  FuzzChecks(head);
  FuzzTarget(head.target);
  std::string_view before;
  for (const Field& field : head.fields) {
    FuzzHost(field.value);
    FuzzTags(field.value);
    FuzzRanges(field.value);
    FuzzPreconditions(before, field.value);
    FuzzCoding(field.value);
    GALLEY_CHECK(JoinedValue(head.fields, field.name));
    before = field.value;
  }
  return 0;
}
