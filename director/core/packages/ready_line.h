// ReadyLine: since when packages wait for a worker, in the order in which they began to.
//
// A package that stops waiting is not taken out at once, but when its place comes to the front, or
// when most of the line are such: so a change costs O(1), and the line is never longer than twice
// the queue that it goes with, and kSpare.
// Threads: none; owned by Lifecycle.
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

  // The package waits from `now` on. `waits(place)`: the package waits, and has since then.
  // `waiting`: how many do, with this one. REQUIRES: `now` does not go back.
  template <typename Waits>
  void Add(PackageId package, absl::Time now, size_t waiting, const Waits& waits) {
    if (line_.size() > 2 * waiting + kSpare)
      std::erase_if(line_, [&](const ReadyPlace& place) { return !waits(place); });
    line_.push_back({package, now});
  }
  // Since when the first one waits; nullopt: none does.
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
