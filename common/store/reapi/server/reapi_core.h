// ReapiCore: REAPI v2's unary methods over any Store: the bytes of a request in, those of the reply
// out. No gRPC, no sockets; who may call what was decided before (gate.h).
//
// Errors: INVALID_ARGUMENT as requests.h, a batch above the limit, an instance that is not served;
// NOT_FOUND; FAILED_PRECONDITION with the blobs that are missing; RESOURCE_EXHAUSTED no space, or a
// reply that no message can hold. Stored bytes that turn out wrong are NOT_FOUND: they are
// quarantined by then, and a client makes them again without a word.
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "common/store/reapi/server/call_handler.h"
#include "common/store/reapi/server/requests.h"

namespace galley::store {

struct ReapiOptions {
  // The only instance that is served; nullopt: any, each with action results of its own.
  std::optional<std::string> instance;
  // True for the name under which the store's own results are seen: the instance that is served,
  // else "".
  bool IsNative(std::string_view name) const { return name == instance.value_or(""); }

  // Told to clients as max_batch_total_size_bytes. A message of theirs is 4 MiB at most by gRPC's
  // default; so much is left for what stands around the blobs.
  uint64_t batch_bytes_max = 3'800'000;
  uint64_t blob_bytes_max = uint64_t{64} << 30;
  uint64_t inline_bytes_max = 3 << 20;
  uint64_t reply_bytes_max = (4 << 20) - (64 << 10);
};

// The caller, as far as its rights to see and write depend on it (gate.h).
struct Caller {
  std::string name;  // of the identity; "": anybody
  std::string peer;  // for people
  bool may_write_results = true;
  std::vector<std::string> instances;  // none: all
  std::vector<std::string> trust;      // domains whose results may be written; none: all
};

// INVALID_ARGUMENT: this server has another one. PERMISSION_DENIED: it is not for this caller.
absl::Status CheckInstance(const ReapiOptions& options, const Caller& caller,
                           std::string_view instance);
// DATA_LOSS as a client is told it.
absl::Status LossAsAbsence(const absl::Status& status);

class ReapiCore {
 public:
  // A core for one call. `store` outlives it.
  ReapiCore(Store& store, const ReapiOptions& options, const Caller& caller)
      : store_(store), options_(options), caller_(caller) {}

  using Reply = absl::StatusOr<UnaryHandler::Answer>;
  Reply GetCapabilities(std::string_view request);
  Reply FindMissingBlobs(std::string_view request);
  Reply BatchUpdateBlobs(std::string_view request);
  Reply BatchReadBlobs(std::string_view request);

 private:
  std::vector<absl::Status> PutBlobs(std::span<const BatchUpdateRequest::Blob> blobs);

  Store& store_;
  const ReapiOptions options_;
  const Caller caller_;
};

}  // namespace galley::store
