#include "director/serve/device_face/device_face.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "common/base/status_macros.h"
#include "common/http/field_syntax.h"
#include "director/serve/device_face/change_stream.h"
#include "director/serve/device_face/device_answers.h"
#include "director/serve/device_face/device_json.h"
#include "director/serve/device_face/device_target.h"
#include "director/serve/device_face/request_wishes.h"

namespace galley::director {
namespace {

// LateBlob: a body that is opened when its first byte is read: of HEAD, and of files that the
// client is told it has, nobody reads one.
class LateBlob final : public HttpBlobSource {
 public:
  LateBlob(std::shared_ptr<VerifiedBlobs> blobs, const Digest& digest)
      : blobs_(std::move(blobs)), digest_(digest) {}

  uint64_t size_bytes() const override { return digest_.size_bytes(); }
  absl::Status ReadAt(uint64_t offset, std::span<char> bytes) override {
    ASSIGN_OR_RETURN(const HttpBody body, blobs_->OpenNow(digest_));
    if (const auto* blob = std::get_if<Blob>(&body)) {
      (*blob)->copy(bytes.data(), bytes.size(), offset);
      return absl::OkStatus();
    }
    return std::get<std::shared_ptr<HttpBlobSource>>(body)->ReadAt(offset, bytes);
  }

 private:
  const std::shared_ptr<VerifiedBlobs> blobs_;
  const Digest digest_;
};

// FileReply: all that is needed to make an answer of a DeviceAnswer, on whichever thread.
struct FileReply {
  DeviceCalls& calls;
  HttpResponder responder;
  std::shared_ptr<VerifiedBlobs> blobs;
  std::string path;
  LostBytes if_lost = LostBytes::kNotReady;
  bool is_head = false;
};

void SendFile(const FileReply& reply, const DeviceFile& file) {
  if (file.is_known || reply.is_head) {
    const auto late = std::make_shared<LateBlob>(reply.blobs, file.digest);
    return reply.responder.Answer(
        FileAnswer(file, reply.path, std::shared_ptr<HttpBlobSource>(late)));
  }
  // Most answers are of a few small files, and need no callback.
  if (Blob bytes = reply.blobs->FindInMemory(file.digest); bytes != nullptr)
    return reply.responder.Answer(FileAnswer(file, reply.path, std::move(bytes)));
  // The callback has no reference to the blobs: it may be dropped by their own threads.
  reply.blobs->Open(file.digest,
                    [&calls = reply.calls, responder = reply.responder, path = reply.path,
                     if_lost = reply.if_lost, file](absl::StatusOr<HttpBody> body) {
                      if (body.ok())
                        return responder.Answer(FileAnswer(file, path, *std::move(body)));
                      if (AreLost(body.status())) calls.NoteLost(file.digest);
                      responder.Answer(UnreadAnswer(file.digest, body.status(), if_lost));
                    });
}

void SendAnswer(const FileReply& reply, const DeviceAnswer& answer) {
  if (const auto* refusal = std::get_if<DeviceRefusal>(&answer))
    return reply.responder.Answer(RefusalAnswer(*refusal));
  SendFile(reply, std::get<DeviceFile>(answer));
}

// The call holds the responder, so the hook does not hold the call, which is the service's.
void CancelIfLeft(const HttpResponder& responder, const DeviceCallPtr& call) {
  responder.OnLeave([waiting = std::weak_ptr<DeviceCall>(call)] {
    if (const DeviceCallPtr left = waiting.lock()) left->Cancel();
  });
}

bool IsJson(const HttpRequest& request) {
  const std::string type = request.ValueOf("content-type").value_or("");
  const std::string_view name = std::string_view(type).substr(0, type.find(';'));
  return http::EqualsIgnoringCase(http::TrimSpace(name), "application/json");
}

// RequestAnswerer: answers one request, by its target.
class RequestAnswerer {
 public:
  RequestAnswerer(DeviceCalls& calls, const std::shared_ptr<VerifiedBlobs>& blobs,
                  const HttpRequest& request, const HttpResponder& responder)
      : calls_(calls), blobs_(blobs), request_(request), responder_(responder) {}

