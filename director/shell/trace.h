// Trace: every worker's loads and saves as Chrome trace JSON (chrome://tracing, Perfetto). Format:
// "Trace Event Format", complete events.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"

namespace galley::director {

class Trace {
 public:
  struct Span {
    std::string name;        // package
    std::string category;    // "load", "save", "commit", "scan", ...
    std::string worker;      // process row; "director" for our own
    uint32_t slot = 0;       // thread row
    int64_t started_us = 0;  // wall clock
    int64_t duration_us = 0;
    std::string platform;
  };

  // Recording: what is added while it lives, whichever cook it belongs to. The trace outlives it.
  class Recording {
   public:
    explicit Recording(Trace& trace) : trace_(trace), first_(trace.Begin()) {}
    ~Recording() { trace_.End(); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    std::string ToJson() const { return trace_.ToJsonFrom(first_); }

   private:
    Trace& trace_;
    const size_t first_;
  };

  // Somebody records: else Add does nothing.
  bool is_on() const { return recordings_ > 0; }
  void Add(Span span);

 private:
  size_t Begin();
  void End();
  std::string ToJsonFrom(size_t first) const;

  std::atomic<int> recordings_ = 0;
  mutable base::Mutex mutex_;
  std::vector<Span> spans_ GALLEY_GUARDED_BY(mutex_);  // since nobody recorded
};

}  // namespace galley::director
