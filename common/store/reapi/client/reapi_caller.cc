#include "common/store/reapi/client/reapi_caller.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/status_macros.h"
#include "common/store/reapi/client/retry.h"
#include "common/wire/channel.h"
#include "fmt/format.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"

namespace galley::store {
namespace {

constexpr uint64_t kBytesPerSecondLeast = 1'000'000;
constexpr uint64_t kMovedEnough = 8 << 20;  // of one try of a read
// Most servers take messages of 4 MiB, gRPC's default, also those that name no limit for batches or
// a larger one. What is beside the blobs needs room.
constexpr uint64_t kBatchBytesMax = 3'800'000;
constexpr int kAnswerBytesMax = 64 << 20;
constexpr size_t kBatchDigestsMax = 4096;
constexpr uint64_t kBesideABlob = 128;  // of its digest, status and the message around it
// The most renewals in one call: a token that is replaced again and again keeps nobody busy.
constexpr int kRenewalsMax = 3;

std::shared_ptr<grpc::Channel> OpenReapiChannel(const ReapiClientOptions& options) {
  wire::PrepareGrpc();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kAnswerBytesMax);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);  // what a connection may take
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A connection that is dead without saying so (a cable, a NAT) is found out.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (options.url.is_tls) {
    credentials = grpc::SslCredentials({.pem_root_certs = options.credentials.tls_ca,
                                        .pem_private_key = options.credentials.tls_key,
                                        .pem_cert_chain = options.credentials.tls_cert});
  }
  return grpc::CreateCustomChannel(options.url.target, credentials, arguments);
}

absl::Duration TimeToMove(uint64_t bytes) {
  return absl::Seconds(static_cast<double>(bytes) / static_cast<double>(kBytesPerSecondLeast));
}

}  // namespace

ReapiCaller::ReapiCaller(ReapiClientOptions options)
    : options_(std::move(options)),
      authorization_(options_.credentials.authorization, options_.credential_file),
      breaker_(options_.breaker),
      random_(options_.seed != 0 ? options_.seed : std::random_device()()) {
  const auto channel = OpenReapiChannel(options_);
  cas_ = reapi::ContentAddressableStorage::NewStub(channel);
  action_cache_ = reapi::ActionCache::NewStub(channel);
  capabilities_stub_ = reapi::Capabilities::NewStub(channel);
  byte_stream_ = google::bytestream::ByteStream::NewStub(channel);
}

uint64_t ReapiCaller::Random() {
  const base::MutexLock lock(mutex_);
  return random_();
}

ReapiCaller::Batches ReapiCaller::Batched(std::span<const Digest> digests,
                                          const ReapiCapabilities& server) const {
  Batches made;
  uint64_t batch_bytes = 0;
  for (const Digest& digest : digests) {
    const uint64_t bytes = digest.size_bytes() + kBesideABlob;
    if (digest.size_bytes() > options_.stream_bytes_min || bytes > server.batch_bytes_max) {
      made.alone.push_back(digest);
      continue;
    }
    if (made.batches.empty() || made.batches.back().size() >= kBatchDigestsMax ||
        batch_bytes + bytes > server.batch_bytes_max) {
      made.batches.emplace_back();
      batch_bytes = 0;
    }
    made.batches.back().push_back(digest);
    batch_bytes += bytes;
  }
  return made;
}

// Version 4, as RFC 9562 has it.
std::string ReapiCaller::NewUuid() {
  const uint64_t a = Random(), b = Random();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                     0x8000 | (b >> 50), b & 0xffff'ffff'ffff);
}

RemoteState ReapiCaller::State() const {
  RemoteState state{.url = options_.url.text,
                    .blobs_fetched = counters_.blobs_fetched,
                    .bytes_fetched = counters_.bytes_fetched,
                    .blobs_sent = counters_.blobs_sent,
                    .bytes_sent = counters_.bytes_sent,
                    .calls_failed = counters_.calls_failed};
  const base::MutexLock lock(mutex_);
  state.takes_results = !capabilities_.has_value() || capabilities_->takes_results;
  state.is_down = breaker_.is_open() || !useless_.empty();
  state.down_since = breaker_.opened();
  state.reason = useless_.empty() ? breaker_.reason() : useless_;
  return state;
}

bool ReapiCaller::is_down() const {
  const base::MutexLock lock(mutex_);
  return breaker_.is_open() || !useless_.empty();
}

