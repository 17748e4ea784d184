#include "director/shell/difference_root.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/result.h"
#include "common/tree/edit_tree.h"
#include "director/shell/lost_files.h"
#include "director/shell/root_builder.h"

namespace galley::director {
namespace {

constexpr auto& TooNarrow = FailedPreconditionError;

bool SameGenerated(const std::vector<record::Generated>& a,
                   const std::vector<record::Generated>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return x.name == y.name; });
}

std::set<record::Observation> CookedInputs(const std::vector<record::Observed>& observed) {
  std::set<record::Observation> inputs;
  for (const record::Observed& one : observed) {
    if (one.what.kind == record::ObservationKind::kCooked) inputs.insert(one.what);
  }
  return inputs;
}

class Maker {
 public:
  Maker(const DifferenceDeps& deps, const std::string& platform)
      : deps_(deps), base_(deps.base), platform_(platform) {}

  absl::StatusOr<DifferenceRoot> Make(const BuildRoot& request) {
    const std::vector<std::string>& platforms = base_.members->platforms();
    const auto at = std::ranges::find(platforms, platform_);
    const auto root = base_.roots.find(platform_);
    if (at == platforms.end() || root == base_.roots.end())
      return TooNarrow("{} had no root", platform_);
    index_ = static_cast<size_t>(at - platforms.begin());
    is_for_windows_ = IsForWindows(deps_.sources, request.platform);
    if (request.round > 0) return TooNarrow("the store lost something");
    ASSIGN_OR_RETURN(const store::StoreInfo info, deps_.store.Info());
    if (info.loss_epoch != base_.loss_epoch) return TooNarrow("the store lost something");
    std::set<std::string_view> there;
    std::vector<StoredResultPtr> held;
    for (const auto& [package, result] : request.packages) {
      held.push_back(deps_.results.Get(result));
      if (held.back() == nullptr || deps_.results.IsDisputed(result))
        return TooNarrow("a result is not known any more");
      there.insert(held.back()->package);
      RETURN_IF_ERROR(Take(*held.back(), package));
    }
    RETURN_IF_ERROR(CheckReaders(there));
    for (const auto& [package, record] : base_.before) {
      if (!WasInRoot(base_.members->RootsOf(package)) || there.contains(package)) continue;
      if (!base_.gone.contains(package))
        return TooNarrow("{} is not there any more on {}", package, platform_);
      RETURN_IF_ERROR(TakeOut(package, record));
    }
    return Finish(root->second, request);
  }

 private:
  bool WasInRoot(uint32_t roots) const { return (roots >> index_ & 1) != 0; }

  absl::Status Take(const StoredResult& now, PackageId id) {
    if (base_.HasFailed(now.package, platform_))
      return TooNarrow("{} failed on {}, and does no longer", now.package, platform_);
    const std::optional<Member> member = base_.members->Find(now.package);
    if (!member || !WasInRoot(member->roots)) {
      // The package may be in the cook because it failed on another platform, and was looked at for
      // that.
      if (base_.WasInCook(now.package))
        return TooNarrow("{} was in the cook, and not in the root of {}", now.package, platform_);
      NoteNew(now);
      new_.push_back(now.package);
      return Add(now, id, {});
    }
    const auto record = base_.before.find(now.package);
    const std::optional<Digest>& key = member->keys[index_];
    if (record == base_.before.end()) {
      if (key != now.action_key) return TooNarrow("{} is another one", now.package);
      return absl::OkStatus();
    }
    const auto before = record->second.platforms.find(platform_);
    if (before == record->second.platforms.end() || key != before->second.action_key)
      return TooNarrow("what {} came to is not known any more", now.package);
    ASSIGN_OR_RETURN(const record::Result old, record::DecodeResult(before->second.result));
    if (!SameGenerated(old.details.generated, now.result.details.generated))
      return TooNarrow("{} generates other packages", now.package);
    const std::set<record::Observation> inputs = CookedInputs(now.observed);
    const std::set<record::Observation> old_inputs = CookedInputs(before->second.observed);
    if (!std::ranges::includes(inputs, old_inputs))
      return TooNarrow("{} does not read all cooked inputs of before", now.package);
    ReferenceSets& sets = references_[now.package];
    sets = {.before = SetOf(now.package, old, before->second.observed),
            .now = SetOf(now.package, now.result, now.observed)};
    RETURN_IF_ERROR(CheckTargets(now.package, sets));
    return Add(now, id, old.outputs);
  }

  // Takes out a package that went, and all packages to which no other package leads.
  absl::Status TakeOut(const std::string& package, const PackageRecord& record) {
    const auto before = record.platforms.find(platform_);
    const std::optional<Member> member = base_.members->Find(package);
    if (before == record.platforms.end() || !member ||
        member->keys[index_] != before->second.action_key)
      return TooNarrow("what {} came to is not known any more", package);
    ASSIGN_OR_RETURN(const record::Result old, record::DecodeResult(before->second.result));
    ReferenceSets& sets = references_[package];
    sets = {.before = SetOf(package, old, before->second.observed), .now = {}};
    const std::string stem = deps_.sources.StagePath(package);
    for (const record::Output& output : old.outputs) removed_.push_back(stem + output.suffix);
    return CheckTargets(package, sets);
  }

  absl::Status Add(const StoredResult& now, PackageId id, const std::vector<record::Output>& old) {
    if (old == now.result.outputs) return absl::OkStatus();
    const std::string stem = deps_.sources.StagePath(now.package);
    for (const record::Output& output : old) removed_.push_back(stem + output.suffix);
    for (const record::Output& output : now.result.outputs) {
      added_.push_back({stem + output.suffix, output.digest, output.is_executable});
      owners_.push_back(id);
      if (const std::string fault = NameFault(added_.back().path, is_for_windows_); !fault.empty())
        return TooNarrow("{}: {}", added_.back().path, fault);
    }
    return absl::OkStatus();
  }

