// ProbeSocket: checks whether a director listens at its socket, by connecting.
//
// Threads: none.
#pragma once

#include <sys/types.h>

#include <string>

namespace galley::director {

enum class Listening {
  kNobody,  // nobody listens, though a dead director may have left a socket
  kSomebody,
  kForbidden,  // the socket belongs to another user
};

struct SocketProbe {
  Listening listening = Listening::kNobody;
  std::string path;   // path of the socket; `socket_path` may be a link to it
  pid_t process = 0;  // the process that listens; 0: none, or unknown
};

SocketProbe ProbeSocket(const std::string& socket_path);

}  // namespace galley::director
