// System calls on the sockets of a server.
// Threads: any.
#pragma once

#include <string>

#include "common/base/file.h"

namespace galley::director {

struct AcceptedSocket {
  FileDescriptor socket;      // connected, does not block; invalid: there is none
  std::string peer;           // "127.0.0.1", "::1"
  bool is_exhausted = false;  // there is none, because descriptors or memory are used up
};

// Accepts a connection of a listening socket that does not block.
AcceptedSocket AcceptFrom(int listening);

// Whether the other side has said that it sends no more. Unlike a read, this sees it behind bytes
// that nobody has read as yet.
bool HasPeerEnded(int socket);

}  // namespace galley::director
