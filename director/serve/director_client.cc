#include "director/serve/director_client.h"

#include <grpcpp/grpcpp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/child_process.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/wire/channel.h"
#include "director/serve/peer.h"
#include "director/serve/socket_probe.h"
#include "fmt/format.h"
#include "galley/v1/director.grpc.pb.h"

namespace galley::director {
namespace {

// How long the first Hello waits; each later Hello waits twice as long, up to the most. Then the
// client looks whether anybody still listens.
constexpr absl::Duration kHelloPatience = absl::Milliseconds(500);
constexpr absl::Duration kHelloPatienceMax = absl::Seconds(2);
constexpr absl::Duration kFarPatience = absl::Seconds(10);  // with TLS, through a network

// CallContext: a call that says which process makes it.
class CallContext : public grpc::ClientContext {
 public:
  CallContext() { AddMetadata(kCallerKey, OwnCaller()); }
};

// `Stream`: CookStream, of v1::CookEvent, or ShownStream, of v1::Shown.
template <typename Stream, typename Message>
class StreamOf final : public Stream {
 public:
  // `begin` starts the call.
  template <typename Begin>
  explicit StreamOf(Begin begin) : reader_(begin(&context_)) {}
  ~StreamOf() override { context_.TryCancel(); }

  bool Next(Message& message) override { return reader_->Read(&message); }
  void Leave() override { context_.TryCancel(); }
  absl::Status End() override { return wire::FromGrpc(reader_->Finish()); }

 private:
  CallContext context_;
  const std::unique_ptr<grpc::ClientReader<Message>> reader_;
};
using StreamOfEvents = StreamOf<CookStream, v1::CookEvent>;

// `process`: a process of this machine; 0: unknown.
bool IsAtWork(pid_t process) { return process > 0 && IsRunning(process) && !IsStopped(process); }

absl::Duration PatienceWith(pid_t process) {
  return IsAtWork(process) ? DirectorClient::kBusyPatience : DirectorClient::kPatience;
}

absl::Status SilentError(pid_t process, const std::string& path) {
  if (IsAtWork(process))
    return DeadlineExceededError(
        "has not answered for {:.0f} s at {}, though it is not stopped: ask again when this "
        "machine has less to do, or end it",
        absl::ToDoubleSeconds(DirectorClient::kBusyPatience), path);
  return DeadlineExceededError(
      "has not answered for {:.0f} s at {}: is it stopped? Continue it (kill -CONT), or end it",
      absl::ToDoubleSeconds(DirectorClient::kPatience), path);
}

class Client final : public DirectorClient {
 public:
  // `process`: the process of this machine that listens there; 0: unknown.
  explicit Client(const std::string& address, const wire::ClientTls& tls = {}, pid_t process = 0)
      : stub_(v1::Resident::NewStub(wire::OpenChannel(address, tls))), process_(process) {}

  // DEADLINE_EXCEEDED: no answer within `patience`, though somebody may listen.
  absl::Status SayHello(const v1::BuildIdentity& own, absl::Duration patience) {
    v1::HelloAsk ask;
    *ask.mutable_client() = own;
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + patience));
    // A stopped process lets connections be made, and gRPC gives such connections up.
    context.set_wait_for_ready(true);
    return wire::FromGrpc(stub_->Hello(&context, ask, &hello_));
  }

  const v1::HelloAnswer& director() const override { return hello_; }

  std::unique_ptr<CookStream> Cook(const v1::CookAsk& ask) override {
    return std::make_unique<StreamOfEvents>(
        [&](grpc::ClientContext* context) { return stub_->Cook(context, ask); });
  }
  std::unique_ptr<CookStream> Follow(uint64_t cook) override {
    v1::FollowAsk ask;
    ask.set_cook(cook);
    return std::make_unique<StreamOfEvents>(
        [&](grpc::ClientContext* context) { return stub_->Follow(context, ask); });
  }
  absl::Status Cancel(uint64_t cook) override {
    v1::CancelAsk ask;
    ask.set_cook(cook);
    return Call<v1::CancelAnswer>(ask, &v1::Resident::Stub::Cancel).status();
  }
  absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask) override {
    return Call<v1::StatusAnswer>(ask, &v1::Resident::Stub::Status);
  }
  absl::StatusOr<v1::DrainAnswer> Drain(const v1::DrainAsk& ask) override {
    return Call<v1::DrainAnswer>(ask, &v1::Resident::Stub::Drain);
  }
  absl::StatusOr<v1::CleanAnswer> Clean(const v1::CleanAsk& ask) override {
    return Call<v1::CleanAnswer>(ask, &v1::Resident::Stub::Clean);
  }
  absl::StatusOr<v1::StopAnswer> Stop() override {
    return Call<v1::StopAnswer>(v1::StopAsk(), &v1::Resident::Stub::Stop);
  }
  std::unique_ptr<ShownStream> Show(const v1::ShowAsk& ask) override {
    return std::make_unique<StreamOf<ShownStream, v1::Shown>>(
        [&](grpc::ClientContext* context) { return stub_->Show(context, ask); });
  }
  bool HasEnded() override {
    const auto hello =
        CallWithin<v1::HelloAnswer>(kPatience, v1::HelloAsk(), &v1::Resident::Stub::Hello);
    if (!hello.ok()) return absl::IsUnavailable(hello.status());
    return hello->process() != hello_.process() || hello->started_us() != hello_.started_us();
  }

 private:
  template <typename Answer, typename Ask>
  using CallOfStub = grpc::Status (v1::Resident::Stub::*)(grpc::ClientContext*, const Ask&,
                                                          Answer*);

  template <typename Answer, typename Ask>
  absl::StatusOr<Answer> Call(const Ask& ask, CallOfStub<Answer, Ask> call) {
    return CallWithin<Answer>(PatienceWith(process_), ask, call);
  }

  template <typename Answer, typename Ask>
  absl::StatusOr<Answer> CallWithin(absl::Duration patience, const Ask& ask,
                                    CallOfStub<Answer, Ask> call) {
    CallContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + patience));
    Answer answer;
    if (const grpc::Status status = (stub_.get()->*call)(&context, ask, &answer); !status.ok())
      return wire::FromGrpc(status);
    return answer;
  }

  const std::unique_ptr<v1::Resident::Stub> stub_;
  const pid_t process_;
  v1::HelloAnswer hello_;
};

