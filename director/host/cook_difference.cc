#include "director/host/cook_difference.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/status_macros.h"
#include "common/project/project.h"
#include "common/record/result.h"
#include "director/journal/generation.h"
#include "director/shell/changed_packages.h"
#include "director/shell/snapshot_tables.h"
#include "director/standing/standings.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Of more packages a cook looks at all: that is not much more then, and finds no reason to begin
// again.
constexpr size_t kAlwaysFew = 256;
bool AreFew(size_t packages, size_t of) { return packages <= kAlwaysFew || packages <= of / 4; }

template <typename... Args>
absl::Status LookAtAll(fmt::format_string<Args...> text, Args&&... args) {
  return absl::FailedPreconditionError(fmt::format(text, std::forward<Args>(args)...));
}

absl::StatusOr<ChangesSince> CompareFiles(const Standing& standing,
                                          const std::string& state_directory,
                                          content::Snapshot& files, const JournalMeta& meta) {
  const std::unique_ptr<content::Snapshot> before = BaseTable(state_directory, meta);
  if (before == nullptr) return LookAtAll("the files that it stands for are not known");
  ChangesSince since{.table_id = standing.base_table, .changes = {}, .touched = {}};
  since.changes = content::Difference(*before, files, &since.touched);
  return since;
}

absl::StatusOr<ChangesSince> ChangesOf(const Standing& standing, const std::string& state_directory,
                                       content::Snapshot& files,
                                       const std::optional<ChangesSince>& known,
                                       const JournalMeta& meta,
                                       std::vector<std::string>& left_out) {
  if (standing.base_table.empty() || standing.base_table != meta.table_id)
    return LookAtAll("the files that it stands for are not known");
  ChangesSince since;
  if (known && known->table_id == meta.table_id) {
    since = *known;
  } else {
    ASSIGN_OR_RETURN(since, CompareFiles(standing, state_directory, files, meta));
  }
  for (const content::Change& change : since.changes) {
    const content::FileEntry* const file = files.Find(change.path);
    if (file != nullptr && file->stat.ctime_ns < standing.listed_ns)
      left_out.push_back(change.path);
  }
  return since;
}

// What a package and those that it generated were.
class Before {
 public:
  Before(StandingBase& base, Journal& journal) : base_(base), journal_(journal) {}

  absl::Status Add(const std::string& package) { return AddAll(package, /*is_gone=*/false); }
  // It is in the project no more, and neither is what it generated.
  absl::Status AddGone(const std::string& package) { return AddAll(package, /*is_gone=*/true); }

 private:
  absl::Status AddAll(const std::string& package, bool is_gone) {
    std::vector<std::string> to_do = {package};
    while (!to_do.empty()) {
      const std::string name = std::move(to_do.back());
      to_do.pop_back();
      if (is_gone) base_.gone.insert(name);
      if (base_.before.contains(name)) continue;
      if (base_.members->RootsOf(name) != base_.all_roots())
        return LookAtAll("{} is not in all roots", name);
      ASSIGN_OR_RETURN(std::optional<PackageRecord> record, journal_.Find(name));
      if (!record) return LookAtAll("what {} came to is not known any more", name);
      for (const auto& [platform, one] : record->platforms) {
        ASSIGN_OR_RETURN(const record::Result result, record::DecodeResult(one.result));
        for (const record::Generated& generated : result.details.generated)
          to_do.push_back(name + "/" + generated.name);
      }
      base_.before.emplace(name, *std::move(record));
    }
    return absl::OkStatus();
  }

  StandingBase& base_;
  Journal& journal_;
};

// (A folder that cannot be read fails, too.)
bool IsPackage(const World& world, const std::string& name) {
  return name.find("/_gen/") != std::string::npos || world.table->Find(name).has_value();
}

// Chooser: the packages that a cook looks at since files changed.
class Chooser {
 public:
  Chooser(const Standing& standing, StandingBase& base, const World& world, Journal& journal)
      : standing_(standing),
        base_(base),
        world_(world),
        journal_(journal),
        before_(base, journal) {}

  // `selected`: what the cook asks for, as far as that may be new, sorted by name.
  absl::StatusOr<std::vector<SelectedPackage>> Choose(
      const std::vector<content::Change>& changes, const std::vector<SelectedPackage>& selected) {
    ASSIGN_OR_RETURN(const std::vector<std::string> changed,
                     ChangedPackages(journal_, WithPackagesOfSidecars(changes)));
    names_ = {changed.begin(), changed.end()};
    RETURN_IF_ERROR(FindWhatCameAndWent(changes));
    RETURN_IF_ERROR(FindReferencers());
    if (!AreFew(names_.size(), base_.members->size()))
      return LookAtAll("{} packages looked at what changed", names_.size());
    RETURN_IF_ERROR(ChooseFailed());
    for (const std::string& package : names_) {
      if (base_.gone.contains(package)) continue;
      if (!base_.WasInCook(package)) {
        if (came_.contains(package)) ChooseNew(package, selected);
        continue;
      }
      // (What it led to before it failed is not known.)
      if (failed_.contains(package) || !base_.members->Find(package).has_value())
        return LookAtAll("{} failed, and something that it looked at changed", package);
      RETURN_IF_ERROR(before_.Add(package));
      chosen_.push_back({package, InstigatorCategory::kIterativeCook});
    }
    for (const std::string& package : failed_)
      chosen_.push_back({package, InstigatorCategory::kIterativeCook});
    return std::move(chosen_);
  }

