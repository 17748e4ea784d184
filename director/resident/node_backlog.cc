#include "director/resident/node_backlog.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace galley::director {

void NodeBacklog::Add(Entry entry, absl::Time now) {
  entries_.push_back(std::move(entry));
  added_ = now;
}

std::vector<NodeBacklog::Entry> NodeBacklog::Take(absl::Time now) {
  if (now < due_at()) return {};
  const bool is_quiet = now >= added_ + kQuiet;
  const size_t count = std::min(is_quiet ? kBatchMax : RoomAt(now), entries_.size());
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<Entry> taken(std::make_move_iterator(entries_.begin()), std::make_move_iterator(end));
  entries_.erase(entries_.begin(), end);
  taken_ = now;
  if (!is_quiet) full_at_ = std::max(full_at_, now) + kNodeTime * static_cast<int64_t>(count);
  return taken;
}

// Nodes are made kRate at a time, because a growth of the tree has a cost of its own.
absl::Time NodeBacklog::due_at() const {
  if (entries_.empty()) return absl::InfiniteFuture();
  const size_t wanted = std::min(entries_.size(), static_cast<size_t>(kRate));
  const absl::Time has_room = full_at_ - kNodeTime * static_cast<int64_t>(kBurst - wanted);
  return std::max(std::min(has_room, added_ + kQuiet), taken_ + kBatchInterval);
}

size_t NodeBacklog::RoomAt(absl::Time now) const {
  const absl::Duration missing = std::max(full_at_ - now, absl::ZeroDuration());
  const int64_t used = (missing + kNodeTime - absl::Nanoseconds(1)) / kNodeTime;
  return kBurst - std::min(kBurst, static_cast<size_t>(used));
}

}  // namespace galley::director
