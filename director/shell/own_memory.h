// OwnMemory: acts when the director's own memory is short (MemoryGuard): makes the core forget
// packages that no cook needs, or ends a cook.
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
    uint64_t bytes_max = 0;                    // limit for this process; 0: no limit
    std::function<uint64_t()> used = nullptr;  // null: the resident bytes of this process
  };
  // Everything in Deps outlives OwnMemory.
  struct Deps {
    const CookCore& core;
    Clock& clock;
    Inbox& inbox;
    const ActiveCooks& cooks;
    // Makes other threads return unused memory to the system.
    std::function<void()> give_back;
  };
  OwnMemory(const Options& options, Deps deps);

  // Checks the memory, at most once a second. Called repeatedly.
  void Look();

 private:
  std::vector<MemoryGuard::Cook> CooksThatRun() const;
  void LetGo();

  const Deps deps_;
  MemoryGuard guard_;
};

}  // namespace galley::director
