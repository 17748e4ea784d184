// AttachLimits: a token bucket for each address from which workers attach that no launcher started.
// The burst lets a whole farm behind one address attach in seconds. A worker above the rate is told
// how long to wait, each worker longer than the worker before, up to wait_max.
//
// Limit: addresses_max addresses; the least recently seen address is forgotten first. Cost: O(log
// addresses), and O(addresses) when an address is forgotten.
// Threads: none; owned by WorkerService.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace galley::director {

// "ipv4:10.0.0.7:41234" -> "10.0.0.7", "ipv6:%5B::1%5D:80" -> "[::1]", "unix:" -> "this machine".
std::string AddressOfPeer(std::string_view peer);

class AttachLimits {
 public:
  struct Options {
    double burst = 1'500;
    double per_second = 20;
    absl::Duration wait_max = absl::Seconds(30);
    size_t addresses_max = 1'024;
  };
  AttachLimits() : AttachLimits(Options()) {}
  explicit AttachLimits(const Options& options) : options_(options) {}

  // Returns how long the worker has to wait before it attaches again; nullopt: it may attach now.
  // `now`: monotonic.
  std::optional<absl::Duration> Take(const std::string& address, absl::Time now);
  // Returns how many workers of this address were told to wait since TellRefused last returned a
  // number, for the log; nullopt: none, or less than a minute has passed.
  std::optional<uint64_t> TellRefused(const std::string& address, absl::Time now);

 private:
  struct Address {
    double room = 0;
    absl::Time filled;     // when `room` was computed
    absl::Time next;       // when the last refused worker may attach
    uint64_t refused = 0;  // not reported yet
    absl::Time told = absl::InfinitePast();
  };

  Address& Find(const std::string& address, absl::Time now);

  const Options options_;
  std::map<std::string, Address> addresses_;
};

}  // namespace galley::director
