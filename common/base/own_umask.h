// OwnUmask: reads the file mode creation mask of this process. umask(2) can only replace the mask,
// and files that other threads make meanwhile would have wrong modes.
//
// Threads: any.
#pragma once

#include <sys/types.h>

namespace galley {

// The mask; 022 if /proc does not tell.
mode_t OwnUmask();

}  // namespace galley