 private:
  // (Who reads what such a package is cooked to looks at the package, and not at the sidecar.)
  static std::vector<content::Change> WithPackagesOfSidecars(
      const std::vector<content::Change>& changes) {
    std::map<std::string, content::Change> all;
    for (const content::Change& change : changes) {
      all.emplace(change.path, change);
      if (!project::IsSidecar(change.path)) continue;
      const std::string package =
          change.path.substr(0, change.path.size() - project::kSidecarSuffix.size());
      all.emplace(package, content::Change{package, true, true});
    }
    std::vector<content::Change> sorted;
    for (auto& [path, change] : all) sorted.push_back(std::move(change));
    return sorted;
  }

  absl::Status FindWhatCameAndWent(const std::vector<content::Change>& changes) {
    for (const content::Change& change : changes) {
      const bool is_sidecar = project::IsSidecar(change.path);
      if (change.was_there && change.is_there && !is_sidecar) continue;
      has_others_ = true;
      if (const std::string text = WarningOfNoPackage(); !text.empty())
        return LookAtAll("{} came or went, and it was said that {}", change.path, text);
      if (change.was_there != change.is_there && IsNamedByNever(change.path))
        return LookAtAll("{} came or went, and [cook] never names it", change.path);
      const size_t of_suffix = is_sidecar ? project::kSidecarSuffix.size() : 0;
      const std::string package = change.path.substr(0, change.path.size() - of_suffix);
      // (A package that is not one of a culture leads to those that are.)
      if (!world_.table_options.cultures.empty() && package.find("/L10N/") != std::string::npos)
        return LookAtAll("{} came or went", package);
      const bool is_package = world_.table->Find(package).has_value();
      if (is_package) came_.insert(package);
      if (is_package || !base_.WasInCook(package)) continue;
      if (!base_.members->Find(package).has_value())
        return LookAtAll("{} failed, and is gone", package);
      RETURN_IF_ERROR(before_.AddGone(package));
    }
    return absl::OkStatus();
  }

  // It may be said with other names now.
  std::string WarningOfNoPackage() const {
    for (const StandingWarning& one : standing_.warnings) {
      if (one.package.empty() && one.platform.empty() && !one.is_of_scan) return one.text;
    }
    return "";
  }

  // (Of a difference it is not known what the patterns name that name nothing else.)
  bool IsNamedByNever(const std::string& path) const {
    const std::vector<project::Pattern>& never = world_.project->cook.never;
    return std::any_of(never.begin(), never.end(), [&](const project::Pattern& one) {
      const absl::StatusOr<content::Glob> glob = content::Glob::Parse(one.text);
      return !glob.ok() || glob->Matches(path);
    });
  }

  // Who refers to what went looks again; and who is warned of something, for what came may be what
  // it missed.
  absl::Status FindReferencers() {
    if (!base_.gone.empty() && !journal_.meta().has_all_reasons)
      return LookAtAll("who refers to {} is not known", *base_.gone.begin());
    for (const std::string& package : base_.gone) {
      for (const InstigatorRecord& reason : base_.before.at(package).instigators) {
        if (!reason.referencer.empty()) names_.insert(reason.referencer);
      }
    }
    if (!has_others_) return absl::OkStatus();
    for (const StandingWarning& warning : standing_.warnings) {
      if (!warning.is_of_scan && base_.WasInCook(warning.package)) names_.insert(warning.package);
    }
    return absl::OkStatus();
  }

  // Those that failed are judged again: what they looked at may not be known.
  absl::Status ChooseFailed() {
    for (const auto& [package, platform] : base_.failed) {
      if (IsPackage(world_, package)) failed_.insert(package);
    }
    for (const StandingFailure& failure : standing_.failures) {
      // Its outputs are in no root, and may be in conflict with others now.
      if (failure.stage == static_cast<uint32_t>(Stage::kCommit))
        return LookAtAll("{} is in conflict with another package", failure.package);
    }
    // (A warning of a package that failed is told again with it.)
    if (has_others_) {
      for (const StandingWarning& warning : standing_.warnings) {
        if (failed_.contains(warning.package)) names_.erase(warning.package);
      }
    }
    return absl::OkStatus();
  }

