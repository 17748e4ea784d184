// AttachLimits: how many workers that came by themselves may attach from one address: many at once,
// so that a whole farm behind one address comes in seconds, and after that a fixed number each
// second. A worker that comes too soon is told when to come again, each worker later than the
// worker before.
//
// Limit: addresses_max addresses are told apart; addresses that have not come for the longest time
// are forgotten first. Cost: O(log addresses).
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

  // nullopt: the worker may attach; otherwise: how long to wait before it comes again. `now`:
  // monotonic.
  std::optional<absl::Duration> Take(const std::string& address, absl::Time now);
  // Returns how many workers of this address were told to wait since the last answer; nullopt when
  // the last answer is less than a minute old. For a line in the log.
  std::optional<uint64_t> TellRefused(const std::string& address, absl::Time now);

 private:
  struct Address {
    double room = 0;
    absl::Time filled;     // when `room` was right
    absl::Time next;       // for the next worker that is told to come again
    uint64_t refused = 0;  // not reported yet
    absl::Time told = absl::InfinitePast();
  };

  Address& Find(const std::string& address, absl::Time now);

  const Options options_;
  std::map<std::string, Address> addresses_;
};

}  // namespace galley::director
