// ReapiClient: a RemoteCache over any server of the Remote Execution API v2 (its caching half).
//
//   reads     small blobs by BatchReadBlobs, large blobs by ByteStream.Read, zstd if the server has
//             it; a broken stream is continued at its offset; every byte is verified
//   writes    small blobs by BatchUpdateBlobs, large blobs by ByteStream.Write; a broken stream is
//             continued at the offset of QueryWriteStatus
//
// The client copes with the differences between servers; docs/shared-store.md lists them. No gRPC
// in this header.
#pragma once

#include <memory>

#include "common/base/clock.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/reapi/client/breaker.h"
#include "common/store/reapi/client/credentials.h"
#include "common/store/reapi/client/remote_url.h"
#include "common/store/reapi/client/remote_verdict.h"
#include "common/store/reapi/client/retry.h"

namespace galley::store {

struct ReapiClientOptions {
  RemoteUrl url;
  std::string instance;
  RemoteCredentials credentials;
  // The file of credentials.authorization, read again when the server refuses the value; empty: the
  // value does not change.
  std::string credential_file;
  RetryOptions retry;
  BreakerOptions breaker;
  RemoteVerdictOptions verdict;
  // For one try; a second is added for each MB moved.
  absl::Duration call_deadline = absl::Seconds(10);
  absl::Duration probe_deadline = absl::Seconds(3);  // of a probe
  size_t calls_at_once = 4;                          // of one Fetch, Send or ActionResults
  uint64_t stream_bytes_min = 1 << 20;               // larger blobs go by ByteStream
  std::shared_ptr<Clock> clock = std::make_shared<SystemClock>();
  uint64_t seed = 0;  // of jitter and upload names; 0: random
};

std::unique_ptr<RemoteCache> CreateReapiClient(ReapiClientOptions options);

}  // namespace galley::store
