// OwnMemory: what a director does when its own memory is short (MemoryGuard): what no cook needs is
// forgotten when none runs, and a cook that does not fit ends.
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
    uint64_t bytes_max = 0;                    // that this process may use; 0: nobody looks
    std::function<uint64_t()> used = nullptr;  // null: as the system says
  };
  // All outlive it.
  struct Deps {
    const CookCore& core;
    Clock& clock;
    Inbox& inbox;
    const ActiveCooks& cooks;
    std::function<void()> give_back;  // has other threads give back what they hold for later
  };
  OwnMemory(const Options& options, Deps deps);

  // To be called again and again.
  void Look();

 private:
  std::vector<MemoryGuard::Cook> CooksThatRun() const;
  void LetGo();

  const Deps deps_;
  MemoryGuard guard_;
};

}  // namespace galley::director
