#include "director/shell/own_memory.h"

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "common/base/child_process.h"
#include "common/base/give_back_memory.h"
#include "common/base/log.h"

namespace galley::director {

OwnMemory::OwnMemory(const Options& options, Deps deps)
    : deps_(std::move(deps)),
      guard_(options.bytes_max,
             {.used = options.used ? options.used : [] { return ResidentBytes(::getpid()); },
              .trim = GiveBackMemory,
              .set_short = HoldNoFreeMemory}) {}

// Leaves out a cook that publishes, because its memory is about to be given back.
std::vector<MemoryGuard::Cook> OwnMemory::CooksThatRun() const {
  std::vector<MemoryGuard::Cook> cooks;
  deps_.cooks.ForEach([&](const ActiveCook& cook) {
    if (!cook.slot || cook.has_ended || deps_.core.is_publishing(cook.number())) return;
    const CookRequested& request = cook.order.request;
    cooks.push_back({.number = cook.number(),
                     .urgency_class = request.of_class,
                     .packages = deps_.core.counters(cook.number()).in_cook,
                     .asked = request.selected.size()});
  });
  return cooks;
}

void OwnMemory::Look() {
  const std::vector<MemoryGuard::Cook> cooks = CooksThatRun();
  switch (guard_.Look(deps_.clock.Monotonic(), !cooks.empty())) {
    case MemoryGuard::Want::kNothing:
      return;
    case MemoryGuard::Want::kLetGo:
      return LetGo();
    case MemoryGuard::Want::kEndACook: {
      const MemoryGuard::Cook& cook = MemoryGuard::Choose(cooks);
      const std::string reason = guard_.ReasonFor(cook, cooks);
      LogWarning("cook={} {}", cook.number, reason);
      return deps_.inbox.HandleNow(CookUnfit{cook.number, reason});
    }
  }
}

void OwnMemory::LetGo() {
  const size_t known = deps_.core.package_count();
  deps_.inbox.HandleNow(MemoryShort{});
  const size_t left = deps_.core.package_count();
  if (left == known) return;
  LogInfo("memory is short: what was known of {} packages is let go", known - left);
  // The allocator keeps free memory for each thread.
  GiveBackMemory();
  deps_.give_back();
}

}  // namespace galley::director
