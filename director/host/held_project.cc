#include "director/host/held_project.h"

#include <random>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "common/project/state_folder.h"
#include "director/host/outcome_status.h"
#include "director/shell/director_shell.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kLockInterval = absl::Milliseconds(100);

std::string RandomId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", random());
  return id;
}

absl::Status MakeState(const project::Project& project) {
  absl::Status made = project::MakeStateFolder(project.root);
  for (const char* folder : {"logs", kScratchFolder, kWorkersFolder})
    if (made.ok()) made = MakeOwnFolder(JoinPath(project.state_directory(), folder));
  if (made.ok()) return made;
  return Infrastructure(
      fmt::format("{}; the project's folder must be writable for its state", MessageOf(made)));
}

absl::StatusOr<std::unique_ptr<ProjectLock>> TakeLock(const std::string& state,
                                                      const HoldOptions& options,
                                                      CookEventSink& sink, Cancellation& stop) {
  bool said = false;
  while (true) {
    auto lock = ProjectLock::TryAcquire(state);
    if (lock.ok()) return lock;
    if (!absl::IsAlreadyExists(lock.status())) return Infrastructure(lock.status());
    if (!options.waits) return WrongUse(fmt::format("--standalone: {}", MessageOf(lock.status())));
    if (options.gives_way()) return absl::AbortedError(MessageOf(lock.status()));
    if (!said)
      sink.Say(
          fmt::format("waiting for another cook of this project: {}", MessageOf(lock.status())));
    said = true;
    if (stop.is_cancelled()) return Interrupted();
    stop.Pause(kLockInterval);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HeldProject>> HeldProject::Take(const project::Project& project,
                                                               const HoldOptions& options,
                                                               CookEventSink& sink,
                                                               Cancellation& stop) {
  const std::string state = project.state_directory();
  RETURN_IF_ERROR(MakeState(project));
  RETURN_IF_ERROR(options.check(FindHome(state, project.root).project_id));
  ASSIGN_OR_RETURN(std::unique_ptr<ProjectLock> lock, TakeLock(state, options, sink, stop));
  ProjectHome home = FindHome(state, project.root);
  if (!home.copied_from.empty()) {
    RETURN_IF_ERROR(options.check(""));
    // The records of workers belong to the original project.
    (void)RemoveAll(JoinPath(state, kWorkersFolder));
  }
  return std::unique_ptr<HeldProject>(new HeldProject(project, std::move(lock), std::move(home)));
}

absl::Status HeldProject::Settle(const Journal& journal, CookEventSink& sink) {
  if (home_.project_id.empty() && home_.copied_from.empty())
    home_.project_id = journal.meta().project_id;  // an older Galley kept the id only there
  if (home_.project_id.empty()) home_.project_id = RandomId();
  if (const absl::Status written = WriteHome(state_, root_, home_.project_id); !written.ok())
    return Infrastructure("state", written);
  if (!home_.copied_from.empty()) {
    const std::string text = fmt::format(
        "this project is a copy of the one in {}, which is still there: it has a project id of its "
        "own from now on, and publishes its own roots",
        home_.copied_from);
    LogInfo("{}", text);
    sink.Warn(record::WarningKind::kProjectCopied, text);
  }
  return absl::OkStatus();
}

}  // namespace galley::director
