// LogFeed: the log lines of this process that go to the director. The lines wait here until the
// session's thread takes them, because the logging thread may hold any lock of the session.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "worker/session/log_ring.h"

namespace galley::worker {

class LogFeed {
 public:
  // The observer for SetLogObserver.
  void Add(LogLevel level, std::string_view text) {
    v1::LogLine line;
    line.set_level(static_cast<int32_t>(level));
    line.set_text(std::string(text));
    line.set_time_us(absl::ToUnixMicros(absl::Now()));
    base::MutexLock lock(mutex_);
    ring_.Add(std::move(line));
  }
  std::vector<v1::LogLine> Take() {
    std::vector<v1::LogLine> lines;
    base::MutexLock lock(mutex_);
    while (!ring_.empty()) lines.push_back(ring_.Take());
    return lines;
  }

 private:
  base::Mutex mutex_;
  LogRing ring_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::worker
