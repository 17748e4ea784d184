#include "director/core/packages/save_queue.h"

namespace galley::director {

void SaveQueue::Push(PackageId package, uint32_t group, const SaveOrder& order) {
  Remove(package);
  const Key key(-static_cast<int>(order.urgency), -order.chain, order.rank, order.name, package);
  lines_[group].insert(key);
  keys_.emplace(package, std::make_pair(group, key));
}

void SaveQueue::Remove(PackageId package) {
  const auto found = keys_.find(package);
  if (found == keys_.end()) return;
  const auto line = lines_.find(found->second.first);
  line->second.erase(found->second.second);
  if (line->second.empty()) lines_.erase(line);
  keys_.erase(found);
}

}  // namespace galley::director
