// CooksWorkers: the workers of the simulation of several cooks (several_cooks.h). They outlive
// directors, and speak as sessions do: jobs begin by urgency, reports are numbered and kept until
// they are acknowledged, each attempt ends with one Ended, and after an attach all that is kept is
// told again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "director/core/events.h"
#include "tests/simulation/cooks_project.h"
#include "tests/simulation/cooks_store.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {

// A hand-over, as its worker has it.
struct CooksJob {
  director::AttemptId attempt = 0;
  std::string name;
  director::PlatformMask platforms = 0;
  std::map<std::pair<std::string, director::PlatformIndex>, director::ResultId> cooked;
  director::Urgency urgency = director::Urgency::kNormal;
  CooksProjectPtr project;
  std::string made_of;  // but for its inputs
};

class CooksWorkers {
 public:
  // The director that they speak to.
  struct Listener {
    std::function<void(const director::WorkerAttached&)> attached;
    std::function<void(const director::WorkerReported&)> reported;
  };

  // A calm one has no chance in what it does but the order of nothing.
  CooksWorkers(Schedule& schedule, Random& random, CooksStore& store, bool is_calm)
      : schedule_(schedule), random_(random), store_(store), is_calm_(is_calm) {}

  void Listen(Listener listener) { listener_ = std::move(listener); }
  // The director is gone: all streams end.
  void LoseDirector();
  // These attach to the present director; the others end.
  void Adopt(const std::set<director::WorkerId>& workers);

  void Start(director::WorkerId worker);
  // What is said to a worker whose stream is broken does not reach it.
  void Give(director::WorkerId worker, const CooksJob& job);
  void Take(const director::Desire& desire);

  // nullopt: there is none.
  std::optional<director::WorkerId> KillOne();
  void BreakAStream();
  std::set<director::WorkerId> alive() const;
  // Nothing is in hand, and nothing is left to be said.
  bool IsIdle() const;

 private:
  struct Worker {
    bool is_attached = false;
    uint64_t streams = 0;  // so far
    std::map<director::AttemptId, CooksJob> in_hand;
    std::set<std::pair<int, director::AttemptId>> queue;  // negated urgency
    std::set<director::AttemptId> running;
    std::map<director::ReportId, director::WorkerReport> kept;
    director::ReportId last = 0, sent = 0;  // reports
  };

  absl::Duration Delay(int64_t ms_max) {
    return is_calm_ ? absl::Milliseconds(1) : random_.Some(ms_max);
  }
  CooksJob* Find(director::WorkerId worker, director::AttemptId attempt);
  void AttachSoon(director::WorkerId worker, int64_t ms_max);
  void Attach(director::WorkerId worker);
  void Report(director::WorkerId worker, director::AttemptId attempt,
              decltype(director::WorkerReport::what) what);
  void Flush(director::WorkerId worker);
  void BeginSome(director::WorkerId worker);
  void Cancel(director::WorkerId worker, director::AttemptId attempt, bool is_stopped);
  void Load(director::WorkerId worker, director::AttemptId attempt, absl::Duration took);
  void Save(director::WorkerId worker, director::AttemptId attempt,
            director::PlatformIndex platform);
  void End(director::WorkerId worker, director::AttemptId attempt);
  // How the attempt ends without results; nullopt: it does not.
  std::optional<decltype(director::WorkerReport::what)> WhyItEnds(const CooksJob& job);
  director::ResultViewPtr Make(const CooksJob& job, director::PlatformIndex platform);

  Schedule& schedule_;
  Random& random_;
  CooksStore& store_;
  const bool is_calm_;
  Listener listener_;
  std::map<director::WorkerId, Worker> workers_;
};

}  // namespace galley::simulation
