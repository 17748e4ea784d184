// WorkerNotices: carries out the core's notices that a worker is quarantined, is held, or must end,
// and makes the texts for people.
//
// Threads: the loop's.
#pragma once

#include <functional>
#include <string>

#include "common/base/clock.h"
#include "director/core/cook_core.h"
#include "director/core/effects.h"
#include "director/shell/attached_workers.h"
#include "director/shell/sources.h"
#include "director/shell/worker_admission.h"
#include "director/shell/worker_log_book.h"
#include "director/shell/worker_views.h"

namespace galley::director {

class WorkerNotices {
 public:
  // Everything in Deps outlives WorkerNotices.
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

  // The functions return the text for the running cooks.

  // Shows the quarantine to people, and keeps it for later directors.
  std::string Quarantine(const WorkerQuarantined& notice);
  // Logs once that a worker or a machine is held, and shows the hold until it is over. Returns
  // empty: the hold is over.
  std::string Hold(const WorkerHeld& notice);
  // Ends the worker's stream. If the process attaches again, it is refused with the reason
  // (WorkerAdmission). A process of ours that does not end by itself is ended by its launcher.
  std::string EndProcess(const WorkerViolated& notice);

 private:
  const Deps deps_;
  const absl::Time began_at_;
};

}  // namespace galley::director
