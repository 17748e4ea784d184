// ReadyLine: since when packages wait for a worker, in the order in which they began to wait.
//
// The place of a package that stops waiting is removed when it comes to the front, or when most
// places are of such packages. So a change costs O(1), amortised, and the line is at most twice as
// long as its queue, plus kSpare.
// Threads: none; owned by PackageQueues.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "director/core/ids.h"

namespace galley::director {

struct ReadyPlace {
  PackageId package;
  absl::Time since;
};

class ReadyLine {
 public:
  static constexpr size_t kSpare = 1024;

  // The package waits from `now` on. `waits(place)` says whether the place's package has waited
  // since place.since. `waiting`: how many packages wait, this one included. REQUIRES: `now` does
  // not go back.
  template <typename Waits>
  void Add(PackageId package, absl::Time now, size_t waiting, const Waits& waits) {
    if (line_.size() > 2 * waiting + kSpare)
      std::erase_if(line_, [&](const ReadyPlace& place) { return !waits(place); });
    line_.push_back({package, now});
  }
  // Since when the first package waits; nullopt: no package waits.
  template <typename Waits>
  std::optional<absl::Time> First(const Waits& waits) {
    while (!line_.empty() && !waits(line_.front())) line_.pop_front();
    if (line_.empty()) return std::nullopt;
    return line_.front().since;
  }
  size_t size() const { return line_.size(); }

 private:
  std::deque<ReadyPlace> line_;
};

}  // namespace galley::director
