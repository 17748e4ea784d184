// ReapiResults: REAPI's ActionCache over any Store, with two kinds of results:
//
//   native   Galley's own results (ActionCache::Results), under the native instance only: results
//            that record::DecodeResult reads, except verdicts, which never leave a store. The first
//            outcome of a key stands. A weak key has its observation sets, as the result
//            {output_files: [{path "observation-sets", digest, contents}]}, where contents is a
//            wire message {repeated bytes set = 1}, newest first; an update adds its sets.
//   foreign  all others, byte for byte as they came, by instance and action; the last one stands.
//
// A result is returned only if all blobs that it names are present. Errors: as reapi_core.h.
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/reapi/server/reapi_core.h"

namespace galley::store {

inline constexpr std::string_view kObservationSetsPath = "observation-sets";
// The most bytes of an encoded list; older sets are left out.
inline constexpr size_t kObservationSetsBytesMax = 1 << 20;

class ReapiResults {
 public:
  // Make one object for each call. `store` must outlive this object.
  ReapiResults(Store& store, const ReapiOptions& options, const Caller& caller)
      : store_(store), options_(options), caller_(caller) {}

  // NOT_FOUND: a miss.
  ReapiCore::Reply GetActionResult(std::string_view request);
  // Returns the result that stands. FAILED_PRECONDITION names missing blobs. PERMISSION_DENIED: the
  // trust domain is not the caller's.
  ReapiCore::Reply UpdateActionResult(std::string_view request);

 private:
  absl::StatusOr<std::optional<std::string>> Find(std::string_view instance, const Digest& action);
  absl::StatusOr<std::optional<std::string>> FindNative(const Digest& action);
  absl::StatusOr<std::optional<std::string>> FindSets(const Digest& weak_key);
  absl::StatusOr<std::string> WithInlined(std::string result,
                                          const GetActionResultRequest& request);
  absl::Status CheckAllThere(std::string_view result);
  // nullopt: the result is not native.
  absl::StatusOr<std::optional<std::string>> CommitNative(const Digest& action,
                                                          std::string_view result);
  absl::Status CheckTrust(const Digest& key, bool is_weak_key);

  Store& store_;
  const ReapiOptions options_;
  const Caller caller_;
};

}  // namespace galley::store
