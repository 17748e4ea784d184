#include "director/shell/cook_seats.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace galley::director {

void CookSeats::Add(const std::shared_ptr<CookSeat>& seat) {
  GALLEY_CHECK(seats_.emplace(seat->number(), seat).second);
  base::MutexLock lock(mutex_);
  all_.emplace(seat->number(), seat);
}

void CookSeats::Sit(uint64_t cook, CookSlot slot) {
  CookSeat* const seat = Find(cook);
  seat->slot = slot;
  by_slot_[slot] = seat;
}

std::shared_ptr<CookSeat> CookSeats::Leave(uint64_t cook) {
  std::shared_ptr<CookSeat> seat = seats_.at(cook);
  if (seat->slot) by_slot_[*seat->slot] = nullptr;
  return seat;
}

void CookSeats::Remove(uint64_t cook) {
  seats_.erase(cook);
  base::MutexLock lock(mutex_);
  all_.erase(cook);
}

CookSeat* CookSeats::Find(uint64_t cook) const {
  const auto found = seats_.find(cook);
  return found == seats_.end() ? nullptr : found->second.get();
}

bool CookSeats::IsAnyRetrying() const {
  return std::any_of(seats_.begin(), seats_.end(),
                     [](const auto& one) { return one.second->order.retry_failed; });
}

std::vector<std::shared_ptr<const CookSeat>> CookSeats::All() const {
  std::vector<std::shared_ptr<const CookSeat>> all;
  base::MutexLock lock(mutex_);
  for (const auto& [number, seat] : all_) all.push_back(seat);
  return all;
}

}  // namespace galley::director
