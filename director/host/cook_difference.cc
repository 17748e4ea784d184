#include "director/host/cook_difference.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/content/changes.h"
#include "director/host/changed_rules.h"
#include "director/journal/generation.h"
#include "director/shell/choose_packages.h"
#include "director/shell/snapshot_tables.h"
#include "director/standing/standings.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

template <typename... Args>
absl::Status LookAtAll(fmt::format_string<Args...> text, Args&&... args) {
  return FailedPreconditionError(text, std::forward<Args>(args)...);
}

// Checks that the packages are the same. A package that comes or goes is found by a scan, and so
// are errors that concern all packages.
absl::Status AreTheSamePackages(const std::vector<std::string>& names, const StandingBase& base,
                                const World& world) {
  for (const std::string& name : names) {
    const std::optional<CatalogEntry> entry = world.table->Find(name);
    if (!entry || !base.WasInCook(name)) return LookAtAll("a rule makes {} another one", name);
    if (!entry->error.empty()) return LookAtAll("{}: {}", name, entry->error);
  }
  return names.empty() || world.table->resolver()->CheckRules().empty()
             ? absl::OkStatus()
             : LookAtAll("something is wrong with the rules");
}

// Returns the packages of which the cook itself told something.
std::set<std::string, std::less<>> LookedAt(const CookNotes& notes) {
  std::set<std::string, std::less<>> packages;
  for (const auto& [where, key] : notes.done()) packages.insert(where.first);
  for (std::string& package : notes.FailedPackages()) packages.insert(std::move(package));
  return packages;
}

}  // namespace

absl::StatusOr<ChangesSince> ChangesOf(const World& world, const std::string& state_directory,
                                       const JournalMeta& meta, const Cancellation& stop) {
  if (world.since && world.since->table_id == meta.table_id) return *world.since;
  const std::unique_ptr<content::Snapshot> before = BaseTable(state_directory, meta);
  if (before == nullptr) return LookAtAll("the files that it stands for are not known");
  ChangesSince since{.table_id = meta.table_id, .changes = {}, .touched = {}};
  since.changes = content::DiffSnapshots(*before, *world.snapshot, &since.touched, &stop);
  return since;
}

absl::StatusOr<CookDifference> FindDifference(const StandingAsk& ask, const World& world,
                                              const std::vector<SelectedPackage>& selected,
                                              Journal& journal, Cancellation& stop) {
  ASSIGN_OR_RETURN(Standing standing, FindButFiles(ask, stop));
  if (standing.counts.skipped > 0) return LookAtAll("a package was not attempted");
  const std::string state = ask.project.state_directory();
  ASSIGN_OR_RETURN(Members members, Standings(state).MembersOf(standing.ask, standing.members));
  if (standing.base_table.empty() || standing.base_table != journal.meta().table_id)
    return LookAtAll("the files that it stands for are not known");
  ASSIGN_OR_RETURN(ChangesSince changes, ChangesOf(world, state, journal.meta(), stop));
  ASSIGN_OR_RETURN(
      std::vector<std::string> of_other_rules,
      NamesOf(DifferingRules(standing.rules, RulesOf(ask.project)), *world.snapshot, members));
  CookDifference difference{.base = BaseOf(standing, std::move(members)), .selected = {}};
  if (selected.empty())
    RETURN_IF_ERROR(AreTheSamePackages(of_other_rules, *difference.base, world));
  ASSIGN_OR_RETURN(difference.selected,
                   ChoosePackages(standing,
                                  {.catalog = *world.table,
                                   .has_cultures = !world.project->cook.cultures.empty(),
                                   .never = world.project->cook.never,
                                   .of_other_rules = std::move(of_other_rules)},
                                  changes.changes, selected, journal, *difference.base));
  if (journal.MadeAnew() || JournalGeneration::Read(state) != standing.generation)
    return LookAtAll("what is known of packages changed");
  difference.changes = std::move(changes);
  difference.standing = std::move(standing);
  return difference;
}

