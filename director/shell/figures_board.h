// FiguresBoard: the counts of a director's shells, for metrics. The board outlives the shells: the
// counts of a new shell add to the counts of earlier shells.
//
// The loop of a shell writes now and then, so figures may be half a second old.
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
  uint64_t bytes_stored = 0, bytes_deduplicated = 0;  // of committed results
};

class FiguresBoard {
 public:
  // Ends a shell: keeps its counts, and drops its present states.
  void EndShell() {
    base::MutexLock lock(mutex_);
    Add(last_, before_);
    last_ = {};
  }
  // Replaces the counts of the present shell.
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

  // Count bytes that workers without our files fetched and uploaded.
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
  ShellFigures before_ GALLEY_GUARDED_BY(mutex_);  // of ended shells
  ShellFigures last_ GALLEY_GUARDED_BY(mutex_);
  std::atomic<uint64_t> fetched_ = 0, uploaded_ = 0;
};

}  // namespace galley::director
