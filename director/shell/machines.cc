#include "director/shell/machines.h"

#include "common/base/utf8.h"

namespace galley::director {

std::string_view AddressOf(std::string_view peer) {
  const size_t scheme = peer.find(':');
  const std::string_view kind = peer.substr(0, scheme);
  if (scheme == peer.npos || (kind != "ipv4" && kind != "ipv6")) return {};
  const size_t port = peer.rfind(':');
  if (port <= scheme) return {};
  const std::string_view address = peer.substr(scheme + 1, port - scheme - 1);
  const bool is_own = address.starts_with("127.") || address == "[::1]" || address == "%5B::1%5D" ||
                      address.find("::ffff:127.") != address.npos;
  return is_own ? std::string_view() : address;
}

std::string Machines::Find(std::string_view told, std::string_view peer) {
  std::string name = IsUtf8(told) ? std::string(told.substr(0, kNameBytesMax)) : "";
  if (!IsUtf8(name) || name.empty()) name = "a machine without a name";
  const std::string_view address = AddressOf(peer);
  if (address.empty()) return name;
  const base::MutexLock lock(mutex_);
  if (const auto found = names_.find(address); found != names_.end()) return found->second;
  if (names_.size() < kAddressesMax) names_.emplace(std::string(address), name);
  return name;
}

}  // namespace galley::director