std::optional<Digest> RootIfUnchanged(CookDifference& difference, const StandingAsk& ask,
                                      const std::string& platform, Cancellation& stop) {
  const Standing& standing = difference.standing;
  const auto is_of_sandbox = [&](const StandingWarning& one) {
    return one.package.empty() && one.platform == platform;
  };
  if (std::ranges::any_of(standing.warnings, is_of_sandbox))
    return std::nullopt;  // it is told anew
  for (const StandingPlatform& one : standing.platforms) {
    if (one.name != platform || one.sandbox_stamps.empty()) continue;
    const auto check = CheckSandbox(ask, standing, one, stop, /*is_kept=*/false);
    if (!check.ok() || !check->holds) break;
    difference.unchanged_sandboxes.insert(platform);
    return one.root;
  }
  return std::nullopt;
}

void TellTheRest(const CookDifference& difference, CookNotes& notes, Counters& counters) {
  const Standing& standing = difference.standing;
  const StandingBase& base = *difference.base;
  const uint64_t platforms = base.members->platforms().size();
  CookEvent::Stands rest{.packages = standing.counts.in_cook,
                         .failed = standing.counts.failed,
                         .results = standing.counts.results,
                         .is_rest = true};
  uint64_t results_failed = standing.counts.results_failed;
  std::set<std::string, std::less<>> looked_at = LookedAt(notes);
  looked_at.insert(base.gone.begin(), base.gone.end());
  for (const std::string& package : looked_at) {
    if (!base.WasInCook(package)) continue;
    if (!base.gone.contains(package) && !IsPackage(*base.catalog, package)) continue;
    uint64_t failed = 0;
    for (const std::string& platform : base.members->platforms())
      failed += base.HasFailed(package, platform);
    --rest.packages;
    rest.failed -= failed > 0;
    rest.results -= platforms - failed;
    results_failed -= failed;
  }
  counters.in_cook += rest.packages;
  counters.failed += rest.failed;
  counters.up_to_date += rest.packages - rest.failed;
  counters.results_up_to_date += rest.results;
  counters.results_failed += results_failed;
  counters.results_wanted += rest.results + results_failed;
  notes.Tell(rest);

  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> told;
  const std::vector<StandingWarning> now = notes.replayed().warnings();
  for (const StandingWarning& one : now) told.emplace(one.package, one.platform, one.text);
  Standing again;
  for (const StandingWarning& one : standing.warnings) {
    // Staging tells anew about a sandbox, and the scan about files.
    const bool is_of_sandbox = one.package.empty() && !one.platform.empty();
    if (is_of_sandbox || one.is_of_scan || looked_at.contains(one.package) ||
        (one.package.empty() && told.contains({one.package, one.platform, one.text})))
      continue;
    again.warnings.push_back(one);
  }
  for (const StandingFailure& one : standing.failures) {
    if (!looked_at.contains(one.package)) again.failures.push_back(one);
  }
  TellAgain(again, notes);
}

absl::StatusOr<MembersFile> MembersAfter(const CookNotes& notes, const ShellOutcome& outcome,
                                         const CookDifference* difference) {
  const std::vector<std::string>& platforms = notes.platforms();
  std::map<std::string_view, Member> changed;
  const auto member_of = [&](const std::string& package) -> Member& {
    const auto [at, is_new] = changed.try_emplace(package);
    Member& member = at->second;
    if (is_new) {
      if (difference != nullptr) member.roots = difference->base->members->RootsOf(package);
      member.package = package;
      member.keys.resize(platforms.size());
    }
    return member;
  };
  for (size_t p = 0; p < platforms.size(); ++p) {
    const auto in_root = outcome.in_roots.find(platforms[p]);
    if (in_root == outcome.in_roots.end())
      return LookAtAll("what is in the root of {} is not known", platforms[p]);
    for (const StoredResultPtr& result : *in_root->second)
      member_of(result->package).roots |= 1u << p;
  }
  for (const auto& [where, key] : notes.done()) {
    const auto at = std::ranges::find(platforms, where.second);
    if (at != platforms.end())
      member_of(where.first).keys[static_cast<size_t>(at - platforms.begin())] = key;
  }
  std::vector<Member> members;
  members.reserve(changed.size());
  for (auto& [package, member] : changed) members.push_back(std::move(member));
  if (difference == nullptr) return EncodeMembers(platforms, std::move(members));
  if (difference->base->members->platforms() != platforms)
    return LookAtAll("the platforms are others");
  return difference->base->members->With(members, difference->base->gone);
}

}  // namespace galley::director
