// Roles: the one table of who may make which call to a director, by whatever way in. The table is
// checked before anything of a call is read (common/wire/call_gate.h). docs/farm.md shows the
// table to people.
//
//   way in                                                roles
//   the director's Unix socket (its own user)             all
//   [farm] listen with TLS: a certificate without a role  worker
//   [farm] listen without TLS (this machine only)         worker
//   serve --listen: a certificate with a role             the certificate's role and lower roles
//   with TLS, and no certificate                          none
//
// `galley store serve` has a table of its own: common/store/reapi/server/methods.h. Roles say what
// any worker may do; WorkerService and WorkerBytes check which worker a caller is, and which
// attempts are its own.
//
// A certificate has a role by a URI in its subjectAltName, "urn:galley:role:client"; it may have
// several roles. An administrator may do everything that a client may do, and a client everything
// that a reader may do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/wire/call_gate.h"

namespace galley::director {

enum class Role : uint8_t {
  kWorker,         // cooks its jobs
  kReader,         // reads only
  kClient,         // also cooks
  kAdministrator,  // also ends others' cooks, workers, the director; forgets results
};
inline constexpr std::string_view kRoleNames[] = {"worker", "reader", "client", "administrator"};
inline constexpr std::string_view kRoleUri = "urn:galley:role:";

class Roles {
 public:
  constexpr Roles() = default;
  static constexpr Roles All() { return Roles(0xf); }
  static constexpr Roles Worker() { return Roles(Bit(Role::kWorker)); }
  // Returns the roles that a certificate with `role` gives: `role` and all lower roles.
  static constexpr Roles UpTo(Role role) {
    if (role == Role::kWorker) return Worker();
    Roles roles;
    for (const Role one : {Role::kReader, Role::kClient, Role::kAdministrator})
      if (one <= role) roles.bits_ |= Bit(one);
    return roles;
  }
  constexpr bool Has(Role role) const { return (bits_ & Bit(role)) != 0; }
  constexpr Roles With(Roles other) const {
    return Roles(static_cast<uint8_t>(bits_ | other.bits_));
  }
  constexpr Roles Without(Role role) const {
    return Roles(bits_ & static_cast<uint8_t>(~Bit(role)));
  }
  // Returns "client and reader", or "none".
  std::string ToString() const;
  constexpr bool operator==(const Roles&) const = default;

 private:
  explicit constexpr Roles(uint8_t bits) : bits_(bits) {}
  static constexpr uint8_t Bit(Role role) {
    return static_cast<uint8_t>(1u << static_cast<uint8_t>(role));
  }
  uint8_t bits_ = 0;
};

struct CallRule {
  std::string_view path;  // "/galley.v1.Resident/Drain"
  Role needs = Role::kAdministrator;
  bool is_for_all = false;  // also for callers without a role
};
// Every call that a director serves, sorted by path.
std::span<const CallRule> CallRules();

// Returns the roles of a caller whose certificate has these URIs.
Roles RolesOfCertificate(std::span<const std::string> uris);
// Checks whether the caller may make the call. `caller`: nullopt: no certificate was shown.
// UNAUTHENTICATED: the call needs a certificate; PERMISSION_DENIED: the caller lacks the role that
// the call needs, and the text says which role and how to get it; UNIMPLEMENTED: an unknown call.
absl::Status CheckCall(std::optional<Roles> caller, std::string_view path);

// Return the gates of the three ways in.
wire::CallGate GateOfSocket();
wire::CallGate GateOfFarm();
wire::CallGate GateOfClients();

}  // namespace galley::director
