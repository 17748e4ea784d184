#include "director/shell/program_side_effects.h"

#include <algorithm>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/record/programs.h"

namespace galley::director {
namespace {

bool StartsPrograms(const AttemptInfo& info) {
  return info.recipes != nullptr &&
         std::ranges::any_of(*info.recipes, [](const project::ResolvedRecipe& one) {
           return one.recipe.cooker == record::kProgramCooker;
         });
}

}  // namespace

void ProgramSideEffects::NoteGiven(AttemptId attempt, const AttemptInfo& info) {
  if (!StartsPrograms(info)) return;
  const bool is_off = deps_.world.Get()->project->cook.walls == project::Walls::kOff;
  std::string why = is_off ? "" : deps_.workers.WallsMissingOf(info.worker);
  if (!is_off && why.empty()) return;
  if (deps_.workers.HasFiles(info.worker)) WatchContent();
  runs_.Begin(attempt, {.package = info.name,
                        .worker = info.worker,
                        .begin = deps_.clock.Now(),
                        .why = std::move(why)});
}

// Begins the watch before the first such program begins; one watch serves all running cooks.
void ProgramSideEffects::WatchContent() {
  if (watch_ != nullptr || !blind_.empty()) return;
  const WorldPtr world = deps_.world.Get();
  const project::Project& project = *world->project;
  auto watch = ContentWatch::Begin(
      world, {.cookie_folder = JoinPath(deps_.state_directory, "program-watch"),
              .excluded = {JoinPath(project.root, ".galley"), deps_.state_directory,
                           project.store.directory, project.output_directory}});
  if (watch.ok()) {
    watch_ = *std::move(watch);
  } else {
    blind_ = MessageOf(watch.status());
    LogWarning("what programs change in the content is not watched: {}", blind_);
  }
}

// Returns the changes that the cook's programs may have made, as far as the content was watched.
absl::StatusOr<std::vector<FreePrograms::Change>> ProgramSideEffects::ChangesBy(
    const ActiveCook& cook) {
  std::vector<FreePrograms::Change> by_programs;
  if (watch_ == nullptr) return by_programs;
  ASSIGN_OR_RETURN(const std::vector<ContentChange> changes, watch_->Look());
  for (const ContentChange& one : changes) {
    std::vector<std::string> packages = runs_.PackagesAt(one.when, cook.began);
    if (packages.empty()) continue;
    by_programs.push_back({.path = one.path, .what = one.what, .packages = std::move(packages)});
  }
  return by_programs;
}

void ProgramSideEffects::WarnOfChanges(ActiveCook& cook) {
  UnwalledRuns::Lacking lacking = runs_.LackingSince(cook.began);
  FreePrograms free{.workers = std::move(lacking.workers),
                    .why = std::move(lacking.why),
                    .changes = {},
                    .blind = blind_};
  auto changes = ChangesBy(cook);
  if (changes.ok()) {
    free.changes = *std::move(changes);
  } else {
    free.blind = MessageOf(changes.status());
  }
  if (const auto text = FreeProgramsText(free))
    cook.Warn(record::WarningKind::kWallsMissing, *text);
  for (const ProgramChange& one : ProgramChanges(free))
    cook.WarnOf(one.package, "", record::WarningKind::kProgramChangedContent, one.text);
}

void ProgramSideEffects::ForgetAll() {
  runs_.Clear();
  watch_.reset();
  blind_.clear();
}

}  // namespace galley::director
