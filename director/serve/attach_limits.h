// AttachLimits: how many workers that came by themselves may attach from one address: many at once,
// so that a whole farm behind one address comes in seconds, and from then on so many a second.
// Whoever comes too soon is told when to come again, each one later than the one before.
//
// Limit: addresses_max addresses are told apart; those that have not come for the longest time are
// forgotten first. Cost: O(log addresses).
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

  // nullopt: it may attach; else it is to come again after so long. `now`: monotonic.
  std::optional<absl::Duration> Take(const std::string& address, absl::Time now);
  // Of those of this address that were told to wait: how many since this was asked last, but
  // nullopt when it was asked less than a minute ago. For a line in the log.
  std::optional<uint64_t> TellRefused(const std::string& address, absl::Time now);

 private:
  struct Address {
    double room = 0;
    absl::Time filled;     // when `room` was right
    absl::Time next;       // for whom is told to come again next
    uint64_t refused = 0;  // not told of yet
    absl::Time told = absl::InfinitePast();
  };

  Address& Find(const std::string& address, absl::Time now);

  const Options options_;
  std::map<std::string, Address> addresses_;
};

}  // namespace galley::director
