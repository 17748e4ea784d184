#include "director/host/cook_run.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/log.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "director/host/answered_variables.h"
#include "director/host/cook_warnings.h"
#include "director/host/idle_names.h"
#include "director/host/left_out.h"
#include "director/host/left_out_of_list.h"
#include "director/host/outcome_status.h"
#include "director/host/removed_by_rules.h"
#include "director/host/standing_cook.h"
#include "director/host/unpublished.h"
#include "director/shell/lost_files.h"

namespace galley::director {

std::shared_ptr<const project::Project> ProjectOf(const v1::CookAsk& ask, const Setup& setup) {
  if (ask.output_directory().empty()) return setup.project;
  auto project = std::make_shared<project::Project>(*setup.project);
  project->output_directory = ask.output_directory();
  return project;
}

CookRun::CookRun(v1::CookAsk ask, const Deps& deps)
    : ask_(std::move(ask)), deps_(deps), notes_(deps_.sink) {}

CookReport CookRun::Run() {
  report_.end = deps_.permit.Prepare([this] { return Prepare(); });
  if (report_.end.ok()) report_.end = Cook();
  if (report_.outcome.has_value()) {
    if (!report_.outcome->is_difference) changes_.difference.reset();
    if (changes_.difference.has_value() && HasEndedWell())
      TellTheRest(*changes_.difference, notes_, report_.outcome->counters);
    TellTheEnd();
    report_.end = TellRefusal();
    report_.stage_failed = staging_->has_failed();
    NumberRoots();
    Remember();
  }
  report_.is_published = staging_.has_value() && staging_->is_published();
  report_.has_failures = notes_.has_failures();
  NoteMembers();
  if (report_.outcome.has_value()) RecordStanding();
  return std::move(report_);
}

// A person may end the cook between two steps.
absl::Status CookRun::Prepare() {
  setup_ = deps_.permit.needs().setup;
  project_ = ProjectOf(ask_, *setup_);
  if (const auto platforms = PlatformsIn(*project_, ListOf(ask_.platforms())); !platforms.ok())
    return WrongUse(platforms.status());
  auto filter = FilterOf(ask_);
  if (!filter.ok()) return WrongUse(filter.status());
  filter_ = *std::move(filter);
  using Step = absl::Status (CookRun::*)();
  for (const Step step : {&CookRun::Scan, &CookRun::FindWhatDiffers, &CookRun::FollowTheFiles}) {
    if (deps_.stop.is_cancelled()) return Interrupted();
    RETURN_IF_ERROR((this->*step)());
  }
  return deps_.stop.is_cancelled() ? Interrupted() : absl::OkStatus();
}

absl::Status CookRun::Scan() {
  const absl::Time begin = began_ = absl::Now();
  notes_.SetWarningRules([project = project_](const std::string&) { return project->warnings; });
  const StandingAsk standing = AskOfStanding();
  ASSIGN_OR_RETURN(changes_, FindChanges({.ask = ask_,
                                          .project = *project_,
                                          .director = deps_.director,
                                          .permit = deps_.permit,
                                          .standing = standing,
                                          .checked = deps_.checked},
                                         notes_, deps_.stop));
  report_.listed = changes_.CountListed();
  world_ = changes_.world;
  notes_.SetWarningRules(
      [this](const std::string& package) { return world_->table->WarningRulesOf(package); });
  sources_ = world_->snapshot;
  RETURN_IF_ERROR(Select());
  BeginStaging();
  NoteLastRoots();
  report_.scan = absl::Now() - begin;
  deps_.trace.Add({.name = "scan",
                   .category = "scan",
                   .worker = "director",
                   .started_us = absl::ToUnixMicros(begin),
                   .duration_us = absl::ToInt64Microseconds(report_.scan)});
  notes_.SetScanning(true);
  changes_.has_same_names ? TellScanAgain() : TellScan();
  notes_.SetScanning(false);
  return absl::OkStatus();
}

absl::Status CookRun::Select() {
  if (changes_.difference.has_value()) {
    // The cook asks for the same as the cook that stands; the whole selection is not looked up.
    selection_ = {.packages = {}, .by_the_book = true, .warnings = {}};
    return absl::OkStatus();
  }
  auto selection =
      ask_.repair() ? SelectLost()
                    : director::Select(ask_.selection(), *project_, *world_->table, filter_.get());
  if (!selection.ok()) return WrongUse(selection.status());
  selection_ = *std::move(selection);
  if (ask_.exact() && !selection_.by_the_book) {
    return WrongUse(
        "--exact makes the sandboxes equal to whole trees: give it without a selection, --never, "
        "--culture and --no-soft-references");
  }
  return absl::OkStatus();
}

// Notes what the last cook by the book published, for a warning about files that this cook takes
// away.
void CookRun::NoteLastRoots() {
  if (!selection_.by_the_book || ask_.repair()) return;
  const auto roots = deps_.director.stores().store().Roots(deps_.director.project_id());
  if (!roots.ok()) return;
  for (const store::PublishedRoot& root : *roots) {  // newest first
    if (root.by_the_book) last_roots_.emplace(root.platform, root.root);
  }
  is_project_file_another_ = IsProjectFileAnother(AskOfStanding());
}

void CookRun::TellRemovedByRules() {
  const WorldPtr& world = report_.outcome->world;
  const std::vector<std::string> failed = notes_.FailedPackages();
  for (const auto& [platform, root] : report_.outcome->roots) {
    const auto last = last_roots_.find(platform);
    if (last == last_roots_.end() || last->second == root || world == nullptr) continue;
    const std::string text =
        RemovedByRulesText(deps_.director.stores().store(), last->second, root, platform, *world,
                           {is_project_file_another_, failed});
    if (!text.empty()) notes_.WarnInPassing(record::WarningKind::kRootShrinks, text);
  }
}

void CookRun::BeginStaging() {
  staging_.emplace(Staging::Options{.project_id = deps_.director.project_id(),
                                    .by_the_book = selection_.by_the_book,
                                    .rules = {.adopt = ask_.adopt(), .exact = ask_.exact()},
                                    .umask = ask_.umask() & 0777},
                   Staging::Deps{.project = *project_,
                                 .store = deps_.director.stores().store(),
                                 .notes = notes_,
                                 .stop = deps_.stop,
                                 .may_write = [this] { return deps_.director.MayWrite(); },
                                 .staged_worlds = deps_.director.staged_worlds(),
                                 .root_if_unchanged =
                                     [this](const std::string& platform) {
                                       return changes_.difference
                                                  ? RootIfUnchanged(*changes_.difference,
                                                                    AskOfStanding(), platform,
                                                                    deps_.stop)
                                                  : std::nullopt;
                                     }});
}

// Packages that can no longer be selected fail by name.
std::vector<SelectedPackage> CookRun::SelectIn(const World& world) const {
  auto selection = director::Select(ask_.selection(), *world.project, *world.table, filter_.get());
  return selection.ok() ? std::move(selection->packages) : std::vector<SelectedPackage>();
}

// Returns the packages whose outputs the store lost and that are still in the project.
absl::StatusOr<CookSelection> CookRun::SelectLost() {
  ASSIGN_OR_RETURN(std::vector<std::string> lost,
                   PackagesThatLost(deps_.director.journal(), deps_.director.stores().store()));
  CookSelection selection;
  for (std::string& name : lost) {
    if (name.find("/_gen/") != std::string::npos || world_->table->Find(name))
      selection.packages.push_back({std::move(name), InstigatorCategory::kCommandLinePackage});
  }
  std::ranges::sort(selection.packages,
                    [](const auto& a, const auto& b) { return a.name < b.name; });
  return selection;
}

void CookRun::TellScan() {
  for (const std::string& warning : selection_.warnings)
    notes_.Warn(record::WarningKind::kAllIsNever, warning);
  TellOddFiles(*world_, notes_);
  notes_.Tell(CookEvent::Scanned{.files = world_->snapshot->files().size(),
                                 .packages = world_->table->names().size(),
                                 .unmatched = CountUnmatched(*world_),
                                 .seconds = absl::ToDoubleSeconds(report_.scan),
                                 .listed = report_.listed});
  TellLeftOut(*world_, notes_);
}

size_t CookRun::CountUnmatched(const World& world) const {
  return UnmatchedFiles(*project_, *world.table, &deps_.director.journal()).size();
}

// Called when no file came or went since, and no sidecar or rule changed.
void CookRun::TellScanAgain() {
  const Standing& standing = changes_.difference->standing;
  for (const StandingWarning& one : standing.warnings) {
    if (one.is_of_scan)
      notes_.Tell(CookEvent::Warned{one.package, one.platform, record::Warning::Parse(one.text)});
  }
  notes_.Tell(CookEvent::Scanned{.files = standing.counts.files,
                                 .packages = standing.counts.packages,
                                 .unmatched = standing.counts.unmatched,
                                 .seconds = absl::ToDoubleSeconds(report_.scan),
                                 .listed = report_.listed});
}

// Called before the journal follows the files: it then says of packages what it said when they were
// cooked.
absl::Status CookRun::FindWhatDiffers() {
  if (!changes_.difference.has_value() && MayLookAtDifference(ask_, deps_.permit)) {
    auto difference = FindDifference(AskOfStanding(), *changes_.world, selection_.packages,
                                     deps_.director.journal(), deps_.stop);
    if (difference.ok()) {
      changes_.difference = *std::move(difference);
      changes_.world->since = changes_.difference->changes;
    } else {
      LogInfo("the cook looks at all: {}", MessageOf(difference.status()));
    }
  }
  TellLeftOutOfList();
  return absl::OkStatus();
}

// Called for every kind of ask, because after this cook nobody can tell any more.
void CookRun::TellLeftOutOfList() {
  if (report_.listed) return;
  const std::optional<int64_t> began_ns = ListedCook(project_->state_directory()).Began();
  if (!began_ns) return;
  const auto since = ChangesOf(*changes_.world, project_->state_directory(),
                               deps_.director.journal().meta(), deps_.stop);
  if (!since.ok())
    return LogInfo("what a list left out is not known: {}", MessageOf(since.status()));
  const std::string text =
      TextOf(FindLeftOut(since->changes, *changes_.world->snapshot, *began_ns));
  if (!text.empty()) notes_.SayAlways(text);
}

// Notes that the journal's base now is of these files.
void CookRun::NoteWhatWasLookedAt() {
  ListedCook last(project_->state_directory());
  if (!report_.listed) return last.Forget();
  if (!ask_.has_changed()) return;  // git named the files, and leaves none out
  if (const absl::Status noted = last.Note(began_); !noted.ok())
    LogWarning("what the list leaves out will not be named: {}", MessageOf(noted));
}

StandingAsk CookRun::AskOfStanding() const {
  Director& director = deps_.director;
  return {.ask = ask_,
          .project = *project_,
          .cookers = setup_->cookers,
          .environment = director.environment(),
          .differing = deps_.differing,
          .project_id = director.project_id(),
          .store = [&director]() -> absl::StatusOr<store::Store*> {
            return &director.stores().store();
          },
          .watched = deps_.watched};
}

absl::Status CookRun::FollowTheFiles() {
  ASSIGN_OR_RETURN(world_, deps_.permit.Follow(std::exchange(changes_.world, nullptr)));
  if (changes_.difference.has_value()) changes_.difference->base->catalog = world_->table;
  NoteWhatWasLookedAt();
  return absl::OkStatus();
}

absl::Status CookRun::Cook() {
  const absl::Time begin = absl::Now();
  deps_.permit.TakeNumber();
  if (IsFirst()) notes_.NoteSizes();
  if (const std::string address = deps_.permit.AwaitsWorkersAt(); !address.empty())
    notes_.SayAlways(fmt::format(
        "no worker is attached: the cook waits for workers at {} (`galley worker` here, "
        "or `galley worker --director {} --token-file FILE` elsewhere)",
        address, address));
  absl::StatusOr<ShellOutcome> outcome = deps_.permit.Cook(Order(), notes_, deps_.stop);
  NoteTimes(begin, absl::Now());
  if (!outcome.ok()) return Infrastructure(outcome.status());
  report_.outcome = *std::move(outcome);
  return absl::OkStatus();
}

// Says whether no cook by the book was published yet.
bool CookRun::IsFirst() const {
  if (!selection_.by_the_book || ask_.repair()) return false;
  return std::ranges::none_of(project_->platforms, [&](const project::Platform& one) {
    const auto last = deps_.director.journal().LastPublished(one.name);
    return !last.ok() || last->sequence != 0;
  });
}

CookOrder CookRun::Order() {
  CookOrder order{.request = {.platforms = 0,
                              .selected = selection_.packages,
                              .by_the_book = selection_.by_the_book,
                              .force = ask_.force(),
                              .fail_fast = ask_.fail_fast(),
                              .follow_soft = !ask_.selection().no_soft_references(),
                              .is_staged = IsStaged(ask_),
                              .of_class = ClassOf(ask_),
                              .filter = filter_},
                  .world = world_,
                  .publishes = !ask_.repair(),
                  .retry_failed = ask_.retry_failed()};
  if (changes_.difference.has_value()) {
    order.request.selected = changes_.difference->selected;
    order.request.standing = order.base = changes_.difference->base;
    order.whole = selection_.packages;
  }
  if (!ask_.repair()) order.select = [this](const World& world) { return SelectIn(world); };
  order.platforms = [this](const World& world) {
    return PlatformsIn(*world.project, ListOf(ask_.platforms()));
  };
  order.refuses = [this](const auto& result) { return RefusalOf(deps_.differing, result); };
  order.stage = [this](const auto& roots, const auto& world) {
    return staging_->StageAll(roots, world);
  };
  return order;
}

bool CookRun::HasEndedWell() const {
  const ShellOutcome& outcome = *report_.outcome;
  return !outcome.ended.is_interrupted && !outcome.ended.is_fail_fast &&
         outcome.ended.infrastructure_error.empty() && outcome.refusal.empty();
}

// Counts staging as a part of the run; most of the time it is its end.
void CookRun::NoteTimes(absl::Time begin, absl::Time end) {
  report_.stage = staging_->time();
  const absl::Time staged_from = end - report_.stage;
  const absl::Time first = std::clamp(notes_.first_cooked(), begin, std::max(begin, staged_from));
  report_.explore = first - begin;
  report_.cook = std::max(absl::ZeroDuration(), staged_from - first);
}

void CookRun::TellTheEnd() {
  const ShellOutcome& outcome = *report_.outcome;
  // A difference does not know which generated packages the patterns name.
  if (!changes_.has_same_names && !ask_.repair()) TellIdleNames();
  if (!ask_.repair() && !outcome.ended.is_interrupted && !changes_.difference.has_value())
    TellIdleNever(*world_, *outcome.world, filter_.get(), HasSelection(ask_.selection()), notes_);
  staging_->TellFailures();
  if (const auto lost = LostText(outcome, project_->store.directory))
    NoteRepair(record::KeptWarning(record::WarningKind::kStoreLost, *lost));
  if (const auto unstarted = UnstartedText(outcome, project_->farm.launcher))
    notes_.WarnInPassing(record::WarningKind::kWorkersMissing, *unstarted);
  if (const auto unproven = UnprovenText(outcome))
    notes_.WarnInPassing(record::WarningKind::kResultsUnproven, *unproven);
  const std::string unanswered =
      UnansweredText(*project_, outcome.observed, deps_.director.environment());
  if (!unanswered.empty()) notes_.SayAlways(unanswered);
  TellUnpublished();
  TellRemovedByRules();
  if (!notes_.sizes() || !HasEndedWell()) return;
  for (const std::string& line : notes_.sizes()->Lines()) notes_.Say(line);
  TellGrowth();
}

// The next cook has no sizes to tell, and tells nothing of growth.
void CookRun::TellGrowth() {
  const std::optional<SizeNotes::Growth> growth = notes_.sizes()->FindGrowth();
  if (!growth) return;
  const std::optional<CatalogEntry> entry = report_.outcome->world->table->Find(growth->package);
  notes_.WarnOfAsk(record::WarningKind::kOutputGrowth, TextOf(*growth, entry ? entry->cooker : ""));
}

// Tells the names and patterns of galley.toml that name nothing, as messages of the scan: they hold
// as long as no file comes or goes. By now the cook's generated packages are known.
void CookRun::TellIdleNames() {
  notes_.SetScanning(true);
  const World& world = *report_.outcome->world;
  for (const record::Warning& one :
       IdleNames(*world.project, *world.table, GeneratedIn(*world.table, &deps_.director.journal()),
                 ListOf(ask_.selection().cultures())))
    notes_.Warn(one.kind, one.text);
  notes_.SetScanning(false);
}

// Returns how the cook ended apart from its outcome.
absl::Status CookRun::TellRefusal() {
  const std::string& refusal = report_.outcome->refusal;
  if (refusal.empty()) return staging_->stopped();
  if (!staging_->is_published()) return WrongUse(refusal);
  // A package was made again after the refusal, because the store had lost its bytes.
  notes_.WarnInPassing(record::WarningKind::kNotDeterministic, refusal);
  return staging_->stopped();
}

void CookRun::TellUnpublished() {
  const ShellOutcome& outcome = *report_.outcome;
  const CookEnded& ended = outcome.ended;
  if (!selection_.by_the_book || ask_.repair() || ended.is_interrupted || ended.is_fail_fast ||
      !ended.infrastructure_error.empty())
    return;
  for (const std::string& platform : notes_.platforms()) {
    if (outcome.roots.contains(platform)) continue;
    const auto last = deps_.director.journal().LastPublished(platform);
    notes_.Tell(
        CookEvent::Warned{"",
                          platform,
                          {record::WarningKind::kNothingPublished,
                           UnpublishedText(notes_.CountFailedOn(platform), outcome.counters.in_cook,
                                           last.ok() && last->sequence != 0)}});
  }
}

void CookRun::Remember() {
  absl::Status remembered = report_.outcome->remembered;
  // If another director has the project, the next cook starts from what that director leaves.
  if (deps_.director.MayWrite().ok()) remembered.Update(deps_.permit.Remember());
  if (remembered.ok()) return;
  deps_.sink.Warn(
      record::WarningKind::kJournal,
      fmt::format("the next cook will look at more than it must: {}", MessageOf(remembered)));
}

// Notes the packages of the cook, and the digest of everything that was observed.
void CookRun::NoteMembers() {
  if (report_.outcome.has_value() && selection_.by_the_book && !ask_.repair())
    members_ = MembersAfter(notes_, *report_.outcome,
                            changes_.difference ? &*changes_.difference : nullptr);
  report_.snapshot = members_.ok() ? members_->snapshot : DigestOfDone(notes_.done());
}

// Records the standing, so that the next cook of the same ask need not run while nothing changes.
void CookRun::RecordStanding() {
  if (report_.outcome->world != world_ || report_.outcome->is_overtaken)
    return LogInfo("cook={}: files changed while it ran, so that the next one looks again",
                   deps_.permit.cook());
  // By now it is known what this cook has read.
  if (!changes_.has_same_names) notes_.NoteUnmatched(CountUnmatched(*world_));
  const auto keep = [&]() -> absl::Status {
    const CookDifference* const difference = changes_.difference ? &*changes_.difference : nullptr;
    // Only a cook by the book has a table of members.
    return KeepStanding(AskOfStanding(), *sources_, notes_, report_,
                        {.members = members_.ok() ? std::move(members_->bytes) : "",
                         .git = changes_.TakeGitState(*sources_, *world_)},
                        difference, changes_.patches ? &*changes_.patches : nullptr,
                        deps_.director.journal());
  };
  const absl::Status kept = keep();
  if (!kept.ok())
    LogInfo("cook={}: the next one looks again: {}", deps_.permit.cook(), MessageOf(kept));
}

// Numbers are for people; a store that does not answer has reported so elsewhere.
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
