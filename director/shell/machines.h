// Machines: on which machine a worker of another machine runs, as far as the director can tell.
//
// A worker says the name of its machine; the address from which the worker comes is harder to
// choose. So all workers from one address are on one machine, which has the name that the first of
// the workers said. For workers that come through a tunnel (from this machine's own address, or
// through a socket) there is only their word. [farm] prove rests on Machines: see docs/farm.md,
// "Security".
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
  static constexpr size_t kNameBytesMax = 253;  // of a host's name

  // `peer`: in gRPC's form, "ipv4:10.0.0.7:4711".
  std::string Find(std::string_view told, std::string_view peer);

 private:
  base::Mutex mutex_;
  std::map<std::string, std::string, std::less<>> names_ GALLEY_GUARDED_BY(mutex_);  // by address
};

// Returns the address of a peer without its port; empty: the peer says nothing of a machine.
std::string_view AddressOf(std::string_view peer);

}  // namespace galley::director
