// Machines: on which machine a worker of another machine runs, as far as the director can tell.
//
// A worker's own word is its machine's name; the address from which it comes is harder to choose.
// So all that come from one address are on one machine, the name of which is what the first of them
// said. Those that come through a tunnel (from this machine's own address, or through a socket)
// have only their word. [farm] prove rests on it: see docs/farm.md, "Security".
//
// Threads: any.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/mutex.h"

namespace galley::director {

class Machines {
 public:
  static constexpr size_t kAddressesMax = 65'536;
  static constexpr size_t kNameBytesMax = 253;  // of a host

  // `peer`: as gRPC says it, "ipv4:10.0.0.7:4711".
  std::string Find(std::string_view told, std::string_view peer);

 private:
  base::Mutex mutex_;
  std::map<std::string, std::string, std::less<>> names_ GALLEY_GUARDED_BY(mutex_);  // by address
};

// The address of a peer without its port; empty: one that says nothing of a machine.
std::string_view AddressOf(std::string_view peer);

}  // namespace galley::director
