#include "director/core/packages/load_queue.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "common/base/status_macros.h"

namespace galley::director {

int LengthOf(absl::Duration expected) {
  constexpr absl::Duration kShort = absl::Milliseconds(32);
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(
      std::max<int64_t>(absl::IDivDuration(expected, kShort, &expected), 0))));
}

void LoadQueue::Push(PackageId package, const LoadOrder& order) {
  const int comes_last = (order.runs_alone ? 1 : 0) + (order.urgency == Urgency::kSpare ? 1 : 0);
  const Key key(comes_last, -static_cast<int>(order.urgency), order.was_loaded, -order.length,
                order.rank, package);
  if (const auto found = keys_.find(package); found != keys_.end()) {
    if (found->second == key) return;
    order_.erase(found->second);
    spare_ -= IsSpare(found->second);
  }
  order_.insert(key);
  keys_[package] = key;
  spare_ += IsSpare(key);
}

void LoadQueue::Remove(PackageId package) {
  const auto found = keys_.find(package);
  if (found == keys_.end()) return;
  order_.erase(found->second);
  spare_ -= IsSpare(found->second);
  keys_.erase(found);
}

PackageId LoadQueue::Top() const {
  GALLEY_CHECK(!order_.empty());
  return std::get<5>(*order_.begin());
}

PackageId LoadQueue::TopAtMost(Urgency urgency) const {
  const auto at =
      order_.lower_bound(Key(0, -static_cast<int>(urgency), false, std::numeric_limits<int>::min(),
                             std::numeric_limits<Rank>::min(), PackageId(0)));
  return at == order_.end() || std::get<0>(*at) != 0 ? PackageId() : std::get<5>(*at);
}

Urgency LoadQueue::TopUrgency() const {
  GALLEY_CHECK(!order_.empty());
  return static_cast<Urgency>(-std::get<1>(*order_.begin()));
}

}  // namespace galley::director
