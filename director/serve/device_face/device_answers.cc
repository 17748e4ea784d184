#include "director/serve/device_face/device_answers.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "common/base/blob.h"
#include "common/base/status_macros.h"
#include "director/serve/device_face/content_type.h"
#include "director/serve/device_face/device_json.h"
#include "director/serve/http/http_problem.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kRetryAfter = absl::Seconds(1);

int StatusOf(RefusalKind kind) {
  switch (kind) {
    case RefusalKind::kInvalid:
      return 400;
    case RefusalKind::kAbsent:
      return 404;
    case RefusalKind::kSuperseded:
      return 409;
    case RefusalKind::kGone:
      return 410;
    case RefusalKind::kFailed:
      return 422;
    case RefusalKind::kInfrastructure:
      return 500;
    case RefusalKind::kNotReady:
      return 503;
    case RefusalKind::kDeadline:
      return 504;
  }
  return 500;
}

HttpCaching CachingOf(const DeviceFile& file) {
  if (file.last_good) return HttpCaching::kNoStore;
  switch (file.caching) {
    case FileCaching::kNoCache:
      return HttpCaching::kNoCache;
    case FileCaching::kImmutable:
      return HttpCaching::kImmutable;
  }
  return HttpCaching::kNoStore;
}

// Source: RFC 9530, 2 and 3; RFC 8941, 3.3.5.
std::string DigestField(const Digest& digest) {
  const std::string_view hash = digest.hash();
  return fmt::format("sha-256=:{}:", absl::Base64Escape({hash.data(), hash.size()}));
}

HttpAnswer JsonAnswer(const std::string& text) {
  return {.content_type = "application/json", .is_codable = true, .body = MakeBlob(text + "\n")};
}

}  // namespace

HttpAnswer FileAnswer(const DeviceFile& file, std::string_view path, HttpBody body) {
  const ContentType type = ContentTypeOf(path);
  HttpAnswer answer{.content_type = std::string(type.name),
                    .caching = CachingOf(file),
                    .is_codable = type.is_codable,
                    .digest_field = DigestField(file.digest),
                    .body = std::move(body)};
  if (!file.tag.empty() && !file.last_good) answer.tag = http::EntityTag{.opaque = file.tag};
  // Foreign bytes that a browser shows run nothing, and belong to no page of ours.
  answer.fields.push_back({"Content-Security-Policy", "sandbox"});
  if (file.root) answer.fields.push_back({"Galley-Root", file.root->ToString()});
  if (file.last_good) answer.fields.push_back({"Galley-Last-Good", file.last_good->ToString()});
  return answer;
}

HttpAnswer RefusalAnswer(const DeviceRefusal& refusal) {
  HttpProblem problem{.status = StatusOf(refusal.kind), .text = refusal.text};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) problem.members.push_back({name, value});
  };
  add("package", refusal.package);
  add("log", refusal.log);
  add("cause", refusal.cause);
  if (refusal.root) add("root", refusal.root->ToString());
  if (refusal.kind == RefusalKind::kNotReady)
    problem.retry_after = refusal.retry_after.value_or(kRetryAfter);
  return MakeProblem(problem);
}

bool AreLost(const absl::Status& why) { return absl::IsNotFound(why) || absl::IsDataLoss(why); }

HttpAnswer UnreadAnswer(const Digest& digest, const absl::Status& why, LostBytes if_lost) {
  if (!AreLost(why)) {
    return MakeProblem({.status = 500,
                        .text = fmt::format("The store cannot read blob {}: {}.", digest.ToString(),
                                            MessageOf(why))});
  }
  const std::string text = fmt::format("The store has no blob {}.", digest.ToString());
  switch (if_lost) {
    case LostBytes::kAbsent:
      return MakeProblem({.status = 404, .text = text});
    case LostBytes::kGone:
      return MakeProblem({.status = 410, .text = text});
    case LostBytes::kNotReady:
      return MakeProblem({.status = 503,
                          .text = text + " The file is made again when it is asked for again.",
                          .retry_after = kRetryAfter});
  }
  return MakeProblem({.status = 500, .text = text});
}

HttpAnswer WrongRequestAnswer(const absl::Status& why) {
  return MakeProblem({.status = absl::IsNotFound(why) ? 404 : 400, .text = MessageOf(why)});
}

HttpAnswer WrongMethodAnswer(std::string_view methods) {
  HttpAnswer answer = MakeProblem(
      {.status = 405, .text = fmt::format("This path has the methods {} only.", methods)});
  answer.fields.push_back({"Allow", std::string(methods)});
  return answer;
}

HttpAnswer WrongMediaAnswer() {
  return MakeProblem(
      {.status = 415,
       .text = "The body is not declared as JSON: expected \"Content-Type: application/json\"."});
}

HttpAnswer SessionAnswerOf(const DeviceSessionState& session, bool is_new) {
  HttpAnswer answer = JsonAnswer(SessionJson(session));
  if (!is_new) return answer;
  answer.status = 201;
  answer.fields.push_back({"Location", "/v1/sessions/" + session.id});
  return answer;
}

HttpAnswer DifferenceAnswerOf(const RootDifference& difference) {
  HttpAnswer answer = JsonAnswer(DifferenceJson(difference));
  answer.caching = HttpCaching::kImmutable;
  return answer;
}

HttpAnswer RecordAnswerOf(const DeviceRecord& record) {
  const std::string text = RecordJson(record);
  HttpAnswer answer = JsonAnswer(text);
  answer.caching = HttpCaching::kNoCache;
  answer.tag = http::EntityTag{.opaque = Digest::Of(text).hex()};
  return answer;
}

}  // namespace galley::director
