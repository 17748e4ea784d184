// CookSeats: the cooks at a DirectorShell: by number from when they are asked for until their
// outcome is told, and by slot while the core has notices for them.
//
// Threads: All: any; the rest is the loop's.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "common/base/mutex.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/shell/cook_seat.h"

namespace galley::director {

class CookSeats {
 public:
  // REQUIRES: no other cook has its number.
  void Add(const std::shared_ptr<CookSeat>& seat);
  // The core has begun with the cook.
  void Sit(uint64_t cook, CookSlot slot);
  // No notice comes for the cook any more. Returns its seat. REQUIRES: Add.
  std::shared_ptr<CookSeat> Leave(uint64_t cook);
  void Remove(uint64_t cook);

  // Null: none.
  CookSeat* Find(uint64_t cook) const;
  // REQUIRES: Find. Other threads read only what never changes.
  std::shared_ptr<const CookSeat> Hold(uint64_t cook) const { return seats_.at(cook); }
  bool empty() const { return seats_.empty(); }
  bool IsAnyRetrying() const;
  // Cooks that are there together are not alone (CookSeat::was_alone).
  void NoteCompany() const {
    for (const auto& [number, seat] : seats_) seat->was_alone &= seats_.size() == 1;
  }
  // visit(CookSeat&) for each, by number.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [number, seat] : seats_) visit(*seat);
  }
  // The same for those in these slots.
  template <typename Visit>
  void ForEachOf(CookMask cooks, Visit visit) const {
    for (; cooks != 0; cooks &= cooks - 1) {
      CookSeat* const seat = by_slot_[static_cast<size_t>(std::countr_zero(cooks))];
      if (seat != nullptr) visit(*seat);
    }
  }
  void Tell(const ToldInOrder::Tell& tell) const {
    ForEach([&](CookSeat& seat) { seat.told.Add(tell); });
  }
  // Of these only what never changes may be read.
  std::vector<std::shared_ptr<const CookSeat>> All() const;

 private:
  std::map<uint64_t, std::shared_ptr<CookSeat>> seats_;
  std::array<CookSeat*, kCooksMax> by_slot_ = {};  // null: none

  mutable base::Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<const CookSeat>> all_ GALLEY_GUARDED_BY(mutex_);  // as seats_
};

}  // namespace galley::director
