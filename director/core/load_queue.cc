#include "director/core/load_queue.h"

#include "common/base/status_macros.h"

namespace galley::director {

void LoadQueue::Push(PackageId package, const LoadOrder& order) {
  const Key key(-static_cast<int>(order.urgency), order.was_loaded, order.rank, package);
  if (const auto found = keys_.find(package); found != keys_.end()) {
    if (found->second == key) return;
    order_.erase(found->second);
  }
  order_.insert(key);
  keys_[package] = key;
}

void LoadQueue::Remove(PackageId package) {
  const auto found = keys_.find(package);
  if (found == keys_.end()) return;
  order_.erase(found->second);
  keys_.erase(found);
}

PackageId LoadQueue::Top() const {
  GALLEY_CHECK(!order_.empty());
  return std::get<3>(*order_.begin());
}

Urgency LoadQueue::TopUrgency() const {
  GALLEY_CHECK(!order_.empty());
  return static_cast<Urgency>(-std::get<0>(*order_.begin()));
}

}  // namespace galley::director
