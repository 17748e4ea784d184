// Machines: identifies the machine of a worker, as far as the director can tell.
//
// A worker tells the name of its machine, but its address is harder to forge. So all workers from
// one address are on one machine, with the name that the first of them told. A worker that comes
// through a tunnel, from this machine's own address or through a socket, is on the machine that it
// tells. [farm] prove relies on Machines: see docs/farm.md, "Security".
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

  // Returns the name of the machine. `told`: the worker's name of it; `peer`: in gRPC's form,
  // "ipv4:10.0.0.7:4711".
  std::string Find(std::string_view told, std::string_view peer);

 private:
  base::Mutex mutex_;
  std::map<std::string, std::string, std::less<>> names_ GALLEY_GUARDED_BY(mutex_);  // by address
};

// Returns the address of a peer without its port; empty: this machine, or a socket.
std::string_view AddressOf(std::string_view peer);

}  // namespace galley::director
