// OwnUmask: the file mode creation mask of this process, without changing it: umask(2) can only set
// one, and what other threads make meanwhile would have other modes.
//
// Threads: any.
#pragma once

#include <sys/types.h>

namespace galley {

// 022 where /proc does not tell.
mode_t OwnUmask();

}  // namespace galley
