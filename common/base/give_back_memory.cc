#include "common/base/give_back_memory.h"

#include <malloc.h>
#include <mimalloc.h>

// Programs are linked with mimalloc (galley_allocator), tests and sanitizer builds are not.
#pragma weak mi_collect
#pragma weak mi_option_set
#pragma weak mi_option_set_default
#pragma weak mi_option_get

namespace galley {

void GiveBackMemory() {
  if (mi_collect != nullptr) mi_collect(/*force=*/true);
#ifdef __GLIBC__
  ::malloc_trim(0);  // libraries that bring their own use of it
#endif
}

void HoldFreeMemoryForASecond() {
  if (mi_option_set_default != nullptr) mi_option_set_default(mi_option_decommit_delay, 1'000);
}

void HoldNoFreeMemory(bool at_once) {
  if (mi_option_set == nullptr || mi_option_get == nullptr) return;
  static const long kAtTheStart = mi_option_get(mi_option_decommit_delay);
  mi_option_set(mi_option_decommit_delay, at_once ? 0 : kAtTheStart);
}

}  // namespace galley
