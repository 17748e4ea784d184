#include "director/devices/ahead_ledger.h"

#include <algorithm>

namespace galley::devices {

void AheadLedger::Make(const AheadKey& key, const Digest& action_key, const AheadCost& cost,
                       absl::Time now) {
  if (const auto before = entries_.find(key); before != entries_.end()) Waste(before);
  const uint64_t number = ++last_number_;
  const auto at = entries_.emplace(key, Entry{.number = number, .action_key = action_key}).first;
  made_[number] = {.at = now, .key = &at->first};
  slot_time_.Add(number, now, cost.slot_time);
  bytes_.Add(number, now, cost.bytes);
  ++counts_.made;
  counts_.bytes += cost.bytes;
  if (entries_.size() > limits_.entries_max) Waste(entries_.find(*made_.begin()->second.key));
}

void AheadLedger::Spend(absl::Duration slot_time, absl::Time now) {
  slot_time_.Add(++last_number_, now, slot_time);
}

void AheadLedger::Hit(Entries::iterator at) {
  slot_time_.GiveBack(at->second.number);
  bytes_.GiveBack(at->second.number);
  ++counts_.hits;
  made_.erase(at->second.number);
  entries_.erase(at);
}

void AheadLedger::Waste(Entries::iterator at) {
  ++counts_.wasted;
  made_.erase(at->second.number);
  entries_.erase(at);
}

void AheadLedger::Ask(const AheadKey& key, const std::optional<Digest>& action_key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return;
  const bool is_same = !at->second.is_in_doubt || action_key == at->second.action_key;
  is_same ? Hit(at) : Waste(at);
}

void AheadLedger::Settle(const AheadKey& key, const Digest& action_key) {
  const auto at = entries_.find(key);
  if (at == entries_.end() || !at->second.is_in_doubt) return;
  if (at->second.action_key == action_key) {
    at->second.is_in_doubt = false;
  } else {
    Waste(at);
  }
}

void AheadLedger::Change(std::span<const std::string> packages) {
  for (const std::string& package : packages) {
    auto at = entries_.lower_bound({package, ""});
    for (; at != entries_.end() && at->first.package == package; ++at)
      at->second.is_in_doubt = true;
  }
}

void AheadLedger::ChangeAll() {
  for (auto& [key, entry] : entries_) entry.is_in_doubt = true;
}

void AheadLedger::Expire(absl::Time now) {
  slot_time_.Expire(now);
  bytes_.Expire(now);
  while (!made_.empty() && made_.begin()->second.at + limits_.bytes_window <= now)
    Waste(entries_.find(*made_.begin()->second.key));
}

absl::Time AheadLedger::expires_at() const {
  return std::min(slot_time_.expires_at(), bytes_.expires_at());
}

bool AheadLedger::IsSlotTimeSpent(uint64_t slots) const {
  const auto counted = static_cast<int64_t>(std::max<uint64_t>(slots, 1));
  return slot_time_.sum() >= counted * limits_.slot_time_max;
}

}  // namespace galley::devices
