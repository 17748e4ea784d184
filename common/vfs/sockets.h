// PlainNet: TCP connections of the system, without TLS: the galley_vfs_net of whoever gives none.
//
// Threads: as galley_vfs_net.
#pragma once

#include "common/vfs/galley_vfs.h"

namespace galley::vfs {

// The context is null. It may be set to an AddressBook, which outlives the connections: then a
// name is looked up once, and not for each connection.
galley_vfs_net PlainNet();

}  // namespace galley::vfs
