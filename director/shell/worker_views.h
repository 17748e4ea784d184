// WorkerViews: the states of the present workers, for people.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/record/worker_offer.h"
#include "director/core/ids.h"

namespace galley::director {

struct JobView {
  std::string package;
  absl::Time given;
};

struct WorkerStatus {
  std::string name;  // "local-1"
  uint32_t process = 0;
  uint32_t slots = 0;
  uint32_t jobs = 0;  // jobs that the worker has
  uint64_t memory_bytes = 0;
  bool is_draining = false;
  std::string state = "attached";  // or "asked for", "queued", "starting", "held", "quarantined"
  std::string machine;             // empty: not known yet
  std::string launcher;            // from AttachedWorkers::LauncherOf
  std::string runs_as = "";        // its name in its cluster, if known
  record::WorkerOffer offer;       // offer of its machine
  absl::Time last_job;             // last given or ended; without a job: when the worker attached
  std::string note;                // why the worker is quarantined or held
  std::map<AttemptId, JobView> in_hand;  // jobs that this director gave
};

class WorkerViews {
 public:
  // The core's name of this machine (Proofs).
  static constexpr const char* kOwnMachine = "the director's machine";
  // OnState: called with each state that a worker enters: "attached", states of the launcher,
  // "draining" and "gone". Must be short, and must not call WorkerViews.
  using OnState = std::function<void(const std::string& name, const std::string& state,
                                     const std::string& machine)>;
  explicit WorkerViews(OnState on_state = nullptr) : on_state_(std::move(on_state)) {}

