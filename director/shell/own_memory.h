// OwnMemory: what a director does when its own memory is short (MemoryGuard): when no cook runs, it
// forgets what no cook needs; a cook that does not fit ends.
//
// Threads: the loop's.
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/clock.h"
#include "director/core/cook_core.h"
#include "director/shell/active_cooks.h"
#include "director/shell/inbox.h"
#include "director/shell/memory_guard.h"

namespace galley::director {

class OwnMemory {
 public:
  struct Options {
    uint64_t bytes_max = 0;                    // limit for this process; 0: nobody looks
    std::function<uint64_t()> used = nullptr;  // null: as the system says
  };
  // Everything in Deps outlives OwnMemory.
  struct Deps {
    const CookCore& core;
    Clock& clock;
    Inbox& inbox;
    const ActiveCooks& cooks;
    // Makes other threads give back memory that they hold for later.
    std::function<void()> give_back;
  };
  OwnMemory(const Options& options, Deps deps);

  // Called again and again.
  void Look();

 private:
  std::vector<MemoryGuard::Cook> CooksThatRun() const;
  void LetGo();

  const Deps deps_;
  MemoryGuard guard_;
};

}  // namespace galley::director