class ClientOfHosted final : public HostedClient {
 public:
  ClientOfHosted(const std::string& address, pid_t process)
      : stub_(v1::Hosted::NewStub(wire::OpenChannel(address))), process_(process) {}
  absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask) override {
    CallContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + PatienceWith(process_)));
    v1::StatusAnswer answer;
    if (const grpc::Status status = stub_->Status(&context, ask, &answer); !status.ok())
      return wire::FromGrpc(status);
    return answer;
  }

 private:
  const std::unique_ptr<v1::Hosted::Stub> stub_;
  const pid_t process_;
};

}  // namespace

std::string OwnCaller() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer;
  const bool is_known =
      ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr;
  return fmt::format("{}, process {}",
                     is_known ? std::string(entry.pw_name) : fmt::format("user {}", ::getuid()),
                     ::getpid());
}

std::unique_ptr<HostedClient> HostedClient::Find(const std::string& socket_path) {
  const SocketProbe probe = ProbeSocket(socket_path);
  if (probe.listening != Listening::kSomebody) return nullptr;
  return std::make_unique<ClientOfHosted>("unix:" + probe.path, probe.process);
}

absl::StatusOr<std::unique_ptr<DirectorClient>> DirectorClient::Find(const std::string& socket_path,
                                                                     const v1::BuildIdentity& own) {
  const absl::Time began = absl::Now();
  absl::Duration patience = kHelloPatience;
  pid_t process = 0;
  bool is_told = false;
  while (true) {
    const SocketProbe probe = ProbeSocket(socket_path);
    // Unknown while many connections wait to be accepted.
    if (probe.process > 0) process = probe.process;
    if (probe.listening == Listening::kNobody) return nullptr;
    if (probe.listening == Listening::kForbidden)
      return PermissionDeniedError("{} belongs to another user", probe.path);
    auto client = std::make_unique<Client>("unix:" + probe.path, wire::ClientTls(), process);
    const absl::Status hello = client->SayHello(own, patience);
    if (hello.ok()) return std::unique_ptr<DirectorClient>(std::move(client));
    if (absl::IsUnimplemented(hello)) return nullptr;
    // A director that ends takes its socket away.
    const bool may_end = absl::IsDeadlineExceeded(hello) || absl::IsUnavailable(hello);
    if (!may_end) return hello;
    const absl::Duration waited = absl::Now() - began;
    if (waited > PatienceWith(process)) return SilentError(process, probe.path);
    patience = std::min(2 * patience, kHelloPatienceMax);
    if (waited < kPatience) {
      patience = std::min(patience, kPatience - waited);
    } else if (!std::exchange(is_told, true)) {
      LogWarning(
          "process {} has this project, runs, and has not answered for {:.0f} s: waiting up to "
          "{:.0f} s for it",
          process, absl::ToDoubleSeconds(kPatience), absl::ToDoubleSeconds(kBusyPatience));
    }
  }
}

absl::StatusOr<std::unique_ptr<DirectorClient>> DirectorClient::Connect(
    const std::string& address, const wire::ClientTls& tls, const v1::BuildIdentity& own) {
  auto client = std::make_unique<Client>(address, tls);
  const absl::Status hello = client->SayHello(own, kFarPatience);
  if (absl::IsDeadlineExceeded(hello) || absl::IsUnavailable(hello))
    return UnavailableError(
        "no director answers at {} within {:.0f} s: does `galley serve --listen` run there, can "
        "this machine reach that address, is the director's certificate for that name and of the "
        "authority in --tls-ca, and is ours of the authority that its [farm] tls_ca names?",
        address, absl::ToDoubleSeconds(kFarPatience));
  if (!hello.ok()) return hello;
  return std::unique_ptr<DirectorClient>(std::move(client));
}

}  // namespace galley::director
