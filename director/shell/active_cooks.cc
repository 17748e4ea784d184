#include "director/shell/active_cooks.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace galley::director {

void ActiveCooks::Add(const std::shared_ptr<ActiveCook>& cook) {
  GALLEY_CHECK(cooks_.emplace(cook->number(), cook).second);
  base::MutexLock lock(mutex_);
  all_.emplace(cook->number(), cook);
}

void ActiveCooks::TakeSlot(uint64_t number, CookSlot slot) {
  ActiveCook* const cook = Find(number);
  cook->slot = slot;
  by_slot_[slot] = cook;
}

std::shared_ptr<ActiveCook> ActiveCooks::LeaveSlot(uint64_t number) {
  std::shared_ptr<ActiveCook> cook = cooks_.at(number);
  if (cook->slot) by_slot_[*cook->slot] = nullptr;
  return cook;
}

void ActiveCooks::Remove(uint64_t number) {
  cooks_.erase(number);
  base::MutexLock lock(mutex_);
  all_.erase(number);
}

ActiveCook* ActiveCooks::Find(uint64_t number) const {
  const auto found = cooks_.find(number);
  return found == cooks_.end() ? nullptr : found->second.get();
}

bool ActiveCooks::IsAnyRetrying() const {
  return std::ranges::any_of(cooks_,
                             [](const auto& one) { return one.second->order.retry_failed; });
}

std::vector<std::shared_ptr<const ActiveCook>> ActiveCooks::All() const {
  std::vector<std::shared_ptr<const ActiveCook>> all;
  base::MutexLock lock(mutex_);
  for (const auto& [number, cook] : all_) all.push_back(cook);
  return all;
}

}  // namespace galley::director
