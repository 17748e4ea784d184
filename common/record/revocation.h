// Revocation: the results of one worker must not be used (`galley store revoke`), since the worker
// lied or its machine is broken. Pure.
//
// A result names its worker and the time when its director took it; the director writes both,
// whatever the worker says. So a result in somebody else's store is recognised as revoked, too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/record/result.h"

namespace galley::record {

struct Revocation {
  std::string worker;  // the name of the worker, or of its machine, or "worker@machine"
  absl::Time since = absl::InfinitePast();  // results taken earlier stay
  absl::Time until;                         // the time of the revocation; results taken later stay
  bool operator==(const Revocation&) const = default;
};

// When a director took the result; for a result of an older Galley, when its cook began.
absl::Time TakenAt(const Provenance& made);
bool IsRevoked(const Provenance& made, const Revocation& by);
bool IsRevoked(const Provenance& made, std::span<const Revocation> by);

// The bytes of the file in which a store keeps revocations (docs/formats.md, "Revoked workers").
std::string EncodeRevocations(std::span<const Revocation> all);
// DATA_LOSS: damaged. FAILED_PRECONDITION: of another version.
absl::StatusOr<std::vector<Revocation>> DecodeRevocations(std::string_view text);

}  // namespace galley::record
