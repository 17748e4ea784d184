// PlainNet: TCP connections of the system, without TLS: the galley_vfs_net of whoever gives none.
//
// Threads: as galley_vfs_net.
#pragma once

#include "common/vfs/galley_vfs.h"

namespace galley::vfs {

// Has no context.
galley_vfs_net PlainNet();

}  // namespace galley::vfs
