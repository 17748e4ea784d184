#include "director/shell/worker_presence.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "fmt/format.h"

namespace galley::director {

void WorkerPresence::Adopt(const Survivors& survivors, uint32_t workers_max,
                           const JobBuilder& builder) {
  std::set<std::string> expected;
  WorkersSurvived survived;
  for (const WorkerRecord& survivor : survivors.workers) {
    const WorkerId worker = deps_.tables.attached.IdOf(survivor.worker_id);
    survived.first_free = std::max(survived.first_free, worker.value() + 1);
    deps_.launches.Adopt(survivor);
    if (survivor.director_address == deps_.service.address() && expected.size() < workers_max) {
      expected.insert(survivor.worker_id);
      survived.workers.push_back(worker);
    } else {
      deps_.launches.EndSurvivor(survivor.worker_id);
    }
  }
  for (const AttemptRecord& given : survivors.given) {
    const std::shared_ptr<const AttemptInfo> info = builder.InfoOf(given);
    if (!expected.contains(given.worker) || info == nullptr) continue;
    survived.given.push_back({.attempt = given.attempt,
                              .worker = deps_.tables.attached.IdOf(given.worker),
                              .package = given.package,
                              .platforms = info->platforms,
                              .generated_source = given.generated_source});
  }
  deps_.inbox.HandleNow(survived);
  for (const AttemptRecord& given : survivors.given) {
    // From here on the core knows the package of the attempt.
    if (std::shared_ptr<const AttemptInfo> info = builder.InfoOf(given))
      deps_.tables.reports.Register(given.attempt, std::move(info));
  }
  if (survivors.workers.empty()) return;
  LogInfo("survivors={} expected={} attempts={}", survivors.workers.size(), expected.size(),
          survived.given.size());
}

void WorkerPresence::Drain(const std::vector<std::string>& workers) {
  DrainAsked asked;
  for (const std::string& worker : workers) {
    deps_.log_book.Note(worker, LogLevel::kInfo, "is drained");
    deps_.tables.views.Draining(worker);
    asked.workers.push_back(deps_.tables.attached.IdOf(worker));
  }
  deps_.inbox.PostEvent(std::move(asked));
}

void WorkerPresence::LoseSilent() {
  const absl::Time now = deps_.clock.Monotonic();
  if (!silence_.IsDue(now)) return;
  if (deps_.farm_door != nullptr) deps_.farm_door->LookAtCertificates();
  deps_.service.EndSilent(now);
  // The workers spoke: this director has no time to hear them.
  for (const std::string& name : deps_.service.WorkersWithUnreadMessages())
    deps_.tables.attached.Heard(name, now);
  if (!silence_.HasListened(now)) return;
  for (const std::string& name : deps_.tables.attached.RemoveSilentSince(
           now - SilenceWatch::kSilentMax, now - SilenceWatch::kMostSilentMax)) {
    deps_.log_book.NoteLost(name, fmt::format("is lost: nothing was heard of it for {} or longer",
                                              absl::FormatDuration(SilenceWatch::kSilentMax)));
    deps_.tables.ForgetWorker(name);
    deps_.service.HangUp(name);
    deps_.launches.EndLaunched(name);
    deps_.inbox.HandleNow(WorkerLost{.worker = deps_.tables.attached.IdOf(name),
                                     .reason = "its machine or its connection fell silent",
                                     .is_infrastructure = true});
  }
}

}  // namespace galley::director
