#include "director/serve/http/response_plan.h"

#include <utility>

#include "common/base/status_macros.h"
#include "common/http/entity_tag.h"
#include "common/http/preconditions.h"
#include "director/serve/http/http_problem.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using http::ContentCoding;

constexpr size_t kAddedFieldsMax = 8;  // to those of an answer; more would be slower, not wrong

bool IsStream(const HttpBody& body) {
  return std::holds_alternative<std::shared_ptr<HttpEventStream>>(body);
}

// Whether conditions, ranges and codings apply at all.
bool IsConditional(const RequestTerms& terms, const HttpAnswer& answer) {
  return terms.reads && answer.status == 200 && !IsStream(answer.body);
}

bool IsOfCodableSize(uint64_t size_bytes) {
  return size_bytes >= kCodedBodyBytesMin && size_bytes <= kCodedBodyBytesMax;
}

// Whether other requests for the same may get a coding, which is what Vary tells caches.
bool MayBeCoded(const HttpAnswer& answer) {
  return answer.is_codable && answer.status == 200 && IsOfCodableSize(SizeOf(answer.body));
}

http::EntityTag TagOf(const http::EntityTag& tag, ContentCoding coding) {
  if (coding == ContentCoding::kIdentity) return tag;
  return {.is_weak = true, .opaque = fmt::format("{}-{}", tag.opaque, http::NameOf(coding))};
}

// The coding of a whole body, if nothing but Accept-Encoding is asked.
ContentCoding AcceptedCoding(const RequestTerms& terms, const HttpAnswer& answer) {
  if (!MayBeCoded(answer)) return ContentCoding::kIdentity;
  return http::ChooseContentCoding(terms.accept_encoding);
}

// Judged: the outcome of the conditions, and the coding whose tag they are about.
struct Judged {
  http::Evaluation evaluation;
  ContentCoding coding = ContentCoding::kIdentity;
};

Judged Judge(const RequestTerms& terms, const HttpAnswer& answer) {
  Judged judged{.evaluation = http::Evaluate({.if_match = terms.if_match,
                                              .if_none_match = terms.if_none_match,
                                              .if_range = terms.if_range},
                                             terms.is_head, answer.tag)};
  const ContentCoding coding = AcceptedCoding(terms, answer);
  if (judged.evaluation.verdict != http::Verdict::kSend || coding == ContentCoding::kIdentity ||
      !answer.tag) {
    return judged;
  }
  const http::Evaluation coded = http::Evaluate({.if_none_match = terms.if_none_match},
                                                terms.is_head, TagOf(*answer.tag, coding));
  return coded.verdict == http::Verdict::kNotModified ? Judged{coded, coding} : judged;
}

std::string_view CacheControlOf(const HttpAnswer& answer) {
  if (answer.status / 100 != 2) return "no-store";
  switch (answer.caching) {
    case HttpCaching::kNoStore:
      return "no-store";
    case HttpCaching::kNoCache:
      return "no-cache";
    case HttpCaching::kImmutable:
      return "public, max-age=31536000, immutable";
  }
  return "no-store";
}

// The fields that 200, 206 and 304 have in common.
std::vector<HttpField> CommonFields(const HttpAnswer& answer, ContentCoding coding) {
  std::vector<HttpField> fields;
  fields.reserve(answer.fields.size() + kAddedFieldsMax);
  fields = answer.fields;
  fields.push_back({"Cache-Control", std::string(CacheControlOf(answer))});
  if (answer.tag && answer.status / 100 == 2)
    fields.push_back({"ETag", http::TextOf(TagOf(*answer.tag, coding))});
  if (MayBeCoded(answer)) fields.push_back({"Vary", "Accept-Encoding"});
  fields.push_back({"X-Content-Type-Options", "nosniff"});
  return fields;
}

// Repr-Digest of a 200 and a 206. A digest is of the bytes in their coding, and only that of the
// bytes without one is known (RFC 9530, 3).
void AddDigest(const HttpAnswer& answer, ContentCoding coding, std::vector<HttpField>& fields) {
  if (coding == ContentCoding::kIdentity && !answer.digest_field.empty())
    fields.push_back({"Repr-Digest", answer.digest_field});
}

ResponsePlan PlanWhole(const HttpAnswer& answer, const std::optional<CodedSize>& coded) {
  const ContentCoding coding = coded ? coded->coding : ContentCoding::kIdentity;
  ResponsePlan plan{.status = answer.status,
                    .fields = CommonFields(answer, coding),
                    .is_stream = IsStream(answer.body)};
  AddDigest(answer, coding, plan.fields);
  if (!answer.content_type.empty()) plan.fields.push_back({"Content-Type", answer.content_type});
  if (coded) plan.fields.push_back({"Content-Encoding", std::string(http::NameOf(coding))});
  if (plan.is_stream) {
    // A proxy in front must not collect events until it has enough of them.
    plan.fields.push_back({"X-Accel-Buffering", "no"});
    return plan;
  }
  if (answer.status == 204) return plan;  // has neither a body nor a length
  const uint64_t size = coded ? coded->size_bytes : SizeOf(answer.body);
  plan.content_length = size;
  if (size > 0) plan.parts.emplace_back(http::ByteRange{.first = 0, .last = size - 1});
  return plan;
}

