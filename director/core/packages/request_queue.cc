#include "director/core/packages/request_queue.h"

#include "common/base/status_macros.h"

namespace galley::director {
namespace {

// When the queue is empty, the room of a larger one is given back.
constexpr size_t kKeysKeptMax = 4096;

}  // namespace

void RequestQueue::Push(PackageId package, Urgency urgency) {
  uint64_t arrival = 0;
  if (const auto found = keys_.find(package); found != keys_.end()) {
    arrival = std::get<1>(found->second);
    order_.erase(found->second);
  } else {
    arrival = arrivals_++;
  }
  const Key key(-static_cast<int>(urgency), arrival, package);
  order_.insert(key);
  keys_[package] = key;
}

void RequestQueue::Remove(PackageId package) {
  const auto found = keys_.find(package);
  if (found == keys_.end()) return;
  order_.erase(found->second);
  keys_.erase(found);
  if (keys_.empty() && keys_.capacity() > kKeysKeptMax) keys_ = {};
}

PackageId RequestQueue::Top() const {
  GALLEY_CHECK(!order_.empty());
  return std::get<2>(*order_.begin());
}

}  // namespace galley::director
