// Doorkeeper: decides which connections a server takes and which it closes. Pure: it is told events
// and times, and closes nothing itself.
//
// A connection is *silent* until its first bytes arrive (first_bytes.h), *shaking* during gRPC's
// TLS handshake, and *finished* from then on, however long it is idle. Silent and shaking
// connections are unfinished: they are limited for each address, and in time. Finished connections
// are limited only in total, so that many clients behind one address are not refused.
//
// If there is no room, the oldest silent connection is closed for the new one, since an honest
// client speaks at once: a connection of the same address if that address has too many, else of
// any. If there is no silent connection, the new one is refused.
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

// For a server on a local socket whose process has other work: a quarter of `descriptors`, the
// number that the process may have.
DoorLimits LocalDoorLimits(uint64_t descriptors);

// For a server of a farm's workers: half of the descriptors. A worker has two connections, and a
// thousand workers may come at once, all behind one address.
DoorLimits FarmDoorLimits(uint64_t descriptors);

class Doorkeeper {
 public:
  using Id = uint64_t;  // later ones are greater

  struct Arrival {
    bool is_taken = true;
    std::optional<Id> closed;  // a silent connection that the caller must close
  };

  explicit Doorkeeper(const DoorLimits& limits) : limits_(limits) {}

  // REQUIRES: `id` is greater than any before. A refused or closed connection is forgotten.
  Arrival Arrive(Id id, const std::string& address, absl::Time now);
  // The first bytes have arrived. `is_finished`: no handshake follows; else the connection is
  // shaking.
  void Speak(Id id, bool is_finished, absl::Time now);
  // The connection has made a call.
  void Finish(Id id);
  // The connection was closed. Does nothing for an unknown id.
  void Leave(Id id);
  // The silent connections whose patience is over; they are forgotten, and the caller must close
  // them. Shaking connections count as finished after that time, since gRPC has closed the rest.
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

  // Removes the connection from the lists of its stage.
  void Forget(Id id, const Connection& connection);

  const DoorLimits limits_;
  std::map<Id, Connection> connections_;
  std::set<Id> silent_, shaking_;
  std::map<std::string, Address> addresses_;  // with unfinished connections
};

}  // namespace galley::listen
