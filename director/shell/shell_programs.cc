// DirectorShell's programs: what jobs may do to the project where nothing keeps them from it.

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/record/programs.h"
#include "director/shell/director_shell.h"

namespace galley::director {
namespace {

bool StartsPrograms(const AttemptInfo& info) {
  return info.recipes != nullptr &&
         std::any_of(info.recipes->begin(), info.recipes->end(),
                     [](const project::ResolvedRecipe& one) {
                       return one.recipe.cooker == record::kProgramCooker;
                     });
}

}  // namespace

void DirectorShell::NoteProgram(AttemptId attempt, const AttemptInfo& info) {
  if (!StartsPrograms(info)) return;
  const bool is_off = world_.Get()->project->cook.walls == project::Walls::kOff;
  std::string why = is_off ? "" : workers_.WallsMissingOf(info.worker);
  if (!is_off && why.empty()) return;
  if (workers_.HasFiles(info.worker)) WatchContent();
  program_runs_.Begin(
      attempt,
      {.package = info.name, .worker = info.worker, .begin = clock_.Now(), .why = std::move(why)});
}

// Before the first of them begins; once for all cooks that run.
void DirectorShell::WatchContent() {
  if (content_watch_ != nullptr || !content_blind_.empty()) return;
  const WorldPtr world = world_.Get();
  const project::Project& project = *world->project;
  auto watch = ContentWatch::Begin(
      world, {.cookie_folder = JoinPath(options_.state_directory, "program-watch"),
              .excluded = {JoinPath(project.root, ".galley"), options_.state_directory,
                           project.store.directory, project.output_directory}});
  if (watch.ok()) {
    content_watch_ = *std::move(watch);
  } else {
    content_blind_ = MessageOf(watch.status());
    LogWarning("what programs change in the content is not watched: {}", content_blind_);
  }
}

// What may be the work of the cook's programs, as far as the content was watched.
absl::StatusOr<std::vector<FreePrograms::Change>> DirectorShell::ChangesBy(const CookSeat& seat) {
  std::vector<FreePrograms::Change> by_programs;
  if (content_watch_ == nullptr) return by_programs;
  ASSIGN_OR_RETURN(const std::vector<ContentChange> changes, content_watch_->Look());
  for (const ContentChange& one : changes) {
    std::vector<std::string> packages = program_runs_.PackagesAt(one.when, seat.began);
    if (packages.empty()) continue;
    by_programs.push_back({.path = one.path, .what = one.what, .packages = std::move(packages)});
  }
  return by_programs;
}

void DirectorShell::TellFreePrograms(CookSeat& seat) {
  ProgramRuns::Lacking lacking = program_runs_.LackingSince(seat.began);
  FreePrograms free{.workers = std::move(lacking.workers),
                    .why = std::move(lacking.why),
                    .changes = {},
                    .blind = content_blind_};
  auto changes = ChangesBy(seat);
  if (changes.ok()) {
    free.changes = *std::move(changes);
  } else {
    free.blind = MessageOf(changes.status());
  }
  const auto tell = [&](const std::string& package, record::Warning warning) {
    seat.told.Add([package, warning = std::move(warning)](ShellListener& one) {
      one.OnPassingWarning(package, "", warning);
    });
  };
  if (const auto text = FreeProgramsText(free))
    tell("", {record::WarningKind::kWallsMissing, *text});
  for (const ProgramChange& one : ProgramChanges(free))
    tell(one.package, {record::WarningKind::kProgramChangedContent, one.text});
}

void DirectorShell::ForgetPrograms() {
  program_runs_.Clear();
  content_watch_.reset();
  content_blind_.clear();
}

}  // namespace galley::director
