// RootDifferences: CompareRoots for devices, a few at a time, so that they do not take the threads
// of those who wait for files. Devices that follow one project ask for the same two roots: what the
// last comparisons came to is remembered.
//
// Threads: any; End: one.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/tree/tree.h"
#include "director/resident/device_threads.h"
#include "director/resident/timed_calls.h"
#include "director/serve/device_calls.h"

namespace galley::director {

class RootDifferences {
 public:
  static constexpr size_t kAtATime = 2;
  static constexpr size_t kKeptMax = 8;  // each of at most 20,000 paths

  // `read`: as tree::ReadBlob, of the store. `pool`: of kAtATime threads.
  RootDifferences(tree::ReadBlob read, std::unique_ptr<EndingTasks> pool);

  // DeviceCalls::CompareRoots.
  DeviceCallPtr Compare(const Digest& older, const Digest& newer, DeviceCalls::OnDifference answer);
  // Refuses all calls, now and later, but those that are answered at once; waits for their work.
  void End(const DeviceRefusal& refusal) { timed_.End(refusal); }

 private:
  struct Kept {
    Digest older, newer;
    RootDifference difference;
  };

  DifferenceAnswer AnswerOf(const Digest& older, const Digest& newer, const Cancellation& stop);
  std::optional<RootDifference> FindKept(const Digest& older, const Digest& newer) const;

  const tree::ReadBlob read_;
  mutable base::Mutex mutex_;
  std::deque<Kept> kept_ GALLEY_GUARDED_BY(mutex_);  // the newest one first
  TimedCalls timed_;
};

}  // namespace galley::director
