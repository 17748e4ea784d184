// Agenda: the work that the core still has to do without another event. A step takes items until
// its units are used up. An item is never split; it costs at most the references of one package.
//
// Order: urgency, highest first; among equals first come, first served.
// Cost: O(1).
// Threads: none; owned by Graph.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "absl/functional/function_ref.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/packages/monitor.h"
#include "director/core/packages/platforms.h"

namespace galley::director {

struct AgendaItem {
  enum class Kind : uint8_t {
    kBegin,    // a package joined the cook, or must be looked up anew
    kExplore,  // follow the references of the result in a slot
    kWake,     // something that the package waits for has changed
    kSpread,   // another cook wants the package, and all that it refers to
  };
  Kind kind = Kind::kBegin;
  PackageId package;
  PlatformIndex platform = 0;  // kExplore
};

class Agenda {
 public:
  void Push(Urgency urgency, const AgendaItem& item) {
    lines_[static_cast<size_t>(static_cast<int>(urgency) - static_cast<int>(Urgency::kSpare))]
        .push_back(item);
    ++size_;
  }
  // REQUIRES: not empty.
  AgendaItem Pop();
  bool empty() const { return size_ == 0; }
  void Clear();
  // Platforms have new numbers. Drops the items of removed platforms, and calls `gone` for each.
  void Remap(const PlatformMap& map, absl::FunctionRef<void(PackageId)> gone);

 private:
  std::array<std::deque<AgendaItem>, kUrgencyCount + 1> lines_;  // kSpare too
  size_t size_ = 0;
};

}  // namespace galley::director
