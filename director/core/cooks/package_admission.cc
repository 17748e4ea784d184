#include "director/core/cooks/package_admission.h"

#include <string>

#include "director/core/packages/failure_texts.h"
#include "director/core/packages/job_costs.h"

namespace galley::director {

void PackageAdmission::Begin(PackageId id) {
  PackageData& package = packages_[id];
  if (!claimants_.IsWanted(id) || package.outcome != Outcome::kNone || package.is_skipped) return;
  if (package.state == State::kIdle) graph_.lifecycle().SetState(id, State::kRequest, "asked for");
  if (deps_.claims.IsListOutdated(id)) package.generated.reset();  // the package waits for the list
  std::optional<CatalogEntry> entry;
  if (GeneratorName(package.name).empty()) {
    entry = step_.catalog->Find(package.name);
  } else if (package.generated != nullptr) {
    entry = step_.catalog->Generated(package.name, package.generated->cooker,
                                     package.generated->settings);
  } else if (!BeginGenerated(id)) {
    return;
  }
  if (!entry.has_value()) {
    const CookMask namers = NamersOf(id) & package.cooks;
    const CookMask asking = namers & claimants_.masks().active;
    if (asking == 0) return LeaveActiveCooks(id, namers, "its file is gone");
    deps_.claims.Unclaim(id, package.cooks & claimants_.masks().active & ~asking);
    deps_.claims.LeaveOrphans(id, "its generator's file is gone");
    graph_.NoteNoGenerator(id);
    return deps_.package_progress.FailPackage(
        id, Stage::kRequest,
        "unknown package: no source file of that name, or no rule or sidecar makes it a package");
  }
  if (!MayCook(id, *entry)) return;
  if (!entry->error.empty())
    return deps_.package_progress.FailPackage(id, Stage::kRequest, entry->error);
  std::string why;
  if (!deps_.grants.GroupOf(entry->resources, &package.resource_group, &why))
    return deps_.package_progress.FailPackage(id, Stage::kRequest, why);
  package.cost_traits = deps_.costs.TraitsOf(entry->cooker, entry->source_bytes);
  package.work->job_kind = deps_.eligibility.KindOf(*entry, package.resource_group);
  package.cost = CostOf(packages_[id], deps_.costs);
  package.work->memory_max = entry->memory_bytes;
  package.work->has_begun = true;
  if (claimants_.IsForced(id)) {
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if (package.slots[p].phase == Phase::kToLookUp)
        graph_.lifecycle().SetPhase(id, p, Phase::kToCook);
    }
  }
  deps_.package_progress.Advance(id);
}

// The cooks that asked for the package itself, and for which the package fails when its file is
// gone: a folder merely does not hold the package any more, and a package that still refers to it
// fails for the reference.
CookMask PackageAdmission::NamersOf(PackageId id) {
  const PackageData& package = packages_[id];
  bool is_for_all = package.is_cooked_input || !GeneratorName(package.name).empty();
  graph_.edges().ForEachInstigator(id, [&](const InstigatorView& why) {
    is_for_all |= !why.referencer.valid() &&
                  why.category != InstigatorCategory::kCommandLineDirectory &&
                  why.category != InstigatorCategory::kCommandLinePackage;
  });
  return is_for_all ? ~CookMask{0} : package.named_by;
}

// False: the package is over, or has left.
bool PackageAdmission::MayCook(PackageId id, const CatalogEntry& entry) {
  if (!entry.never_cook) return true;
  const PackageData& package = packages_[id];
  const CookMask namers = package.cooks & package.named_by;
  const CookMask named = namers & claimants_.masks().active;
  const CookMask others = package.cooks & claimants_.masks().active & ~named;
  if (named != 0) {
    deps_.claims.Unclaim(id, others);
    deps_.package_progress.FailPackage(id, Stage::kRequest, std::string(kNamedAndNeverCooked));
    return false;
  }
  return LeaveActiveCooks(id, namers, "never cooked"), false;
}

// A settled cook that names the package keeps it, so that the package fails in it again if the cook
// is opened again.
void PackageAdmission::LeaveActiveCooks(PackageId id, CookMask namers, std::string_view reason) {
  if ((namers & claimants_.masks().settling) == 0) return deps_.claims.Leave(id, reason);
  deps_.claims.Unclaim(id, packages_[id].cooks & claimants_.masks().active);
  deps_.claims.LeaveOrphans(id, reason);
  deps_.package_progress.Advance(id);
}

// Asks the package's generator, which has not listed the package yet. False: the package waits, or
// is over. True: there is no generator that could list the package.
bool PackageAdmission::BeginGenerated(PackageId id) {
  const std::string_view name = GeneratorName(packages_[id].name);
  if (GeneratorName(name).empty() && !step_.catalog->Find(name).has_value()) return true;
  const PackageId generator = graph_.FindOrAdd(name);
  deps_.claims.Join(generator, InstigatorCategory::kBuildDependency, id, packages_[id].cooks);
  if (packages_[id].generated == nullptr && deps_.waits.IsOver(generator)) {
    deps_.wait_evaluation.Unlisted(id, generator);
    return false;
  }
  deps_.wait_evaluation.WaitForGenerator(id, generator);
  return false;
}

}  // namespace galley::director
