// Doorkeeper: which connections a server has, and which it takes. Pure: told what happens, and
// when; it closes nothing itself.
//
// A connection is *silent* until its first bytes are there (first_bytes.h), *shaking* while gRPC
// shakes hands with it for TLS, and *finished* from then on, however long it is idle. Silent and
// shaking ones are unfinished: they are bounded for each address and have a patience. Finished ones
// are bounded only in all, so that many clients behind one address are not refused for that.
//
// When there is no room, the silent connection that is oldest makes room for the new one, since who
// means well speaks at once: of the same address when that address has too many, else of all. Only
// when there is none the new one is refused.
//
// Cost: O(log n) for each event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace galley::listen {

struct DoorLimits {
  size_t connections_max = 4096;
  size_t unfinished_per_address_max = 256;
  absl::Duration patience = absl::Seconds(20);
};

// For a server on a socket of this machine that shares its process with other work: a quarter of
// the descriptors that the process may have.
DoorLimits LocalDoorLimits(uint64_t descriptors);

// For the door of a farm's workers: half of the descriptors. A worker has two connections, and a
// thousand of them may come at once, all behind one address.
DoorLimits FarmDoorLimits(uint64_t descriptors);

class Doorkeeper {
 public:
  using Id = uint64_t;  // later ones are greater

  struct Arrival {
    bool is_taken = true;
    std::optional<Id> closed;  // a silent one that makes room: close it
  };

  explicit Doorkeeper(const DoorLimits& limits) : limits_(limits) {}

  // REQUIRES: `id` is greater than any before. What is refused, or closed, is known no more.
  Arrival Arrive(Id id, const std::string& address, absl::Time now);
  // The first bytes were there. `is_finished`: there is nothing to wait for, else it is shaking.
  void Speak(Id id, bool is_finished, absl::Time now);
  // The connection has made a call.
  void Finish(Id id);
  // The connection was closed. Harmless when it is not known.
  void Leave(Id id);
  // The silent ones whose patience is over: close them; they are known no more. Shaking ones are
  // finished after that time: gRPC has closed those that were not.
  std::vector<Id> Overdue(absl::Time now);

  bool is_full() const { return connections_.size() >= limits_.connections_max; }
  size_t open() const { return connections_.size(); }
  size_t unfinished() const { return silent_.size() + shaking_.size(); }
  size_t shaking() const { return shaking_.size(); }
  const DoorLimits& limits() const { return limits_; }

 private:
  enum class Stage { kSilent, kShaking, kFinished };
  struct Connection {
    Stage stage = Stage::kSilent;
    std::string address;
    absl::Time since;  // of the stage
  };
  struct Address {
    std::set<Id> silent;
    size_t shaking = 0;
  };

  // Takes it out of the lists of its stage.
  void Forget(Id id, const Connection& connection);

  const DoorLimits limits_;
  std::map<Id, Connection> connections_;
  std::set<Id> silent_, shaking_;
  std::map<std::string, Address> addresses_;  // with unfinished connections
};

}  // namespace galley::listen
