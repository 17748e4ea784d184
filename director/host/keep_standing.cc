#include <algorithm>
#include <set>
#include <utility>

#include "common/base/status_macros.h"
#include "common/content/patched_file.h"
#include "director/host/changed_rules.h"
#include "director/host/cook_difference.h"
#include "director/host/sandboxes.h"
#include "director/host/standing_facts.h"
#include "director/standing/sandbox_stamps.h"
#include "director/standing/standings.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

absl::Status Differs(std::string_view what) {
  return absl::FailedPreconditionError({what.data(), what.size()});
}

// Says why another cook of the same ask might have another outcome; empty: it would not.
std::string WhyItDoesNotStand(const CookNotes& notes, const CookReport& report) {
  if (!report.end.ok() || !report.outcome.has_value()) return "the cook did not end well";
  const ShellOutcome& outcome = *report.outcome;
  const CookEnded& ended = outcome.ended;
  if (ended.is_interrupted || ended.is_fail_fast || !ended.infrastructure_error.empty() ||
      !outcome.refusal.empty() || report.stage_failed)
    return "the cook did not end well";
  if (!notes.replayed().stands() || outcome.lost_blobs > 0)
    return "something was told that is of this cook alone";
  if (outcome.world == nullptr || outcome.world->table->has_unread_sidecars())
    return "a sidecar could not be read";
  if (outcome.observed.has_conflict()) return "a tool or a variable changed while it ran";
  for (const std::string& platform : notes.platforms()) {
    if (!outcome.roots.contains(platform) || !report.sequences.contains(platform))
      return fmt::format("{} has no root", platform);
  }
  return "";
}

StandingCounts CountsOf(const CookNotes& notes, const Counters& counters) {
  const CookEvent::Scanned& scanned = notes.replayed().scanned();
  return {
      .files = scanned.files,
      .packages = scanned.packages,
      .unmatched = scanned.unmatched,
      .in_cook = counters.in_cook,
      .failed = counters.failed,
      .skipped = counters.skipped,
      .results = counters.results_cooked + counters.results_cached + counters.results_up_to_date,
      .results_failed = counters.results_failed};
}

// Adds what results observed that were not looked at.
void AddObservedBefore(const Standing& before, Standing& standing) {
  const auto less = [](const auto& a, const auto& b) { return a.name < b.name; };
  for (const Fact& fact : before.environment) {
    if (!std::binary_search(standing.environment.begin(), standing.environment.end(), fact, less))
      standing.environment.insert(
          std::lower_bound(standing.environment.begin(), standing.environment.end(), fact, less),
          fact);
  }
  for (const StandingTool& tool : before.tools) {
    const auto is_it = [&](const StandingTool& one) { return one.path == tool.path; };
    if (std::ranges::none_of(standing.tools, is_it)) standing.tools.push_back(tool);
  }
}

// Writes the stamps of all sources: the earlier stamps with what differs, or else all stamps anew.
absl::StatusOr<std::string> SourceStamps(const std::string& state, content::Snapshot& sources,
                                         const CookDifference* difference,
                                         const SourcePatches* patches, bool is_listed,
                                         bool are_read) {
  if (patches != nullptr) {
    ASSIGN_OR_RETURN(const content::StampTable table,
                     Standings(state).Sources(patches->ask, patches->stamps));
    if (are_read) RETURN_IF_ERROR(table.Verify());
    return table.With(patches->patches);
  }
  const auto is_empty = [](const ChangesSince& since) {
    return since.changes.empty() && since.touched.empty();
  };
  // If no scanned file differs, only folders differ.
  if (difference != nullptr && (is_listed || !is_empty(difference->changes))) {
    const Standing& before = difference->standing;
    std::vector<std::string> paths = difference->changes.touched;
    for (const content::Change& change : difference->changes.changes) paths.push_back(change.path);
    const auto table = Standings(state).Sources(before.ask, before.source_stamps);
    const auto of_paths = sources.StampsOf(paths);
    // The cook looked at all files, and Verify looks at the whole table: damage is not kept.
    if (table.ok() && of_paths.ok() && table->Verify().ok()) {
      absl::StatusOr<std::string> stamps = table->With(*of_paths);
      if (stamps.ok()) return stamps;
    }
  }
  return sources.Stamps();
}

// Writes the stamps of a sandbox in the same way.
absl::StatusOr<std::string> StampsOfSandbox(store::Store& store, const StandingPlatform& now,
                                            const std::string& directory, const std::string& state,
                                            const CookDifference* difference, bool are_read,
                                            std::set<std::string>& patched) {
  if (difference != nullptr && difference->unchanged_sandboxes.contains(now.name)) {
    const Standing& before = difference->standing;
    for (const StandingPlatform& old : before.platforms) {
      if (old.name != now.name) continue;
      const auto table = Standings(state).Sandbox(before.ask, old.name, old.sandbox_stamps);
      if (!table.ok() || (are_read && !table->Verify().ok())) break;
      absl::StatusOr<std::string> stamps =
          SandboxStampsAfter(store, *table, old.root, now.root, directory);
      if (stamps.ok()) {
        patched.insert(now.name);
        return stamps;
      }
    }
  }
  return SandboxStamps(store, now.root, directory);
}

