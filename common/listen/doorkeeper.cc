#include "common/listen/doorkeeper.h"

#include <algorithm>

namespace galley::listen {
namespace {

// gRPC counts from when it was handed the connection, and takes a moment to close it.
constexpr absl::Duration kSlack = absl::Seconds(1);

DoorLimits LimitsOf(uint64_t connections) {
  DoorLimits limits;
  limits.connections_max = static_cast<size_t>(connections);
  limits.unfinished_per_address_max = limits.connections_max / 2;
  return limits;
}

}  // namespace

DoorLimits LocalDoorLimits(uint64_t descriptors) {
  return LimitsOf(std::clamp<uint64_t>(descriptors / 4, 16, 1024));
}

DoorLimits FarmDoorLimits(uint64_t descriptors) {
  return LimitsOf(std::clamp<uint64_t>(descriptors / 2, 16, 16'384));
}

Doorkeeper::Arrival Doorkeeper::Arrive(Id id, const std::string& address, absl::Time now) {
  Arrival arrival;
  const auto known = addresses_.find(address);
  if (known != addresses_.end() &&
      known->second.silent.size() + known->second.shaking >= limits_.unfinished_per_address_max) {
    if (known->second.silent.empty()) return {.is_taken = false, .closed = std::nullopt};
    arrival.closed = *known->second.silent.begin();
  } else if (is_full()) {
    if (silent_.empty()) return {.is_taken = false, .closed = std::nullopt};
    arrival.closed = *silent_.begin();
  }
  if (arrival.closed.has_value()) Leave(*arrival.closed);
  connections_[id] = {.stage = Stage::kSilent, .address = address, .since = now};
  silent_.insert(id);
  addresses_[address].silent.insert(id);
  return arrival;
}

void Doorkeeper::Forget(Id id, const Connection& connection) {
  if (connection.stage == Stage::kFinished) return;
  const auto address = addresses_.find(connection.address);
  if (connection.stage == Stage::kSilent) {
    silent_.erase(id);
    address->second.silent.erase(id);
  } else {
    shaking_.erase(id);
    --address->second.shaking;
  }
  if (address->second.silent.empty() && address->second.shaking == 0) addresses_.erase(address);
}

void Doorkeeper::Speak(Id id, bool is_finished, absl::Time now) {
  const auto at = connections_.find(id);
  if (at == connections_.end() || at->second.stage != Stage::kSilent) return;
  Connection& connection = at->second;
  Forget(id, connection);
  connection.stage = is_finished ? Stage::kFinished : Stage::kShaking;
  connection.since = now;
  if (is_finished) return;
  shaking_.insert(id);
  ++addresses_[connection.address].shaking;
}

void Doorkeeper::Finish(Id id) {
  const auto at = connections_.find(id);
  if (at == connections_.end()) return;
  Forget(id, at->second);
  at->second.stage = Stage::kFinished;
}

void Doorkeeper::Leave(Id id) {
  const auto at = connections_.find(id);
  if (at == connections_.end()) return;
  Forget(id, at->second);
  connections_.erase(at);
}

std::vector<Doorkeeper::Id> Doorkeeper::Overdue(absl::Time now) {
  std::vector<Id> overdue, finished;
  for (const Id id : silent_) {
    if (now - connections_.at(id).since < limits_.patience) break;  // later ones are younger
    overdue.push_back(id);
  }
  for (const Id id : shaking_) {
    if (now - connections_.at(id).since >= limits_.patience + kSlack) finished.push_back(id);
  }
  for (const Id id : overdue) Leave(id);
  for (const Id id : finished) Finish(id);
  return overdue;
}

}  // namespace galley::listen
