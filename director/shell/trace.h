// Trace: every worker's loads and saves as Chrome trace JSON (chrome://tracing, Perfetto). Format:
// "Trace Event Format", complete events.
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
  // Nobody will ask for the trace: Add does nothing from now on.
  void TurnOff() { is_on_ = false; }
  // A trace begins, with nothing in it.
  void TurnOn() {
    base::MutexLock lock(mutex_);
    spans_.clear();
    is_on_ = true;
  }
  bool is_on() const { return is_on_; }
  void Add(Span span);
  std::string ToJson() const;

 private:
  std::atomic<bool> is_on_ = true;
  mutable base::Mutex mutex_;
  std::vector<Span> spans_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