  void Attached(WorkerStatus view) {
    base::MutexLock lock(mutex_);
    Tell(view.name, view.state, view.machine);
    // A draining process that attaches again keeps draining.
    if (const auto before = views_.find(view.name);
        before != views_.end() && before->second.process == view.process)
      view.is_draining = before->second.is_draining;
    views_[view.name] = std::move(view);
  }
  // Sets a state that the launcher tells; ignored while the worker is attached.
  void Launched(const std::string& name, const std::string& state, const std::string& machine,
                const std::string& launcher) {
    base::MutexLock lock(mutex_);
    if (const auto found = views_.find(name);
        found == views_.end() || found->second.state != "attached") {
      views_[name] = {.name = name, .state = state, .machine = machine, .launcher = launcher};
      Tell(name, state, state == "starting" ? machine : "");
    }
  }
  void UsesMemory(const std::string& name, uint64_t bytes) {
    Change(name, [&](WorkerStatus& view) { view.memory_bytes = bytes; });
  }
  void Given(const std::string& name, AttemptId attempt, JobView job) {
    Change(name, [&](WorkerStatus& view) {
      ++view.jobs;
      view.last_job = job.given;
      view.in_hand.emplace(attempt, std::move(job));
    });
  }
  void Ended(const std::string& name, AttemptId attempt, absl::Time now) {
    Change(name, [&](WorkerStatus& view) {
      view.last_job = now;
      view.jobs -= std::min(view.jobs, 1u);
      view.in_hand.erase(attempt);
    });
  }
  void Draining(const std::string& name) {
    Change(name, [&](WorkerStatus& view) {
      view.is_draining = true;
      Tell(name, "draining", view.machine);
    });
  }
  // Notes why the worker is quarantined. From then on All() has the worker even when it is gone.
  // `machine`: the machine of a worker that is not attached.
  void Quarantine(const std::string& name, const std::string& why,
                  const std::string& machine = "") {
    base::MutexLock lock(mutex_);
    WorkerStatus view{.name = name, .state = "quarantined", .machine = machine, .note = why};
    if (const auto found = views_.find(name); found != views_.end())
      view.machine = found->second.machine;
    quarantined_[name] = std::move(view);
  }
  // nullopt: the worker is not quarantined.
  std::optional<WorkerStatus> Quarantined(const std::string& name) const {
    base::MutexLock lock(mutex_);
    const auto found = quarantined_.find(name);
    if (found == quarantined_.end()) return std::nullopt;
    return found->second;
  }
  void Readmit(const std::string& name) {
    base::MutexLock lock(mutex_);
    quarantined_.erase(name);
  }
  // Notes why the worker gets no jobs for now; empty: it gets jobs again. True: the hold began or
  // ended.
  bool Hold(const std::string& name, const std::string& why) {
    return Hold(&WorkerViews::held_, name, why);
  }
  // Hold for all workers of a machine. `machine`: the core's name of the machine.
  bool HoldMachine(const std::string& machine, const std::string& why) {
    return Hold(&WorkerViews::held_machines_, machine, why);
  }
  bool IsDraining(const std::string& name) const {
    base::MutexLock lock(mutex_);
    const auto found = views_.find(name);
    return found != views_.end() && found->second.is_draining;
  }
  void Gone(const std::string& name) {
    base::MutexLock lock(mutex_);
    held_.erase(name);  // the core says so again if the worker comes back held
    if (views_.erase(name) > 0) Tell(name, "gone", "");
  }
  // Returns the jobs that this director gave the worker and that are not over.
  std::map<AttemptId, JobView> InHand(const std::string& name) const {
    base::MutexLock lock(mutex_);
    const auto found = views_.find(name);
    return found == views_.end() ? std::map<AttemptId, JobView>() : found->second.in_hand;
  }
  // Returns when the attempt was given; InfinitePast: the worker does not have the attempt.
  absl::Time GivenAt(const std::string& name, AttemptId attempt) const {
    base::MutexLock lock(mutex_);
    const auto found = views_.find(name);
    if (found == views_.end()) return absl::InfinitePast();
    const auto job = found->second.in_hand.find(attempt);
    return job == found->second.in_hand.end() ? absl::InfinitePast() : job->second.given;
  }
  // Counts the workers that have not attached yet, by state: "asked for", "queued", "starting".
  std::map<std::string, uint32_t> OnTheWay() const {
    base::MutexLock lock(mutex_);
    std::map<std::string, uint32_t> counts;
    for (const auto& [name, view] : views_) {
      if (view.state != "attached") ++counts[view.state];
    }
    return counts;
  }
  // Returns the machine of an attached worker; empty: the worker is not attached.
  std::string MachineOf(const std::string& name) const {
    base::MutexLock lock(mutex_);
    const auto found = views_.find(name);
    return found == views_.end() ? "" : found->second.machine;
  }
  std::vector<WorkerStatus> All() const {
    base::MutexLock lock(mutex_);
    std::vector<WorkerStatus> all;
    for (const auto& [name, view] : views_) {
      const auto out = quarantined_.find(name);
      all.push_back(view);
      if (const std::string why = WhyHeld(view); !why.empty() && view.state == "attached") {
        all.back().state = "held";
        all.back().note = why;
      }
      if (out == quarantined_.end()) continue;
      all.back().state = out->second.state;
      all.back().note = out->second.note;
    }
    for (const auto& [name, view] : quarantined_) {
      if (!views_.contains(name)) all.push_back(view);
    }
    return all;
  }

 private:
  void Tell(const std::string& name, const std::string& state, const std::string& machine) const {
    if (on_state_) on_state_(name, state, machine);
  }
  using Reasons = std::map<std::string, std::string>;
  // A changed reason is no beginning and no end of a hold.
  bool Hold(Reasons WorkerViews::*which, const std::string& name, const std::string& why) {
    base::MutexLock lock(mutex_);
    Reasons& held = this->*which;
    if (why.empty()) return held.erase(name) > 0;
    const bool is_new = !held.contains(name);
    held[name] = why;
    return is_new;
  }
  std::string WhyHeld(const WorkerStatus& view) const GALLEY_REQUIRES(mutex_) {
    if (const auto own = held_.find(view.name); own != held_.end()) return own->second;
    const auto of_machine =
        held_machines_.find(view.launcher == "local" ? kOwnMachine : view.machine);
    return of_machine == held_machines_.end() ? "" : of_machine->second;
  }
  template <typename F>
  void Change(const std::string& name, const F& change) {
    base::MutexLock lock(mutex_);
    if (const auto found = views_.find(name); found != views_.end()) change(found->second);
  }

  const OnState on_state_;
  mutable base::Mutex mutex_;
  std::map<std::string, WorkerStatus> views_ GALLEY_GUARDED_BY(mutex_);
  std::map<std::string, WorkerStatus> quarantined_ GALLEY_GUARDED_BY(mutex_);
  Reasons held_ GALLEY_GUARDED_BY(mutex_), held_machines_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
