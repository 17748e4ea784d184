#include "worker/walls/socket_answers.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "common/base/status_macros.h"

namespace galley::worker {
namespace {

// C libraries ask this server for users and hosts, if it is there.
constexpr std::string_view kNameServers[] = {"/var/run/nscd/socket", "/run/nscd/socket"};

}  // namespace

CallAnswer SocketAnswers::Talk(const WaitingCall& call) {
  const WatchedCall& watched = *call.watched;
  if (watched.flags >= 0) return TalkTo(call, call.At(watched.path), call.At(watched.flags));
  msghdr message{};
  if (!call.ReadMemory(call.At(watched.path), &message, sizeof(message))) return 0;
  return TalkTo(call, reinterpret_cast<uint64_t>(message.msg_name), message.msg_namelen);  // NOLINT
}

CallAnswer SocketAnswers::TalkTo(const WaitingCall& call, uint64_t address, uint64_t size_bytes) {
  sockaddr_un to{};
  const size_t size = std::min<uint64_t>(size_bytes, sizeof(to));
  if (address == 0 || size < sizeof(to.sun_family) || !call.ReadMemory(address, &to, size) ||
      !call.Waits())
    return 0;
  const bool makes = call.watched->number == static_cast<uint32_t>(SYS_bind);
  const bool is_of_machine = to.sun_family == AF_UNSPEC || to.sun_family == AF_NETLINK;
  if (is_of_machine || (makes && to.sun_family != AF_UNIX)) return 0;
  constexpr std::string_view kTalks = "talks to a server, which may be another one, or none, here";
  if (to.sun_family != AF_UNIX) return CannotBeWatched(kTalks);
  const std::string_view name(to.sun_path, size - offsetof(sockaddr_un, sun_path));
  if (name.empty()) return 0;  // the kernel chooses a name
  if (name.front() == '\0') {
    if (makes) servers_.emplace(name);
    if (makes || servers_.contains(name)) return 0;
    return CannotBeWatched(kTalks);
  }
  const std::string path(name.substr(0, name.find('\0')));
  if (std::find(std::begin(kNameServers), std::end(kNameServers), path) != std::end(kNameServers))
    return ENOENT;
  ASSIGN_OR_RETURN(const Place place, deps_.paths.WalkFrom(call, "", path, true));
  if (makes) {
    if (deps_.program.IsGuarded(place.path) && !place.exists) return EROFS;
    deps_.looks.Makes(call.process, place);
    return 0;
  }
  if (place.exists && !deps_.looks.IsOwn(place.path)) return CannotBeWatched(kTalks);
  deps_.looks.Note(place, false);
  return 0;
}

}  // namespace galley::worker
