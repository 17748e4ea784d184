#include "common/base/give_back_memory.h"

#include <malloc.h>

// Programs are linked with mimalloc (galley_allocator), tests and sanitizer builds are not.
extern "C" void mi_collect(bool force) noexcept __attribute__((weak));

namespace galley {

void GiveBackMemory() {
  if (mi_collect != nullptr) mi_collect(/*force=*/true);
#ifdef __GLIBC__
  ::malloc_trim(0);  // libraries that bring their own use of it
#endif
}

}  // namespace galley
