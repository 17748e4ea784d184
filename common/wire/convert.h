// Conversions between the messages of galley/v1/worker.proto and the structs of common/. Messages
// from the wire are checked here, once. INVALID_ARGUMENT names the wrong field. For digests in
// other messages: digest_messages.h.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/record/observation.h"
#include "common/store/interface/store.h"
#include "galley/v1/worker.pb.h"

namespace galley::wire {

void ToProto(const Digest& digest, v1::Digest* proto);
absl::StatusOr<Digest> FromProto(const v1::Digest& proto);

void ToProto(const record::Observed& observed, v1::Observed* proto);
// Unknown kinds are refused.
absl::StatusOr<record::Observed> FromProto(const v1::Observed& proto);

// At most record::kObservationsMax.
template <typename Repeated>
absl::StatusOr<std::vector<record::Observed>> ObservedFromProto(const Repeated& repeated) {
  if (static_cast<size_t>(repeated.size()) > record::kObservationsMax) {
    return absl::InvalidArgumentError("too many observations");
  }
  std::vector<record::Observed> observed;
  observed.reserve(static_cast<size_t>(repeated.size()));
  for (const auto& proto : repeated) {
    auto one = FromProto(proto);
    if (!one.ok()) return one.status();
    observed.push_back(*std::move(one));
  }
  return observed;
}

void ToProto(const Digest& digest, const store::BlobLocation& location, v1::BlobWritten* proto);
struct BlobAt {
  Digest digest;
  store::BlobLocation location;
};
absl::StatusOr<BlobAt> FromProto(const v1::BlobWritten& proto);

}  // namespace galley::wire
