// ProbeSocket: whether a director listens where its socket should be.
//
// Threads: none.
#pragma once

#include <string>

namespace galley::director {

enum class Listening {
  kNobody,  // also: a socket that a dead director left
  kSomebody,
  kForbidden,  // the socket belongs to another user
};

struct SocketProbe {
  Listening listening = Listening::kNobody;
  std::string path;  // of the socket itself: `socket_path` may be a link to a shorter one
};

SocketProbe ProbeSocket(const std::string& socket_path);

}  // namespace galley::director
