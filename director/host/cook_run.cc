#include "director/host/cook_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/healed.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/host/cook_warnings.h"
#include "director/host/cook_world.h"
#include "director/host/difference.h"
#include "director/host/left_out.h"
#include "director/host/outcome_status.h"
#include "director/host/unpublished.h"
#include "director/shell/director_shell.h"
#include "director/shell/lost_files.h"

namespace galley::director {
namespace {

// A worker leaves the owner's reserve of the disk free, whatever the size of what it writes. So
// where a job failed for the machine's sake and less than this is free beside the reserve, the disk
// is full.
constexpr uint64_t kRoomOfAJob = 64 << 20;

ProjectCatalog::Options TableOptionsOf(const CookAsk& ask, const project::Project& project) {
  const std::vector<std::string>& cultures = ask.selection.cultures;
  return {.never = ask.selection.never,
          .cultures = cultures.empty() ? project.cook.cultures : cultures};
}

}  // namespace

CookRun::CookRun(CookAsk ask, const Deps& deps)
    : ask_(std::move(ask)),
      deps_(deps),
      table_options_(TableOptionsOf(ask_, deps_.director.project())),
      notes_(deps_.listener) {}

CookReport CookRun::Run() {
  report_.end = Prepare();
  if (report_.end.ok()) report_.end = Cook();
  if (report_.outcome.has_value()) {
    TellTheEnd();
    report_.end = staging_->stopped();
    report_.stage_failed = staging_->has_failed();
    NumberRoots();
  }
  report_.is_published = staging_.has_value() && staging_->is_published();
  report_.has_failures = notes_.has_failures();
  report_.snapshot = notes_.DigestOfDone();
  return std::move(report_);
}

// Between two steps a person may end the cook.
absl::Status CookRun::Prepare() {
  using Step = absl::Status (CookRun::*)();
  for (const Step step : {&CookRun::Scan, &CookRun::FollowTheFiles}) {
    if (deps_.stop.is_cancelled()) return Interrupted();
    RETURN_IF_ERROR((this->*step)());
  }
  return deps_.stop.is_cancelled() ? Interrupted() : absl::OkStatus();
}

absl::Status CookRun::Scan() {
  const absl::Time begin = absl::Now();
  ASSIGN_OR_RETURN(world_, MakeWorld(deps_.director, table_options_));
  RETURN_IF_ERROR(Select());
  for (const std::string& warning : selection_.warnings) notes_.Warn(warning);
  TellOddFiles(*world_, notes_);
  TellScan(begin);
  TellLeftOut(*world_, notes_);
  return absl::OkStatus();
}

absl::Status CookRun::Select() {
  const project::Project& project = deps_.director.project();
  auto selection =
      ask_.repair ? SelectLost() : director::Select(ask_.selection, project, *world_->table);
  if (!selection.ok()) return WrongUse(selection.status());
  selection_ = *std::move(selection);
  if (ask_.exact && !selection_.by_the_book) {
    return WrongUse(
        "--exact makes the sandboxes equal to whole trees: give it without a selection, --never, "
        "--culture and --no-soft-references");
  }
  staging_.emplace(Staging::Options{.project_id = deps_.director.project_id(),
                                    .by_the_book = selection_.by_the_book,
                                    .rules = {.adopt = ask_.adopt, .exact = ask_.exact}},
                   Staging::Deps{.project = project,
                                 .store = deps_.director.stores().store(),
                                 .notes = notes_,
                                 .stop = deps_.stop,
                                 .may_write = [this] { return deps_.director.MayWrite(); }});
  return absl::OkStatus();
}

// The packages whose outputs the store lost and that are still in the project.
absl::StatusOr<CookSelection> CookRun::SelectLost() {
  ASSIGN_OR_RETURN(std::vector<std::string> lost,
                   PackagesThatLost(deps_.director.journal(), deps_.director.stores().store()));
  CookSelection selection;
  for (std::string& name : lost) {
    if (name.find("/_gen/") != std::string::npos || world_->table->Find(name))
      selection.packages.push_back({std::move(name), InstigatorCategory::kCommandLinePackage});
  }
  std::sort(selection.packages.begin(), selection.packages.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return selection;
}

void CookRun::TellScan(absl::Time begin) {
  report_.scan = absl::Now() - begin;
  deps_.trace.Add({.name = "scan",
                   .category = "scan",
                   .worker = "director",
                   .started_us = absl::ToUnixMicros(begin),
                   .duration_us = absl::ToInt64Microseconds(report_.scan)});
  notes_.Scanned({.files = world_->snapshot->files().size(),
                  .packages = world_->table->names().size(),
                  .unmatched = UnmatchedFiles(deps_.director.project(), *world_->table).size(),
                  .seconds = absl::ToDoubleSeconds(report_.scan)});
}

absl::Status CookRun::FollowTheFiles() {
  Director& director = deps_.director;
  RETURN_IF_ERROR(ApplyDifference({.state_directory = director.project().state_directory(),
                                   .project_id = director.project_id(),
                                   .trust_domain = director.project().store.trust,
                                   .term = director.term()},
                                  director.stores().store(), director.journal(), *world_));
  ASSIGN_OR_RETURN(inherited_, director.TakeOver());
  return absl::OkStatus();
}

absl::Status CookRun::Cook() {
  const absl::Time begin = absl::Now();
  DirectorShell shell(OptionsOfShell(), world_, deps_.director.stores().store(),
                      deps_.director.journal(), deps_.trace, notes_);
  absl::StatusOr<ShellOutcome> outcome;
  {
    const Cancellation::Hook on_stop(&deps_.stop, [&] { shell.Interrupt(); });
    outcome = shell.Run(Request());
  }
  NoteTimes(begin, absl::Now());
  if (!outcome.ok()) return Infrastructure(outcome.status());
  report_.outcome = *std::move(outcome);
  // The cook ended by itself: the next one blames packages anew.
  if (const absl::Status forgotten = deps_.director.journal().ForgetProgress(); !forgotten.ok())
    LogWarning("journal: {}", MessageOf(forgotten));
  return absl::OkStatus();
}

ShellOptions CookRun::OptionsOfShell() {
  Director& director = deps_.director;
  const project::Project& project = director.project();
  ShellOptions options{
      .state_directory = project.state_directory(),
      .socket_path = JoinPath(project.root, ".galley/director.sock"),
      .worker_program = director.worker_program(),
      .cookers_json = director.cookers().json,
      .table = table_options_,
      .worker_build = director.cookers().build,
      .slots = project.farm.slots,
      .project_id = director.project_id(),
      .keep_roots = project.store.keep_roots,
      .publishes = !ask_.repair,
      .may_write = [&director] { return director.MayWrite(); },
      .stage = [this](const auto& roots,
                      const auto& world) { return staging_->StageAll(roots, world); },
      .has_room = [&director] { return director.stores().CheckSpace(kRoomOfAJob); },
      .survivors = inherited_.survivors,
      .given_before = inherited_.progress.given,
      .remote = director.stores().remote(),
      .write_back = director.write_back()};
  options.core.platform_count = static_cast<uint32_t>(project.platforms.size());
  options.core.workers = project.farm.workers != 0
                             ? project.farm.workers
                             : std::max(1u, std::thread::hardware_concurrency());
  if (project.farm.placement == "striped") options.core.policy = PlacementPolicy::kStriped;
  options.core.term = director.term();
  options.core.resources.assign(project.resources.begin(), project.resources.end());
  options.look_up = {.trust_domain = project.store.trust,
                     .read_trust = project.store.read_trust,
                     .retry_failed = ask_.retry_failed};
  return options;
}

CookRequested CookRun::Request() const {
  CookRequested request{.request = 1,
                        .platforms = ask_.platforms,
                        .selected = selection_.packages,
                        .by_the_book = selection_.by_the_book,
                        .force = ask_.force,
                        .fail_fast = ask_.fail_fast,
                        .follow_soft = !ask_.selection.no_soft_references,
                        .is_staged = ask_.is_staged()};
  for (const BlameRecord& one : inherited_.progress.blamed)
    request.blamed.push_back({one.package, one.own_faults, one.what, one.error, one.log});
  return request;
}

// Staging is a part of the run, and most of the time its end.
void CookRun::NoteTimes(absl::Time begin, absl::Time end) {
  report_.stage = staging_->time();
  const absl::Time staged_from = end - report_.stage;
  const absl::Time first = std::clamp(notes_.first_cooked(), begin, std::max(begin, staged_from));
  report_.explore = first - begin;
  report_.cook = std::max(absl::ZeroDuration(), staged_from - first);
}

void CookRun::TellTheEnd() {
  const ShellOutcome& outcome = *report_.outcome;
  if (!ask_.repair && !outcome.ended.is_interrupted)
    TellIdleNever(*world_, *outcome.world, ask_.selection.has_selection(), notes_);
  staging_->TellFailures();
  if (const auto lost = LostText(outcome, deps_.director.project().store.directory))
    NoteHealed(*lost);
  TellUnpublished();
}

void CookRun::TellUnpublished() {
  const ShellOutcome& outcome = *report_.outcome;
  const CookEnded& ended = outcome.ended;
  if (!selection_.by_the_book || ask_.repair || ended.is_interrupted || ended.is_fail_fast ||
      !ended.infrastructure_error.empty())
    return;
  for (const std::string& platform : PlatformNames(deps_.director.project(), ask_.platforms)) {
    if (outcome.roots.contains(platform)) continue;
    const auto last = deps_.director.journal().LastPublished(platform);
    notes_.OnWarning("", platform,
                     UnpublishedText(notes_.CountFailedOn(platform), outcome.counters.in_cook,
                                     last.ok() && last->sequence != 0));
  }
}

// For people; a store that does not answer has told so elsewhere.
void CookRun::NumberRoots() {
  const auto published = deps_.director.stores().store().Roots(deps_.director.project_id());
  if (!published.ok()) return;
  const std::map<std::string, Digest>& roots = report_.outcome->roots;
  for (const store::PublishedRoot& one : *published) {  // newest first
    const auto root = roots.find(one.platform);
    if (root != roots.end() && root->second == one.root)
      report_.sequences.emplace(one.platform, one.sequence);
  }
}

}  // namespace galley::director
