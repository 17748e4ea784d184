// FiguresBoard: what the shells of a director counted, for whoever asks for metrics. It outlives
// them: a shell begins anew when the workers do, and its counts go on from those before.
//
// A shell's loop writes here now and then (DirectorShell): what is read may be half a second old.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "common/base/mutex.h"
#include "director/core/core_figures.h"

namespace galley::director {

struct ShellFigures {
  CoreFigures core;
  uint64_t bytes_stored = 0, bytes_deduplicated = 0;  // of results that were committed
};

class FiguresBoard {
 public:
  // A shell is over: what it wrote last stays counted, and nothing of it waits any more.
  void EndShell() {
    base::MutexLock lock(mutex_);
    Add(last_, before_);
    last_ = {};
  }
  // All that the present shell counted.
  void Write(ShellFigures figures) {
    base::MutexLock lock(mutex_);
    last_ = std::move(figures);
  }
  ShellFigures Read() const {
    base::MutexLock lock(mutex_);
    ShellFigures sum = last_;
    Add(before_, sum);
    return sum;
  }

  // Bytes that workers without our files got from here, and brought.
  void CountFetched(uint64_t bytes) { fetched_.fetch_add(bytes, std::memory_order_relaxed); }
  void CountUploaded(uint64_t bytes) { uploaded_.fetch_add(bytes, std::memory_order_relaxed); }
  uint64_t fetched() const { return fetched_; }
  uint64_t uploaded() const { return uploaded_; }

 private:
  static void Add(const ShellFigures& from, ShellFigures& to) {
    to.core.AddCounts(from.core);
    to.bytes_stored += from.bytes_stored;
    to.bytes_deduplicated += from.bytes_deduplicated;
  }

  mutable base::Mutex mutex_;
  ShellFigures before_ GALLEY_GUARDED_BY(mutex_);  // of shells that are over
  ShellFigures last_ GALLEY_GUARDED_BY(mutex_);
  std::atomic<uint64_t> fetched_ = 0, uploaded_ = 0;
};

}  // namespace galley::director
