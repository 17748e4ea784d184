// ReapiCaller: makes calls on one channel to a REAPI server: with deadlines, with retries where
// they may help, with no call while the server is down, and cancelled when nobody wants the answer.
//
// Before the first call the server's capabilities are asked for; a server that does not answer, or
// has no SHA-256, counts as down. A server that refuses our token counts as down until it accepts a
// token, which is read again from its file.
// Threads: any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/reapi/client/breaker.h"
#include "common/store/reapi/client/reapi_client.h"
#include "common/store/reapi/client/reapi_wire.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "grpcpp/client_context.h"

namespace galley::store {

// ReapiCapabilities: the capabilities that the server reported.
struct ReapiCapabilities {
  uint64_t batch_bytes_max = 0;  // sum of blob sizes in one call, less room for the rest
  bool has_zstd_streams = false;
  bool has_zstd_batches = false;
  bool takes_results = true;
};

class ReapiCaller {
 public:
  explicit ReapiCaller(ReapiClientOptions options);

  const ReapiClientOptions& options() const { return options_; }
  reapi::ContentAddressableStorage::Stub& cas() { return *cas_; }
  reapi::ActionCache::Stub& action_cache() { return *action_cache_; }
  google::bytestream::ByteStream::Stub& byte_stream() { return *byte_stream_; }

  using Attempt = std::function<grpc::Status(grpc::ClientContext&)>;
  // Makes the call until it succeeds, is refused, or its tries or its time run out. `bytes`: moved
  // by the call, which adds to its time. UNAVAILABLE at once while the server is down.
  absl::Status Call(std::string_view what, uint64_t bytes, const RemoteLimits& limits,
                    const Attempt& attempt);
  // Like Call, for a read that goes on where the last try ended: no try lasts longer than
  // kReadTryMax, and a try that moved enough (`moved`, which the attempt counts) starts the retries
  // anew. So a server that falls silent in the middle of a large blob is noticed.
  static constexpr absl::Duration kReadTryMax = absl::Minutes(1);
  absl::Status CallInParts(std::string_view what, uint64_t bytes, const uint64_t& moved,
                           const RemoteLimits& limits, const Attempt& attempt);
  // Makes the call once; unlike with Call, the outcome says nothing about the server.
  absl::Status CallOnce(uint64_t bytes, const RemoteLimits& limits, const Attempt& attempt);

  // UNAVAILABLE: the server is down. FAILED_PRECONDITION: the server is useless for us.
  absl::StatusOr<ReapiCapabilities> Capabilities(const RemoteLimits& limits);
  // Stops all compression: the server does not support it after all.
  void TurnOffZstd() { is_zstd_off_ = true; }
  std::string NewUuid();

  // Blobs to move: small ones in batches, each of which fits a call, and large ones.
  struct Batches {
    std::vector<std::vector<Digest>> batches;
    std::vector<Digest> alone;
  };
  Batches Batched(std::span<const Digest> digests, const ReapiCapabilities& server) const;

  struct Counters {
    std::atomic<uint64_t> blobs_fetched = 0, bytes_fetched = 0, blobs_sent = 0, bytes_sent = 0,
                          calls_failed = 0;
  };
  Counters& counters() { return counters_; }
  RemoteState State() const;
  bool is_down() const;
  void Stop() { stopped_.Cancel(); }

 private:
  struct Tried {
    absl::Status status;
    std::string authorization;  // value that was sent
    std::optional<absl::Duration> hint;
  };
  Tried Try(absl::Duration deadline, const RemoteLimits& limits, const Attempt& attempt);
  absl::Status TryUntil(uint64_t bytes, const uint64_t* moved, const RemoteLimits& limits,
                        const Attempt& attempt);
  absl::Status CallWhileUp(std::string_view what, uint64_t bytes, const uint64_t* moved,
                           const RemoteLimits& limits, const Attempt& attempt);
  absl::Status AskCapabilities(const RemoteLimits& limits, bool is_probe);
  absl::Status CheckUp(const RemoteLimits& limits);
  void Note(const absl::Status& status, std::string_view what);
  // Opens the breaker: no further call is made before a probe.
  void TakeForDown(const absl::Status& status, std::string_view what) GALLEY_REQUIRES(mutex_);
  std::string ReasonOf(const absl::Status& status, std::string_view what) const;
  uint64_t Random();

  const ReapiClientOptions options_;
  Authorization authorization_;
  std::unique_ptr<reapi::ContentAddressableStorage::Stub> cas_;
  std::unique_ptr<reapi::ActionCache::Stub> action_cache_;
  std::unique_ptr<reapi::Capabilities::Stub> capabilities_stub_;
  std::unique_ptr<google::bytestream::ByteStream::Stub> byte_stream_;
  static bool IsCancelled(const RemoteLimits& limits) {
    return limits.cancellation != nullptr && limits.cancellation->is_cancelled();
  }
  bool IsUnwanted(const RemoteLimits& limits) const {
    return stopped_.is_cancelled() || IsCancelled(limits);
  }
  Counters counters_;
  Cancellation stopped_;
  std::atomic<bool> is_zstd_off_ = false;

  base::Mutex asking_;  // held during the first question for capabilities: others wait
  mutable base::Mutex mutex_;
  Breaker breaker_ GALLEY_GUARDED_BY(mutex_);
  std::optional<ReapiCapabilities> capabilities_ GALLEY_GUARDED_BY(mutex_);
  std::string useless_ GALLEY_GUARDED_BY(mutex_);  // why the server is not asked any more
  std::mt19937_64 random_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