ReapiCaller::Tried ReapiCaller::Try(absl::Duration deadline, const RemoteLimits& limits,
                                    const Attempt& attempt) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoNanoseconds(deadline));
  std::string authorization = authorization_.value();
  if (!authorization.empty()) context.AddMetadata("authorization", authorization);
  const Cancellation::Hook hook(limits.cancellation, [&context] { context.TryCancel(); });
  const Cancellation::Hook stop(&stopped_, [&context] { context.TryCancel(); });
  const grpc::Status status = attempt(context);
  return {.status = wire::FromGrpc(status),
          .authorization = std::move(authorization),
          .hint = RetryInfoIn(status.error_details())};
}

absl::Status ReapiCaller::TryUntil(uint64_t bytes, const uint64_t* moved,
                                   const RemoteLimits& limits, const Attempt& attempt) {
  // Real time, as the deadlines are that gRPC keeps; the injected clock decides of probes only.
  SystemClock clock;
  const absl::Time end = clock.Monotonic() + limits.patience + TimeToMove(bytes);
  const absl::Duration deadline =
      std::min(options_.call_deadline, limits.stall_max) +
      (moved == nullptr ? TimeToMove(bytes) : std::min(TimeToMove(bytes), kReadTryMax));
  auto schedule = std::make_unique<RetrySchedule>(options_.retry, Random());
  uint64_t moved_before = 0;
  int renewals = 0;
  while (true) {
    if (IsUnwanted(limits)) return absl::CancelledError("nobody wants it any more");
    const absl::Duration left = end - clock.Monotonic();
    if (left <= absl::ZeroDuration())
      return absl::DeadlineExceededError("it took longer than anybody waits");
    const Tried tried = Try(std::min(deadline, left), limits, attempt);
    if (tried.status.ok() || IsUnwanted(limits)) return tried.status;
    if (absl::IsUnauthenticated(tried.status) && renewals++ < kRenewalsMax &&
        authorization_.Renew(tried.authorization))
      continue;
    if (moved != nullptr && *moved >= moved_before + kMovedEnough) {
      moved_before = *moved;
      schedule = std::make_unique<RetrySchedule>(options_.retry, Random());
    }
    // The cook can have made it by the time that a second try hangs, too.
    if (limits.is_waited_for && absl::IsDeadlineExceeded(tried.status) && moved_before == 0)
      return tried.status;
    const std::optional<absl::Duration> wait = schedule->Next(tried.status, tried.hint);
    if (!wait || clock.Monotonic() + *wait >= end) return tried.status;
    Cancellation pause;  // ends with either
    const Cancellation::Hook hook(limits.cancellation, [&pause] { pause.Cancel(); });
    const Cancellation::Hook stop(&stopped_, [&pause] { pause.Cancel(); });
    pause.Pause(*wait);
  }
}

void ReapiCaller::Note(const absl::Status& status, std::string_view what) {
  const bool is_refused = absl::IsUnauthenticated(status);
  const bool has_answered = !is_refused && !IsWorthRetrying(status.code());
  if (!has_answered) ++counters_.calls_failed;
  const base::MutexLock lock(mutex_);
  if (has_answered) {
    breaker_.Answered();
  } else if (is_refused) {
    TakeForDown(status, what);  // whatever else is asked would be refused as well
  } else {
    breaker_.Failed(options_.clock->Monotonic(), ReasonOf(status, what));
  }
}

void ReapiCaller::TakeForDown(const absl::Status& status, std::string_view what) {
  for (int i = 0; i < options_.breaker.failures_max; ++i)
    breaker_.Failed(options_.clock->Monotonic(), ReasonOf(status, what));
}

std::string ReapiCaller::ReasonOf(const absl::Status& status, std::string_view what) const {
  if (!absl::IsUnauthenticated(status)) return fmt::format("{}: {}", what, MessageOf(status));
  return fmt::format("{}: {} ({})", what, authorization_.RefusalText(), MessageOf(status));
}

