// SpentWindow: the sum of what was spent within the last hour, or day, and was not given back.
//
// Beyond entries_max the two oldest are taken together, and nothing of them can be given back: the
// sum is never too low.
// Cost: O(log n). Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "absl/time/time.h"

namespace galley::devices {

template <typename Amount>
class SpentWindow {
 public:
  SpentWindow(absl::Duration length, size_t entries_max)
      : length_(length), entries_max_(entries_max) {}

  // REQUIRES: `number` is above all numbers before, and `at` is no earlier than all times before.
  void Add(uint64_t number, absl::Time at, Amount amount) {
    entries_[number] = {at, amount};
    sum_ += amount;
    if (entries_.size() <= entries_max_) return;
    const auto first = entries_.begin();
    Entry& second = std::next(first)->second;
    second.amount += first->second.amount;
    second.is_sum = true;
    entries_.erase(first);
  }
  // Does nothing when the window does not have the number any more.
  void GiveBack(uint64_t number) {
    const auto found = entries_.find(number);
    if (found == entries_.end() || found->second.is_sum) return;
    sum_ -= found->second.amount;
    entries_.erase(found);
  }
  void Expire(absl::Time now) {
    while (!entries_.empty() && entries_.begin()->second.at + length_ <= now) {
      sum_ -= entries_.begin()->second.amount;
      entries_.erase(entries_.begin());
    }
  }
  // When Expire changes something next.
  absl::Time expires_at() const {
    return entries_.empty() ? absl::InfiniteFuture() : entries_.begin()->second.at + length_;
  }
  Amount sum() const { return sum_; }

 private:
  struct Entry {
    absl::Time at;
    Amount amount{};
    bool is_sum = false;  // of several
  };

  const absl::Duration length_;
  const size_t entries_max_;
  std::map<uint64_t, Entry> entries_;
  Amount sum_{};
};

}  // namespace galley::devices
