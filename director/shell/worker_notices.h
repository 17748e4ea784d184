// WorkerNotices: what follows when the core says of a worker that it gets no more jobs, or is to
// end, and the sentences that people are told of it.
//
// Threads: the loop's.
#pragma once

#include <functional>
#include <string>

#include "common/base/clock.h"
#include "director/core/cook_core.h"
#include "director/core/events.h"
#include "director/shell/attached_workers.h"
#include "director/shell/sources.h"
#include "director/shell/worker_admission.h"
#include "director/shell/worker_log_book.h"
#include "director/shell/worker_views.h"

namespace galley::director {

class WorkerNotices {
 public:
  // All outlive it.
  struct Deps {
    const CookCore& core;
    Clock& clock;
    const AttachedWorkers& attached;
    WorkerViews& views;
    WorkerAdmission& admission;
    WorkerLogBook& log_book;
    PresentSources sources;
    std::function<void(const std::string& worker)> hang_up;
  };
  explicit WorkerNotices(Deps deps) : deps_(std::move(deps)), began_at_(deps_.clock.Now()) {}

  // Each returns what the cooks that run are told.

  // It is shown, and kept for the directors to come.
  std::string Quarantine(const WorkerQuarantined& notice);
  // In the log once, and shown as long as it is so. Empty: it is over.
  std::string Hold(const WorkerHeld& notice);
  // Its stream ends, and when it comes back it is told why it may not (WorkerAdmission). A process
  // of ours is ended by its launcher when it does not go by itself.
  std::string EndProcess(const WorkerViolated& notice);

 private:
  const Deps deps_;
  const absl::Time began_at_;
};

}  // namespace galley::director
