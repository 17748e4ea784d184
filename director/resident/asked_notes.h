// AskedNotes: the packages that devices were given, from the threads of their calls to the turns,
// in batches, so that a hit costs no turn and, mostly, no lock.
//
// A package that is asked for again in the same batch is noted once. A package may be missed: when
// a batch is full, or when another package has the same hash.
//
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "director/devices/ahead_plan.h"

namespace galley::director {

class AskedNotes {
 public:
  static constexpr size_t kBatchMax = 4'096;

  // True: a batch has begun, so somebody has to Take it soon.
  bool Note(std::string_view platform, std::string_view package) {
    const uint64_t hash = HashOf(platform, package);
    const uint64_t mark = hash ^ (batch_.load(std::memory_order_relaxed) * kOddNumber);
    std::atomic<uint64_t>& seen = seen_[hash % seen_.size()];
    if (seen.load(std::memory_order_relaxed) == mark) return false;
    base::MutexLock lock(mutex_);
    if (noted_.size() >= kBatchMax) return false;
    seen.store(mark, std::memory_order_relaxed);
    noted_.push_back({.package = std::string(package), .platform = std::string(platform)});
    return noted_.size() == 1;
  }
  // In the order of Note.
  std::vector<devices::AheadKey> Take() {
    base::MutexLock lock(mutex_);
    batch_.fetch_add(1, std::memory_order_relaxed);
    return std::exchange(noted_, {});
  }

 private:
  static constexpr uint64_t kOddNumber = 0x9E37'79B9'7F4A'7C15;  // spreads the number of the batch

  static uint64_t HashOf(std::string_view platform, std::string_view package) {
    const std::hash<std::string_view> hash;
    return hash(package) * 31 + hash(platform);
  }

  std::atomic<uint64_t> batch_ = 1;
  std::array<std::atomic<uint64_t>, 4'096> seen_{};  // marks of this batch and of earlier ones
  base::Mutex mutex_;
  std::vector<devices::AheadKey> noted_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
