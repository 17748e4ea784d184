#include "director/shell/choose_packages.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/content/glob.h"
#include "common/record/result.h"
#include "director/shell/changed_packages.h"
#include "director/shell/instigator_notes.h"

namespace galley::director {
namespace {

// A cook that would look at more packages than this looks at all packages: that costs little more
// then, and gives no reason to begin again.
constexpr size_t kAlwaysFew = 256;
bool AreFew(size_t packages, size_t of) { return packages <= kAlwaysFew || packages <= of / 4; }

constexpr auto& LookAtAll = FailedPreconditionError;

// Before: what a package, and the packages that it generated, were before.
class Before {
 public:
  Before(StandingBase& base, Journal& journal) : base_(base), journal_(journal) {}

  absl::Status Add(const std::string& package) { return AddAll(package, /*is_gone=*/false); }
  // The project no longer has the package, nor anything that the package generated.
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

// Chooser: the packages that a cook looks at since files changed.
class Chooser {
 public:
  Chooser(const Standing& standing, StandingBase& base, const ChangedProject& project,
          Journal& journal)
      : standing_(standing),
        base_(base),
        project_(project),
        journal_(journal),
        before_(base, journal) {}

  // `selected`: what the cook asks for, as far as it may be new, sorted by name.
  absl::StatusOr<std::vector<SelectedPackage>> Choose(
      const std::vector<content::Change>& changes, const std::vector<SelectedPackage>& selected) {
    ASSIGN_OR_RETURN(const std::vector<std::string> changed,
                     ChangedPackages(journal_, WithPackagesOfOtherRules(changes)));
    names_ = {changed.begin(), changed.end()};
    RETURN_IF_ERROR(FindFailed());
    RETURN_IF_ERROR(FindWhatCameAndWent(changes));
    for (const std::string& name : project_.of_other_rules)
      RETURN_IF_ERROR(JudgePackage(name, name));
    RETURN_IF_ERROR(FindReferencers());
    if (!AreFew(names_.size(), base_.members->size()))
      return LookAtAll("{} packages looked at what changed", names_.size());
    for (const std::string& package : names_) {
      if (base_.gone.contains(package)) continue;
      if (!base_.WasInCook(package)) {
        if (came_.contains(package)) ChooseNew(package, selected);
        continue;
      }
      // The references that the package had before it failed are not known.
      if (failed_.contains(package) || !base_.members->Find(package).has_value())
        return LookAtAll("{} failed, and something that it looked at changed", package);
      RETURN_IF_ERROR(before_.Add(package));
      chosen_.push_back({package, InstigatorCategory::kIterativeCook});
    }
    for (const std::string& package : failed_)
      chosen_.push_back({package, InstigatorCategory::kIterativeCook});
    if (chosen_.empty() && base_.gone.size() >= base_.members->size())
      return LookAtAll("all packages are gone");
    return std::move(chosen_);
  }

 private:
  // A reader of the cooked form of such a package looks at the package, and not at its sidecar or
  // rule.
  std::vector<content::Change> WithPackagesOfOtherRules(
      const std::vector<content::Change>& changes) const {
    std::map<std::string, content::Change> all;
    for (const std::string& name : project_.of_other_rules)
      all.emplace(name, content::Change{name, true, true});
    for (const content::Change& change : changes) {
      all[change.path] = change;
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
      if (change.was_there != change.is_there && IsNamedByNever(change.path))
        return LookAtAll("{} came or went, and [cook] never names it", change.path);
      const size_t of_suffix = is_sidecar ? project::kSidecarSuffix.size() : 0;
      RETURN_IF_ERROR(
          JudgePackage(change.path.substr(0, change.path.size() - of_suffix), change.path));
    }
    return absl::OkStatus();
  }

  // `path` came, went or changed: the file may now be a package, be none any more, or be another
  // one.
  absl::Status JudgePackage(const std::string& package, const std::string& path) {
    has_others_ = true;
    if (const std::string text = WarningOfNoPackage(); !text.empty())
      return LookAtAll("{} came, went or is another one, and it was said that {}", path, text);
    // A package leads to the packages of its cultures without a reference.
    if (project_.has_cultures) return LookAtAll("{} came, went or is another one", path);
    const bool is_package = project_.catalog.Find(package).has_value();
    if (is_package) came_.insert(package);
    if (is_package || !base_.WasInCook(package)) return absl::OkStatus();
    if (!base_.members->Find(package).has_value())
      return LookAtAll("{} failed, and is gone", package);
    return before_.AddGone(package);
  }

  // The warning may now name other packages.
  std::string WarningOfNoPackage() const {
    for (const StandingWarning& one : standing_.warnings) {
      if (one.package.empty() && one.platform.empty() && !one.is_of_scan) return one.text;
    }
    return "";
  }

  // A difference does not know what the patterns alone name.
  bool IsNamedByNever(const std::string& path) const {
    const std::vector<project::Pattern>& never = project_.never;
    return std::ranges::any_of(never, [&](const project::Pattern& one) {
      const absl::StatusOr<content::Glob> glob = content::Glob::Parse(one.text);
      return !glob.ok() || glob->Matches(path);
    });
  }

  // Packages that refer to a package that went look again. So do packages with a warning, because a
  // new package may be the missing one.
  absl::Status FindReferencers() {
    if (!base_.gone.empty() && journal_.meta().reasons_of != ReasonsOf(base_.members->platforms()))
      return LookAtAll("who refers to {} is not known", *base_.gone.begin());
    for (const std::string& package : base_.gone) {
      for (const InstigatorRecord& reason : base_.before.at(package).instigators) {
        if (!reason.referencer.empty()) names_.insert(reason.referencer);
      }
    }
    if (!has_others_) return absl::OkStatus();
    // Packages that failed are looked at anyway, with their warnings.
    for (const StandingWarning& warning : standing_.warnings) {
      if (!warning.is_of_scan && base_.WasInCook(warning.package) &&
          !failed_.contains(warning.package))
        names_.insert(warning.package);
    }
    return absl::OkStatus();
  }

  // Packages that failed are judged again, because their observations may not be known.
  absl::Status FindFailed() {
    for (const auto& [package, platform] : base_.failed) {
      if (IsPackage(project_.catalog, package)) failed_.insert(package);
    }
    for (const StandingFailure& failure : standing_.failures) {
      // The outputs of the package are in no root, and may now be in conflict with other outputs.
      if (failure.stage == static_cast<uint32_t>(Stage::kCommit))
        return LookAtAll("{} is in conflict with another package", failure.package);
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
  const ChangedProject& project_;
  Journal& journal_;
  Before before_;
  std::set<std::string> names_, came_, failed_;
  bool has_others_ = false;  // files came or went, or a sidecar is another one
  std::vector<SelectedPackage> chosen_;
};

}  // namespace

bool IsPackage(const Catalog& catalog, const std::string& name) {
  return name.find("/_gen/") != std::string::npos || catalog.Find(name).has_value();
}

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

absl::StatusOr<std::vector<SelectedPackage>> ChoosePackages(
    const Standing& standing, const ChangedProject& project,
    const std::vector<content::Change>& changes, const std::vector<SelectedPackage>& selected,
    Journal& journal, StandingBase& base) {
  return Chooser(standing, base, project, journal).Choose(changes, selected);
}

}  // namespace galley::director
