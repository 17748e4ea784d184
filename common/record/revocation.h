// Revocation: what one worker made is not to be used (`galley store revoke`): it lied, or its
// machine is broken. Pure.
//
// A result says who made it, and when its director took it: the director writes both, whatever the
// worker says. So a result that lies in somebody else's store is known to be revoked as well.
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
  absl::Time since = absl::InfinitePast();  // what a director took before is let be
  absl::Time until;                         // likewise what it took after: when it was revoked
  bool operator==(const Revocation&) const = default;
};

// When a director took the result; of a result of an older Galley, when its cook began.
absl::Time TakenAt(const Provenance& made);
bool IsRevoked(const Provenance& made, const Revocation& by);
bool IsRevoked(const Provenance& made, std::span<const Revocation> by);

// The file in which a store keeps them (docs/formats.md, "Revoked workers").
std::string EncodeRevocations(std::span<const Revocation> all);
// DATA_LOSS: it is damaged. FAILED_PRECONDITION: of another version.
absl::StatusOr<std::vector<Revocation>> DecodeRevocations(std::string_view text);

}  // namespace galley::record
