// ReapiCore: REAPI v2's unary methods over any Store: bytes of a request in, bytes of the reply
// out. No gRPC, no sockets; the rights of the caller were checked before (gate.h).
//
// Errors: INVALID_ARGUMENT: as requests.h, a batch above the limit, or an instance that is not
// served; NOT_FOUND; FAILED_PRECONDITION names the missing blobs; RESOURCE_EXHAUSTED: no space, or
// a reply too large for a message. Wrong stored bytes are NOT_FOUND: they are quarantined by then,
// and clients silently make them again.
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
  // The only served instance; nullopt: any instance, each with action results of its own.
  std::optional<std::string> instance;
  // True for the instance under which the store's own results appear: `instance`, else "".
  bool IsNative(std::string_view name) const { return name == instance.value_or(""); }

  // Told to clients as max_batch_total_size_bytes: gRPC's default limit of a message, 4 MiB, less
  // room for everything beside the blobs.
  uint64_t batch_bytes_max = 3'800'000;
  uint64_t blob_bytes_max = uint64_t{64} << 30;
  uint64_t inline_bytes_max = 3 << 20;
  uint64_t reply_bytes_max = (4 << 20) - (64 << 10);
};

// Caller: an admitted caller, with the fields that decide what it may see and write (gate.h).
struct Caller {
  std::string name;  // of the identity; "": anybody
  std::string peer;  // for people
  bool may_write_results = true;
  std::vector<std::string> instances;  // empty: all
  std::vector<std::string> trust;      // domains whose results may be written; empty: all
};

// INVALID_ARGUMENT: this server serves another instance. PERMISSION_DENIED: the caller may not use
// it.
absl::Status CheckInstance(const ReapiOptions& options, const Caller& caller,
                           std::string_view instance);
// Returns DATA_LOSS as NOT_FOUND, for clients; other statuses unchanged.
absl::Status LossAsAbsence(const absl::Status& status);

class ReapiCore {
 public:
  // Make one core for each call. `store` must outlive the core.
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