  ReferenceSets::Set SetOf(const std::string& package, const record::Result& result,
                           const std::vector<record::Observed>& observed) const {
    ReferenceSets::Set targets;
    for (const record::Reference& reference : result.details.references) {
      if (reference.kind == record::ReferenceKind::kEditor) continue;
      ReferenceTarget target;
      if (reference.path.starts_with("_gen/")) {
        target.name = package + "/" + reference.path;
      } else {
        target = base_.catalog->Resolve(package, reference.path);
      }
      if (!target.error.empty()) continue;
      targets.emplace(target.name, reference.kind == record::ReferenceKind::kHard
                                       ? InstigatorCategory::kHardDependency
                                       : InstigatorCategory::kSoftDependency);
    }
    for (const record::Observation& input : CookedInputs(observed)) {
      if (auto name = content::ResolveAsked(package, input.subject); name.ok())
        targets.emplace(*std::move(name), InstigatorCategory::kBuildDependency);
    }
    return targets;
  }

  void NoteNew(const StoredResult& now) {
    ReferenceSets::Set& led_to = references_[now.package].now;
    led_to = SetOf(now.package, now.result, now.observed);
    // A cook of a difference is by the book, and has the cultures of the project.
    for (const std::string& variant : base_.catalog->VariantsOf(now.package, std::nullopt))
      led_to.emplace(variant, InstigatorCategory::kCulture);
  }

  // Readers of a package that enters the cook were warned earlier that the package is not in the
  // cook.
  absl::Status CheckReaders(const std::set<std::string_view>& there) const {
    std::vector<content::Change> read;
    for (const std::string& package : new_)
      read.push_back({.path = package, .was_there = true, .is_there = true});
    ASSIGN_OR_RETURN(const std::vector<std::string> readers, deps_.journal.Affected(read));
    for (const std::string& reader : readers) {
      if (!there.contains(reader) && base_.WasInCook(reader))
        return TooNarrow("{} reads a package that came into the cook", reader);
    }
    return absl::OkStatus();
  }

  // A target that nobody refers to any more stays in the cook if the cook asks for the target
  // itself.
  absl::Status CheckTargets(const std::string& package, const ReferenceSets& sets) const {
    // A package that is only read while other packages are cooked is in no root.
    const auto is_led_to = [&](const std::string& target, InstigatorCategory as) {
      return std::ranges::any_of(sets.now, [&](const auto& one) {
        return one.first == target && (as == InstigatorCategory::kBuildDependency ||
                                       one.second != InstigatorCategory::kBuildDependency);
      });
    };
    for (const auto& [target, category] : sets.before) {
      if (!is_led_to(target, category) && !base_.gone.contains(target) && !deps_.selects(target))
        return TooNarrow("{} does not refer to {} any more", package, target);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<DifferenceRoot> Finish(const Digest& root, const BuildRoot& request) {
    ASSIGN_OR_RETURN(
        const tree::EditedTree edited,
        tree::EditTree(
            root, removed_, added_, [&](const Digest& digest) { return deps_.store.Get(digest); },
            [](std::string_view name) { return content::FoldName(name); }));
    // A root without packages is not published; a root of packages without outputs is published.
    if (edited.root == Digest()) return TooNarrow("nothing is left in the root");
    ASSIGN_OR_RETURN(const std::vector<RootBuilt::Lost> lost,
                     LostFiles(deps_.store, added_, owners_));
    if (!lost.empty()) return TooNarrow("the store lost {}", lost.front().path);
    for (const auto& [digest, bytes] : edited.directories)
      RETURN_IF_ERROR(deps_.store.Put(digest, bytes));
    DifferenceRoot made{.built = {.platform = request.platform, .root = edited.root},
                        .references = std::move(references_)};
    made.built.platform_set = request.platform_set;
    made.built.round = request.round;
    made.built.request = request.request;
    return made;
  }

  const DifferenceDeps& deps_;
  const StandingBase& base_;
  const std::string& platform_;
  bool is_for_windows_ = false;
  size_t index_ = 0;              // of the platform, in the table of members
  std::vector<std::string> new_;  // packages that the root did not hold
  std::vector<std::string> removed_;
  std::vector<tree::TreeFile> added_;
  std::vector<PackageId> owners_;
  ReferencesOf references_;
};

}  // namespace

void Merge(const ReferencesOf& from, ReferencesOf& into) {
  for (const auto& [package, sets] : from) {
    into[package].before.insert(sets.before.begin(), sets.before.end());
    into[package].now.insert(sets.now.begin(), sets.now.end());
  }
}

std::vector<InstigatorChange> ChangesOf(const ReferencesOf& references) {
  std::vector<InstigatorChange> changes;
  for (const auto& [package, sets] : references) {
    for (const auto& one : sets.before) {
      if (!sets.now.contains(one)) changes.push_back({one.first, one.second, package, false});
    }
    for (const auto& one : sets.now) {
      if (!sets.before.contains(one)) changes.push_back({one.first, one.second, package, true});
    }
  }
  return changes;
}

void AddGone(const StandingBase& base, std::vector<InstigatorChange>& changes) {
  for (const std::string& package : base.gone) {
    for (const InstigatorRecord& reason : base.before.at(package).instigators)
      changes.push_back(
          {package, static_cast<InstigatorCategory>(reason.category), reason.referencer, false});
  }
}

absl::StatusOr<DifferenceRoot> RootOfDifference(const DifferenceDeps& deps,
                                                const BuildRoot& request,
                                                const std::string& platform) {
  return Maker(deps, platform).Make(request);
}

}  // namespace galley::director