  void ChooseNew(const std::string& package, const std::vector<SelectedPackage>& selected) {
    const auto less = [](const SelectedPackage& one, const std::string& name) {
      return one.name < name;
    };
    for (auto at = std::lower_bound(selected.begin(), selected.end(), package, less);
         at != selected.end() && at->name == package; ++at)
      chosen_.push_back(*at);
  }

  const Standing& standing_;
  StandingBase& base_;
  const World& world_;
  Journal& journal_;
  Before before_;
  std::set<std::string> names_, came_, failed_;
  bool has_others_ = false;  // files came or went, or a sidecar is another one
  std::vector<SelectedPackage> chosen_;
};

std::shared_ptr<StandingBase> BaseOf(const Standing& standing, Members members) {
  auto base = std::make_shared<StandingBase>();
  base->members = std::make_shared<const Members>(std::move(members));
  base->loss_epoch = standing.loss_epoch;
  for (const StandingPlatform& platform : standing.platforms)
    base->roots.emplace(platform.name, platform.root);
  for (const StandingFailure& failure : standing.failures)
    base->failed.emplace(failure.package, failure.platform);
  return base;
}

// The packages of which something was told by the cook itself.
std::set<std::string, std::less<>> LookedAt(const CookNotes& notes) {
  std::set<std::string, std::less<>> packages;
  for (const auto& [where, key] : notes.done()) packages.insert(where.first);
  for (std::string& package : notes.FailedPackages()) packages.insert(std::move(package));
  return packages;
}

}  // namespace

absl::StatusOr<CookDifference> FindDifference(const StandingAsk& ask, const World& world,
                                              const std::vector<SelectedPackage>& selected,
                                              Journal& journal, Cancellation& stop,
                                              std::vector<std::string>& left_out) {
  ASSIGN_OR_RETURN(Standing standing, FindButFiles(ask, stop));
  if (standing.counts.skipped > 0) return LookAtAll("a package was not attempted");
  const std::string state = ask.project.state_directory();
  ASSIGN_OR_RETURN(Members members, Standings(state).MembersOf(standing.ask, standing.members));
  ASSIGN_OR_RETURN(ChangesSince changes, ChangesOf(standing, state, *world.snapshot, world.since,
                                                   journal.meta(), left_out));
  CookDifference difference{.base = BaseOf(standing, std::move(members)), .selected = {}};
  ASSIGN_OR_RETURN(
      difference.selected,
      Chooser(standing, *difference.base, world, journal).Choose(changes.changes, selected));
  if (journal.MadeAnew() || JournalGeneration::Read(state) != standing.generation)
    return LookAtAll("what is known of packages changed");
  difference.changes = std::move(changes);
  difference.standing = std::move(standing);
  return difference;
}

std::optional<Digest> LiesThere(CookDifference& difference, const StandingAsk& ask,
                                const std::string& platform, Cancellation& stop) {
  const Standing& standing = difference.standing;
  const auto is_of_sandbox = [&](const StandingWarning& one) {
    return one.package.empty() && one.platform == platform;
  };
  if (std::any_of(standing.warnings.begin(), standing.warnings.end(), is_of_sandbox))
    return std::nullopt;  // it is said anew
  for (const StandingPlatform& one : standing.platforms) {
    if (one.name != platform || one.sandbox_stamps.empty()) continue;
    const auto check = CheckSandbox(ask, standing, one, stop);
    if (!check.ok() || !check->holds) break;
    difference.lay_there.insert(platform);
    return one.root;
  }
  return std::nullopt;
}

void TellTheRest(const CookDifference& difference, CookNotes& notes, Counters& counters) {
  const Standing& standing = difference.standing;
  const StandingBase& base = *difference.base;
  const uint64_t platforms = base.members->platforms().size();
  StandCounts rest{.packages = standing.counts.in_cook,
                   .failed = standing.counts.failed,
                   .results = standing.counts.results,
                   .is_rest = true};
  uint64_t results_failed = standing.counts.results_failed;
  std::set<std::string, std::less<>> looked_at = LookedAt(notes);
  looked_at.insert(base.gone.begin(), base.gone.end());
  for (const std::string& package : looked_at) {
    if (!base.WasInCook(package)) continue;
    if (!base.gone.contains(package) && !IsPackage(*base.world, package)) continue;
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
  notes.Stands(rest);

  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> told;
  const std::vector<StandingWarning> now = notes.told().warnings();
  for (const StandingWarning& one : now) told.emplace(one.package, one.platform, one.text);
  Standing again;
  for (const StandingWarning& one : standing.warnings) {
    // What was said of a sandbox is said anew by staging, and what of files by the scan.
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

absl::StatusOr<std::string> MembersAfter(const CookNotes& notes, const ShellOutcome& outcome,
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
    const auto at = std::find(platforms.begin(), platforms.end(), where.second);
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
