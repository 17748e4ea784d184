// Trace: records the work of the director and of its workers, as Chrome trace JSON
// (chrome://tracing, Perfetto). Format: "Trace Event Format", complete events.
//
//   process        threads
//   director       its own spans
//   launches       one for each worker, with its states: asked for, queued, starting, attached, ...
//   each machine   one for each slot of each worker there, and one for its uploads
//
// Times are by the director's clock.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace galley::director {

class Trace {
 public:
  struct Span {
    std::string name;        // package
    std::string category;    // "load", "save", "fetch", "upload", "commit", "scan", ...
    std::string worker;      // "director" for our own spans
    uint32_t slot = 0;       // of the worker
    int64_t started_us = 0;  // wall clock
    int64_t duration_us = 0;
    std::string platform;
  };

  // Recording: collects the spans of all cooks that are added while it lives. The trace outlives
  // the recording.
  class Recording {
   public:
    explicit Recording(Trace& trace) : trace_(trace), mark_(trace.Begin()) {}
    ~Recording() { trace_.End(); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    std::string ToJson() const { return trace_.ToJsonFrom(mark_, absl::Now()); }

   private:
    friend class Trace;
    struct Mark {
      size_t spans = 0, lives = 0;
      absl::Time time;
    };
    Trace& trace_;
    const Mark mark_;
  };

  // Says whether a Recording lives; otherwise Add does nothing.
  bool is_on() const { return recordings_ > 0; }
  void Add(Span span);
  // Notes that a worker entered a state; "gone" is the last state. Also called without a Recording,
  // because a Recording begins with the present states. `machine`: empty: as before.
  void WorkerIs(const std::string& worker, const std::string& state, const std::string& machine,
                absl::Time now);

 private:
  static constexpr size_t kLivesMax = 100'000;  // in one recording
  static constexpr size_t kPresentMax = 100'000;
  struct State {
    std::string name;
    absl::Time since;
    std::string machine;
  };
  struct Life {  // a past state of a worker
    std::string worker, state;
    absl::Time from, to;
  };

  Recording::Mark Begin();
  void End();
  std::string ToJsonFrom(const Recording::Mark& mark, absl::Time now) const;

  std::atomic<int> recordings_ = 0;
  mutable base::Mutex mutex_;
  std::vector<Span> spans_ GALLEY_GUARDED_BY(mutex_);  // of the recordings under way
  std::vector<Life> lives_ GALLEY_GUARDED_BY(mutex_);  // of the recordings under way
  std::map<std::string, State> present_ GALLEY_GUARDED_BY(mutex_);
  // The machines of workers that are gone, while a Recording lives.
  std::map<std::string, std::string> machines_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
