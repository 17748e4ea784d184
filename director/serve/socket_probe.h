// ProbeSocket: whether a director listens where its socket should be.
//
// Threads: none.
#pragma once

#include <sys/types.h>

#include <string>

namespace galley::director {

enum class Listening {
  kNobody,  // also: a socket that a dead director left
  kSomebody,
  kForbidden,  // the socket belongs to another user
};

struct SocketProbe {
  Listening listening = Listening::kNobody;
  std::string path;   // of the socket itself: `socket_path` may be a link to a shorter one
  pid_t process = 0;  // who listens; 0: nobody, or that cannot be known now
};

SocketProbe ProbeSocket(const std::string& socket_path);

}  // namespace galley::director