// Findings about folders hold for the tables in which only patches differ.
void TellWatched(WatchedTables& watched, const CookDifference& difference, const Standing& now,
                 const StandingTables& tables, const SourcePatches* patches,
                 const std::set<std::string>& patched, const std::string& state) {
  const Standing& before = difference.standing;
  const Standings standings(state);
  if (patches != nullptr) {
    auto table = standings.Sources(now.ask, content::PatchedFile::IdOf(tables.sources));
    if (table.ok())
      watched.Replace(WatchedSources(before), before.source_stamps, *std::move(table));
  }
  for (const StandingPlatform& platform : before.platforms) {
    const auto stamps = tables.sandboxes.find(platform.name);
    if (stamps == tables.sandboxes.end() || !patched.contains(platform.name)) continue;
    auto table =
        standings.Sandbox(now.ask, platform.name, content::PatchedFile::IdOf(stamps->second));
    if (table.ok())
      watched.Replace(WatchedSandbox(before, platform.name), platform.sandbox_stamps,
                      *std::move(table));
  }
}

}  // namespace

absl::Status KeepStanding(const StandingAsk& ask, content::Snapshot& sources,
                          const CookNotes& notes, const CookReport& report, ToKeep keep,
                          const CookDifference* difference, const SourcePatches* patches,
                          Journal& journal) {
  const std::string state = ask.project.state_directory();
  v1::CookAsk of_same = ask.ask;
  of_same.set_force(false);
  of_same.set_retry_failed(false);
  const std::optional<std::string> text = TextOfAsk(of_same, ask.project);
  if (!text.has_value()) return Differs("such a cook is never answered from what stands");
  if (const std::string why = WhyItDoesNotStand(notes, report); !why.empty()) return Differs(why);
  const ShellOutcome& outcome = *report.outcome;
  Standing standing{.ask = *text,
                    .environment = EnvironmentFacts(outcome.observed),
                    .warnings = notes.replayed().warnings(),
                    .failures = notes.replayed().failures(),
                    .counts = CountsOf(notes, outcome.counters),
                    .snapshot = report.snapshot};
  ASSIGN_OR_RETURN(standing.facts, FactsOf(ask.project, ask.cookers));
  standing.rules = RulesOf(ask.project);
  ASSIGN_OR_RETURN(standing.tools, ToolsOf(outcome.observed, ask.project.root));
  if (difference != nullptr) AddObservedBefore(difference->standing, standing);
  standing.base_table = outcome.world->table_id;
  ASSIGN_OR_RETURN(standing.generation, journal.RelyOnGeneration());
  // The next cook sends results that were not sent yet.
  ASSIGN_OR_RETURN(const std::vector<UnsentResult> unsent, journal.Unsent());
  if (!unsent.empty()) return Differs("results were not sent to the remote store yet");
  ASSIGN_OR_RETURN(store::Store* const store, ask.store());
  ASSIGN_OR_RETURN(const store::StoreInfo info, store->Info());
  // The next cook must make bytes again that the store lost since.
  if (info.loss_epoch != outcome.loss_epoch) return Differs("the store lost something meanwhile");
  standing.store_id = info.store_id;
  standing.loss_epoch = info.loss_epoch;
  standing.store_commits = info.commits;
  // A journal that was made anew does not know who looked at what.
  if (journal.MadeAnew()) keep.members.clear();
  standing.git = std::move(keep.git);
  StandingTables tables{.sources = "", .members = std::move(keep.members), .sandboxes = {}};
  // After a cook that looked at everything of a kind, the earlier tables are read whole: a damaged
  // table is not patched, but written anew, and people are told.
  const bool are_read = difference == nullptr || patches == nullptr ||
                        difference->unchanged_sandboxes.size() != notes.platforms().size();
  std::set<std::string> patched;  // sandboxes
  ASSIGN_OR_RETURN(tables.sources, SourceStamps(state, sources, difference, patches,
                                                report.listed.has_value(), are_read));
  for (const std::string& platform : notes.platforms()) {
    const Digest& root = outcome.roots.at(platform);
    standing.platforms.push_back(
        {.name = platform, .root = root, .sequence = report.sequences.at(platform)});
    if (!IsStaged(ask.ask)) continue;
    ASSIGN_OR_RETURN(tables.sandboxes[platform],
                     StampsOfSandbox(*store, standing.platforms.back(),
                                     Sandboxes(ask.project, {}).PathOf(platform), state, difference,
                                     are_read, patched));
  }
  RETURN_IF_ERROR(Standings(state).Keep(standing, tables, are_read));
  if (ask.watched != nullptr && difference != nullptr)
    TellWatched(*ask.watched, *difference, standing, tables, patches, patched, state);
  return absl::OkStatus();
}

}  // namespace galley::director
