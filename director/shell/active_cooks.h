// ActiveCooks: the running cooks of a director: by number, from the request until the outcome is
// told, and by slot, while the core may send notices to the cook.
//
// Threads: any for the function All; everything else belongs to the loop.
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
#include "director/shell/active_cook.h"

namespace galley::director {

class ActiveCooks {
 public:
  // REQUIRES: no other cook has the same number.
  void Add(const std::shared_ptr<ActiveCook>& cook);
  // Called when the core has begun the cook, in `slot`.
  void TakeSlot(uint64_t number, CookSlot slot);
  // Called when the core sends no further notices to the cook. Returns the cook. REQUIRES: Add.
  std::shared_ptr<ActiveCook> LeaveSlot(uint64_t number);
  void Remove(uint64_t number);

  // Null: there is no such cook.
  ActiveCook* Find(uint64_t number) const;
  // Says whether the cook exists and the core is not done with it.
  bool IsRunning(uint64_t number) const {
    const ActiveCook* const cook = Find(number);
    return cook != nullptr && !cook->has_ended;
  }
  // Returns a cook for another thread, which may read only fields that never change. REQUIRES: the
  // cook exists.
  std::shared_ptr<const ActiveCook> Hold(uint64_t number) const { return cooks_.at(number); }
  bool empty() const { return cooks_.empty(); }
  bool IsAnyRetrying() const;
  // Clears ActiveCook::was_alone if several cooks run.
  void NoteCompany() const {
    for (const auto& [number, cook] : cooks_) cook->was_alone &= cooks_.size() == 1;
  }
  // Calls visit(ActiveCook&) for each cook, by number.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [number, cook] : cooks_) visit(*cook);
  }
  // Calls visit(ActiveCook&) for each cook in these slots; not for asks (kAsksBit).
  template <typename Visit>
  void ForEachOf(CookMask cooks, Visit visit) const {
    for (cooks &= kCooksBits; cooks != 0; cooks &= cooks - 1) {
      ActiveCook* const cook = by_slot_[static_cast<size_t>(std::countr_zero(cooks))];
      if (cook != nullptr) visit(*cook);
    }
  }
  // Tells each cook a passing warning without a package.
  void Warn(record::WarningKind kind, const std::string& text) const {
    ForEach([&](ActiveCook& cook) { cook.Warn(kind, text); });
  }
  // Returns all cooks. The caller may read only fields that never change.
  std::vector<std::shared_ptr<const ActiveCook>> All() const;

 private:
  std::map<uint64_t, std::shared_ptr<ActiveCook>> cooks_;
  std::array<ActiveCook*, kCooksMax> by_slot_ = {};  // null: none

  mutable base::Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<const ActiveCook>> all_
      GALLEY_GUARDED_BY(mutex_);  // guarded like cooks_
};

}  // namespace galley::director