ResponsePlan PlanNotModified(const HttpAnswer& answer, ContentCoding coding) {
  return {.status = 304, .fields = CommonFields(answer, coding)};
}

// REQUIRES: the problem's body is a Blob.
ResponsePlan PlanProblem(const HttpAnswer& problem) {
  ResponsePlan plan = PlanWhole(problem, std::nullopt);
  plan.parts = {*std::get<Blob>(problem.body)};
  return plan;
}

ResponsePlan PlanPreconditionFailed() {
  return PlanProblem(
      MakeProblem({.status = 412, .text = "The file has another tag than those in If-Match."}));
}

ResponsePlan PlanUnsatisfiable(uint64_t size) {
  HttpAnswer problem = MakeProblem(
      {.status = 416,
       .text = fmt::format("The file has {} bytes, and none of them is in the Range.", size)});
  problem.fields.push_back({"Content-Range", http::UnsatisfiedContentRange(size)});
  return PlanProblem(problem);
}

ResponsePlan PlanPartial(const HttpAnswer& answer, const std::vector<http::ByteRange>& ranges,
                         std::string_view boundary) {
  const uint64_t size = SizeOf(answer.body);
  ResponsePlan plan{.status = 206, .fields = CommonFields(answer, ContentCoding::kIdentity)};
  AddDigest(answer, ContentCoding::kIdentity, plan.fields);
  if (ranges.size() == 1) {
    plan.fields.push_back({"Content-Range", http::ContentRange(ranges[0], size)});
    if (!answer.content_type.empty()) plan.fields.push_back({"Content-Type", answer.content_type});
    plan.content_length = ranges[0].last - ranges[0].first + 1;
    plan.parts.emplace_back(ranges[0]);
    return plan;
  }
  http::Multipart framed = http::FrameParts(
      ranges, size, answer.content_type.empty() ? "application/octet-stream" : answer.content_type,
      boundary);
  plan.fields.push_back(
      {"Content-Type", fmt::format("multipart/byteranges; boundary={}", boundary)});
  plan.content_length = framed.size_bytes;
  for (size_t i = 0; i < ranges.size(); ++i) {
    plan.parts.emplace_back(std::move(framed.heads[i]));
    plan.parts.emplace_back(ranges[i]);
  }
  plan.parts.emplace_back(std::move(framed.end));
  return plan;
}

}  // namespace

RequestTerms TermsOf(const HttpRequest& request) {
  return {.reads = request.reads(),
          .is_head = request.method == HttpMethod::kHead,
          .if_match = request.ValueOf("if-match"),
          .if_none_match = request.ValueOf("if-none-match"),
          .if_range = request.ValueOf("if-range"),
          .range = request.ValueOf("range"),
          .accept_encoding = request.ValueOf("accept-encoding")};
}

uint64_t SizeOf(const HttpBody& body) {
  if (const auto* blob = std::get_if<Blob>(&body)) return *blob == nullptr ? 0 : (*blob)->size();
  if (const auto* source = std::get_if<std::shared_ptr<HttpBlobSource>>(&body))
    return (*source)->size_bytes();
  return 0;
}

ContentCoding WantedCoding(const RequestTerms& terms, const HttpAnswer& answer) {
  if (!IsConditional(terms, answer) || terms.range || terms.if_match)
    return ContentCoding::kIdentity;
  if (Judge(terms, answer).evaluation.verdict != http::Verdict::kSend)
    return ContentCoding::kIdentity;
  return AcceptedCoding(terms, answer);
}

ResponsePlan PlanResponse(const RequestTerms& terms, const HttpAnswer& answer,
                          const std::optional<CodedSize>& coded, std::string_view boundary) {
  GALLEY_CHECK(answer.status >= 200 && answer.status <= 599);
  GALLEY_CHECK(!answer.tag || !answer.tag->is_weak);
  if (!IsConditional(terms, answer)) return PlanWhole(answer, std::nullopt);
  const Judged judged = Judge(terms, answer);
  switch (judged.evaluation.verdict) {
    case http::Verdict::kNotModified:
      return PlanNotModified(answer, judged.coding);
    case http::Verdict::kPreconditionFailed:
      return PlanPreconditionFailed();
    case http::Verdict::kSend:
      break;
  }
  if (coded || !terms.range || !judged.evaluation.ranges_apply) return PlanWhole(answer, coded);
  const uint64_t size = SizeOf(answer.body);
  const http::RangeAnswer ranges = http::SelectRanges(*terms.range, size);
  if (std::holds_alternative<http::Unsatisfiable>(ranges)) return PlanUnsatisfiable(size);
  const auto* const partial = std::get_if<http::PartialBody>(&ranges);
  return partial == nullptr ? PlanWhole(answer, coded)
                            : PlanPartial(answer, partial->ranges, boundary);
}

}  // namespace galley::director
