#include "director/serve/resident_service.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/log.h"
#include "common/wire/channel.h"
#include "director/serve/peer.h"

namespace galley::director {
namespace {

// How often a stream without events looks whether its reader is still there.
constexpr absl::Duration kLookInterval = absl::Milliseconds(50);

// Modes of files that are staged for a client of another machine: only the director's user may
// write.
constexpr uint32_t kUmaskOfOthers = 022;

absl::Status MayAskFromAfar(const v1::CookAsk& ask) {
  const auto denied = [](std::string_view option) {
    return absl::PermissionDeniedError(
        std::string(option) +
        " is for the director's own user: it changes files of its machine that are not the "
        "project's output. Say it on the director's machine");
  };
  if (!ask.output_directory().empty()) return denied("--out");
  if (ask.adopt()) return denied("--adopt");
  if (ask.exact()) return denied("--exact");
  return absl::OkStatus();
}

template <typename T>
grpc::Status Answer(absl::StatusOr<T> found, T* answer) {
  if (!found.ok()) return wire::ToGrpc(found.status());
  *answer = *std::move(found);
  return grpc::Status::OK;
}

class StreamAudience final : public Audience {
 public:
  StreamAudience(grpc::ServerContext& context, grpc::ServerWriter<v1::Shown>& writer,
                 const std::atomic<bool>& is_closed)
      : context_(context), writer_(writer), is_closed_(is_closed) {}
  bool Tell(const v1::Shown& shown) override { return IsThere() && writer_.Write(shown); }
  bool IsThere() const override { return !context_.IsCancelled() && !is_closed_; }

 private:
  grpc::ServerContext& context_;
  grpc::ServerWriter<v1::Shown>& writer_;
  const std::atomic<bool>& is_closed_;
};

}  // namespace

grpc::Status ResidentService::Hello(grpc::ServerContext*, const v1::HelloAsk* ask,
                                    v1::HelloAnswer* answer) {
  absl::StatusOr<v1::HelloAnswer> hello = calls_.Hello(*ask);
  if (hello.ok()) *answer = *std::move(hello);
  return wire::ToGrpc(hello.status());
}

grpc::Status ResidentService::Cook(grpc::ServerContext* context, const v1::CookAsk* ask,
                                   grpc::ServerWriter<v1::CookEvent>* writer) {
  v1::CookAsk asked = *ask;
  if (from_ == From::kAnotherMachine) {
    if (const absl::Status may = MayAskFromAfar(*ask); !may.ok()) return wire::ToGrpc(may);
    asked.set_umask(kUmaskOfOthers);
    asked.clear_configuration();
    asked.clear_environment();
    asked.clear_environment_salt();
    asked.clear_environment_digests();
    asked.clear_summary_file();
    asked.clear_trace_file();
  }
  asked.set_is_from_afar(from_ == From::kAnotherMachine);
  asked.set_asked_by(CallerOf(*context));
  const absl::StatusOr<uint64_t> cook = calls_.Cook(asked);
  if (!cook.ok()) return wire::ToGrpc(cook.status());
  const absl::StatusOr<std::unique_ptr<CookReader>> reader = calls_.Read(*cook);
  if (!reader.ok()) return wire::ToGrpc(reader.status());
  if (!Tell(*context, **reader, *writer) && !ask->is_detached()) (void)calls_.Cancel(*cook);
  return grpc::Status::OK;
}

grpc::Status ResidentService::Follow(grpc::ServerContext* context, const v1::FollowAsk* ask,
                                     grpc::ServerWriter<v1::CookEvent>* writer) {
  const absl::StatusOr<std::unique_ptr<CookReader>> reader = calls_.Read(ask->cook());
  if (!reader.ok()) return wire::ToGrpc(reader.status());
  Tell(*context, **reader, *writer);
  return grpc::Status::OK;
}

bool ResidentService::Tell(grpc::ServerContext& context, CookReader& reader,
                           grpc::ServerWriter<v1::CookEvent>& writer) {
  v1::CookEvent event;
  while (!context.IsCancelled() && !is_closed_) {
    switch (reader.Next(kLookInterval, event)) {
      case CookReader::Got::kEvent:
        if (!writer.Write(event)) return false;
        break;
      case CookReader::Got::kNothingYet:
        break;
      case CookReader::Got::kEnd:
        return true;
    }
  }
  return false;
}

grpc::Status ResidentService::Cancel(grpc::ServerContext* context, const v1::CancelAsk* ask,
                                     v1::CancelAnswer*) {
  LogInfo("cancel cook={} asked by {}", ask->cook(), CallerOf(*context));
  return wire::ToGrpc(calls_.Cancel(ask->cook()));
}

grpc::Status ResidentService::Status(grpc::ServerContext*, const v1::StatusAsk* ask,
                                     v1::StatusAnswer* answer) {
  return Answer(calls_.Status(*ask), answer);
}

grpc::Status ResidentService::Drain(grpc::ServerContext* context, const v1::DrainAsk* ask,
                                    v1::DrainAnswer* answer) {
  LogInfo("drain worker={} asked by {}", ask->worker().empty() ? "all" : ask->worker(),
          CallerOf(*context));
  return Answer(calls_.Drain(*ask), answer);
}

grpc::Status ResidentService::Clean(grpc::ServerContext* context, const v1::CleanAsk* ask,
                                    v1::CleanAnswer* answer) {
  LogInfo("clean packages={} asked by {}", ask->packages_size(), CallerOf(*context));
  return Answer(calls_.Clean(*ask), answer);
}

grpc::Status ResidentService::Stop(grpc::ServerContext* context, const v1::StopAsk*,
                                   v1::StopAnswer* answer) {
  *answer = calls_.Stop(CallerOf(*context));
  return grpc::Status::OK;
}

// A command that would go on until the director ends has ended well then.
grpc::Status ResidentService::Show(grpc::ServerContext* context, const v1::ShowAsk* ask,
                                   grpc::ServerWriter<v1::Shown>* writer) {
  StreamAudience audience(*context, *writer, is_closed_);
  const absl::Status shown = calls_.Show(*ask, audience);
  if (!absl::IsCancelled(shown) || context->IsCancelled()) return wire::ToGrpc(shown);
  if (!ask->logs().follow()) return {grpc::StatusCode::UNAVAILABLE, "the director ends"};
  v1::Shown end;
  end.set_exit_code(0);
  writer->Write(end);
  return grpc::Status::OK;
}

grpc::Status HostedService::Status(grpc::ServerContext*, const v1::StatusAsk* ask,
                                   v1::StatusAnswer* answer) {
  return Answer(calls_.Status(*ask), answer);
}

}  // namespace galley::director
