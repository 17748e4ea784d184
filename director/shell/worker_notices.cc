#include "director/shell/worker_notices.h"

#include <set>

#include "common/base/log.h"
#include "director/shell/worker_messages.h"
#include "fmt/format.h"

namespace galley::director {

std::string WorkerNotices::Quarantine(const WorkerQuarantined& notice) {
  const std::string name = deps_.attached.NameOf(notice.worker);
  const std::string machine = deps_.views.MachineOf(name);
  const std::string why =
      fmt::format("it made something else of {} for {} than {}", deps_.core.NameOf(notice.package),
                  deps_.sources()->PlatformName(notice.platform), notice.others);
  deps_.admission.Quarantine(
      {.worker = name, .machine = machine, .why = why, .since = deps_.clock.Now()});
  std::set<std::string> unproven;
  for (const PackageId package : notice.unproven) unproven.insert(deps_.core.NameOf(package));
  LogError("worker={} machine={} quarantined: {}", name, machine, why);
  return QuarantineText(
      {.worker = name, .machine = machine, .why = why, .since = began_at_, .unproven = unproven});
}

std::string WorkerNotices::Hold(const WorkerHeld& notice) {
  const bool is_machine = !notice.worker.valid();
  const std::string name = is_machine ? "" : deps_.attached.NameOf(notice.worker);
  const std::string who = is_machine ? fmt::format("all workers of {}", notice.machine)
                                     : HeldWorkerText(name, deps_.views.MachineOf(name));
  const bool is_news = is_machine ? deps_.views.HoldMachine(notice.machine, notice.why)
                                  : deps_.views.Hold(name, notice.why);
  if (notice.is_over) {
    LogInfo("{}: used again, after a job that succeeded", who);
    return "";
  }
  std::string text = HeldText(who, notice.why);
  if (is_news) LogWarning("{}", text);
  return text;
}

std::string WorkerNotices::EndProcess(const WorkerViolated& notice) {
  const std::string name = deps_.attached.NameOf(notice.worker);
  const std::string who = HeldWorkerText(name, deps_.views.MachineOf(name));
  deps_.admission.EndProcess(name, notice.session, notice.why);
  deps_.log_book.Note(name, LogLevel::kError, fmt::format("is ended: {}", notice.why));
  deps_.hang_up(name);
  return fmt::format("{} was ended: {}", who, notice.why);
}

}  // namespace galley::director