  void operator()(const PresentTarget& target) {
    Await(calls_.ReadPresent({.platform = target.platform,
                              .path = target.path,
                              .known_tags = KnownTags(),
                              .wait_max = Wait()},
                             OnFile(target.path, LostBytes::kNotReady)));
  }
  void operator()(const SessionFileTarget& target) {
    Await(calls_.ReadInSession(
        {.session = target.id, .path = target.path, .known_tags = KnownTags(), .wait_max = Wait()},
        OnFile(target.path, LostBytes::kNotReady)));
  }
  void operator()(const RootTarget& target) {
    Await(calls_.ReadInRoot(target.root, target.path, OnFile(target.path, LostBytes::kGone)));
  }
  void operator()(const DifferenceTarget& target) {
    Await(calls_.CompareRoots(
        target.since, target.root, [responder = responder_](const DifferenceAnswer& answer) {
          const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
          responder.Answer(refusal != nullptr
                               ? RefusalAnswer(*refusal)
                               : DifferenceAnswerOf(std::get<RootDifference>(answer)));
        }));
  }
  void operator()(const BlobTarget& target) {
    Await(calls_.ReadBlob(target.digest, OnFile("", LostBytes::kAbsent)));
  }
  void operator()(const OutputTarget& target) {
    Await(calls_.ReadRecordOutput(target.action_key, target.suffix, Wait(),
                                  OnFile(target.suffix, LostBytes::kNotReady)));
  }
  void operator()(const RecordTarget& target) {
    Await(
        calls_.ReadRecord(target.action_key, [responder = responder_](const RecordAnswer& answer) {
          const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
          responder.Answer(refusal != nullptr ? RefusalAnswer(*refusal)
                                              : RecordAnswerOf(std::get<DeviceRecord>(answer)));
        }));
  }
  void operator()(const SessionsTarget&) {
    if (!IsJson(request_)) return responder_.Answer(WrongMediaAnswer());
    absl::StatusOr<SessionAsk> ask = ReadSessionAsk(request_.body);
    if (!ask.ok()) return responder_.Answer(WrongRequestAnswer(ask.status()));
    Await(calls_.OpenSession(*std::move(ask), Wait(),
                             [responder = responder_](const SessionAnswer& answer) {
                               SendSession(responder, answer, /*is_new=*/true);
                             }));
  }
  void operator()(const SessionTarget& target) {
    if (request_.method != HttpMethod::kDelete)
      return SendSession(responder_, calls_.RenewSession(target.id), /*is_new=*/false);
    const std::optional<DeviceRefusal> refusal = calls_.CloseSession(target.id);
    if (refusal) return SendRefusal(*refusal);
    responder_.Answer({.status = 204});
  }
  void operator()(const ChangesTarget& target) {
    EventsAnswer answer = calls_.ReadChanges(target.id, request_.ValueOf("last-event-id"));
    if (const auto* refusal = std::get_if<DeviceRefusal>(&answer)) return SendRefusal(*refusal);
    auto events = std::get<std::unique_ptr<DeviceEvents>>(std::move(answer));
    responder_.Answer({.content_type = "text/event-stream",
                       .body = std::shared_ptr<HttpEventStream>(
                           std::make_shared<ChangeStream>(std::move(events)))});
  }

 private:
  DeviceCalls::OnFile OnFile(const std::string& path, LostBytes if_lost) const {
    return [reply = FileReply{.calls = calls_,
                              .responder = responder_,
                              .blobs = blobs_,
                              .path = path,
                              .if_lost = if_lost,
                              .is_head = request_.method == HttpMethod::kHead}](
               const DeviceAnswer& answer) { SendAnswer(reply, answer); };
  }
  static void SendSession(const HttpResponder& responder, const SessionAnswer& answer,
                          bool is_new) {
    const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
    responder.Answer(refusal != nullptr
                         ? RefusalAnswer(*refusal)
                         : SessionAnswerOf(std::get<DeviceSessionState>(answer), is_new));
  }
  void SendRefusal(const DeviceRefusal& refusal) const {
    responder_.Answer(RefusalAnswer(refusal));
  }
  void Await(const DeviceCallPtr& call) const { CancelIfLeft(responder_, call); }

  absl::Duration Wait() const { return WaitOf(request_.ValueOf("prefer")); }
  std::vector<std::string> KnownTags() const {
    const std::optional<std::string> tags = request_.ValueOf("if-none-match");
    const std::optional<std::string> codings = request_.ValueOf("accept-encoding");
    return KnownTagsOf(tags, codings);
  }

  DeviceCalls& calls_;
  const std::shared_ptr<VerifiedBlobs>& blobs_;
  const HttpRequest& request_;
  const HttpResponder& responder_;
};

}  // namespace

void DeviceFace::Answer(HttpRequest request, HttpResponder responder) {
  const absl::StatusOr<DeviceTarget> target = ReadDeviceTarget(request.target);
  if (!target.ok()) return responder.Answer(WrongRequestAnswer(target.status()));
  if (!HasMethod(*target, request.method))
    return responder.Answer(WrongMethodAnswer(MethodsOf(*target)));
  std::visit(RequestAnswerer(calls_, blobs_, request, responder), *target);
}

}  // namespace galley::director