// Asks the server for its capabilities and keeps its answer.
absl::Status ReapiCaller::AskCapabilities(const RemoteLimits& limits, bool is_probe) {
  reapi::GetCapabilitiesRequest request;
  request.set_instance_name(options_.instance);
  reapi::ServerCapabilities reply;
  const auto ask = [&](grpc::ClientContext& context) {
    return capabilities_stub_->GetCapabilities(&context, request, &reply);
  };
  if (is_probe) {
    Tried tried = Try(options_.probe_deadline, limits, ask);
    if (absl::IsUnauthenticated(tried.status) && authorization_.Renew(tried.authorization))
      tried = Try(options_.probe_deadline, limits, ask);
    RETURN_IF_ERROR(tried.status);
  } else {
    RETURN_IF_ERROR(TryUntil(0, nullptr,
                             {.patience = std::min(limits.patience, options_.call_deadline),
                              .cancellation = limits.cancellation},
                             ask));
  }
  const reapi::CacheCapabilities& cache = reply.cache_capabilities();
  const auto has = [](const auto& list, auto wanted) {
    return std::ranges::find(list, wanted) != list.end();
  };
  const base::MutexLock lock(mutex_);
  if (!has(cache.digest_functions(), reapi::DigestFunction::SHA256)) {
    useless_ = "the server does not speak SHA-256 (GetCapabilities)";
  } else if (reply.has_high_api_version() && reply.high_api_version().major() != 0 &&
             reply.high_api_version().major() < 2) {
    useless_ = fmt::format("the server speaks version {} of the API at most, expected 2",
                           reply.high_api_version().major());
  } else {
    const auto batch_max =
        static_cast<uint64_t>(std::max<int64_t>(cache.max_batch_total_size_bytes(), 0));
    capabilities_ = ReapiCapabilities{
        .batch_bytes_max =
            batch_max == 0 ? kBatchBytesMax : std::min<uint64_t>(batch_max, kBatchBytesMax),
        .has_zstd_streams = has(cache.supported_compressors(), reapi::Compressor::ZSTD),
        .has_zstd_batches =
            has(cache.supported_batch_update_compressors(), reapi::Compressor::ZSTD),
        .takes_results = cache.action_cache_update_capabilities().update_enabled()};
  }
  if (!useless_.empty()) return absl::FailedPreconditionError(useless_);
  return absl::OkStatus();
}

// OK: calls may be made.
absl::Status ReapiCaller::CheckUp(const RemoteLimits& limits) {
  bool is_probe = false, is_known = false;
  {
    const base::MutexLock lock(mutex_);
    if (!useless_.empty()) return absl::FailedPreconditionError(useless_);
    is_known = capabilities_.has_value();
    is_probe = breaker_.TakeProbe(options_.clock->Monotonic());
    if (breaker_.is_open() && !is_probe)
      return absl::UnavailableError("it is down: " + breaker_.reason());
  }
  if (is_probe) {
    const absl::Status probed = AskCapabilities(limits, /*is_probe=*/true);
    const base::MutexLock lock(mutex_);
    if (probed.ok()) {
      breaker_.Answered();
    } else {
      breaker_.Failed(options_.clock->Monotonic(), ReasonOf(probed, "GetCapabilities"));
    }
    return probed;
  }
  if (is_known) return absl::OkStatus();
  const base::MutexLock asking(asking_);
  {
    const base::MutexLock lock(mutex_);  // another may have asked meanwhile
    if (capabilities_) return absl::OkStatus();
    if (!useless_.empty()) return absl::FailedPreconditionError(useless_);
    if (breaker_.is_open()) return absl::UnavailableError("it is down: " + breaker_.reason());
  }
  const absl::Status asked = AskCapabilities(limits, /*is_probe=*/false);
  if (asked.ok() || absl::IsFailedPrecondition(asked)) return asked;
  if (!IsUnwanted(limits)) ++counters_.calls_failed;
  const base::MutexLock lock(mutex_);
  // Not to answer the first question is to be down.
  if (!IsUnwanted(limits)) TakeForDown(asked, "GetCapabilities");
  return asked;
}

absl::StatusOr<ReapiCapabilities> ReapiCaller::Capabilities(const RemoteLimits& limits) {
  RETURN_IF_ERROR(CheckUp(limits));
  const base::MutexLock lock(mutex_);
  if (!capabilities_) return absl::UnavailableError("it is down: " + breaker_.reason());
  ReapiCapabilities known = *capabilities_;
  if (is_zstd_off_) known.has_zstd_streams = known.has_zstd_batches = false;
  return known;
}

absl::Status ReapiCaller::CallWhileUp(std::string_view what, uint64_t bytes, const uint64_t* moved,
                                      const RemoteLimits& limits, const Attempt& attempt) {
  RETURN_IF_ERROR(CheckUp(limits));
  const absl::Status status = TryUntil(bytes, moved, limits, attempt);
  if (!IsUnwanted(limits)) Note(status, what);
  return Annotate(status, what);
}

absl::Status ReapiCaller::Call(std::string_view what, uint64_t bytes, const RemoteLimits& limits,
                               const Attempt& attempt) {
  return CallWhileUp(what, bytes, nullptr, limits, attempt);
}

absl::Status ReapiCaller::CallInParts(std::string_view what, uint64_t bytes, const uint64_t& moved,
                                      const RemoteLimits& limits, const Attempt& attempt) {
  return CallWhileUp(what, bytes, &moved, limits, attempt);
}

absl::Status ReapiCaller::CallOnce(uint64_t bytes, const RemoteLimits& limits,
                                   const Attempt& attempt) {
  RETURN_IF_ERROR(CheckUp(limits));
  return Try(options_.call_deadline + TimeToMove(bytes), limits, attempt).status;
}

}  // namespace galley::store
