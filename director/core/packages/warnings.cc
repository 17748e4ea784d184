#include "director/core/packages/warnings.h"

#include <algorithm>
#include <string_view>

namespace galley::director {
namespace {

// Names that are kept for warnings: a cook of a million packages that all read unrequested packages
// has one mistake, not as many.
constexpr size_t kUnsolicitedMax = 10'000;

// FailedPackages: the packages that a cook wants and that have no result in it.
class FailedPackages {
 public:
  FailedPackages(const PackageTable& packages, const Claimant& cook)
      : packages_(packages), cook_(cook) {}

  // True: the cook follows the reference, and its target has no result in the cook. References of a
  // package that read what the cook leaves out do not count: the cook would not know them alone.
  bool IsTargetOf(PackageId from, const Edge& edge) const {
    return cook_.Follows(edge) && HasNoResult(edge.target) &&
           (edge.platforms & cook_.request.platforms & ~cook_.BarredOf(from)) != 0;
  }
  // True: the package itself failed, whether other cooks skip it or not.
  bool HasFailed(PackageId id) const {
    return cook_.JudgedOf(id) != 0 ||
           (InPhase(packages_[id], Phase::kFailed) & cook_.request.platforms) != 0;
  }

 private:
  bool HasNoResult(PackageId id) const {
    return cook_.Wants(id) &&
           (packages_[id].is_skipped || HasFailed(id) || HasBarredGenerator(packages_.NameOf(id)));
  }
  // True: alone, the cook would have had no list of the generator.
  bool HasBarredGenerator(std::string_view name) const {
    if (cook_.barred.empty()) return false;
    for (name = GeneratorName(name); !name.empty(); name = GeneratorName(name)) {
      const PackageId generator = packages_.Find(name);
      if (generator.valid() && cook_.BarredOf(generator) != 0) return true;
    }
    return false;
  }

  const PackageTable& packages_;
  const Claimant& cook_;
};

}  // namespace

void Warnings::TellOnce(CookMask cooks, PackageId id, const record::Warning& warning) {
  claimants_.ForEachOf(cooks, [&](const Claimant& cook) {
    if (cooks_[cook.slot].told.emplace(id, warning).second)
      effects_.Note(PackageWarned{id, std::nullopt, warning.kind, warning.text}, cook.bit());
  });
}

void Warnings::NoteJudged(const Claimant& cook, PackageId id,
                          absl::btree_set<record::Warning> warnings) {
  if (warnings.empty()) {
    cooks_[cook.slot].judged.erase(id);
  } else {
    cooks_[cook.slot].judged[id] = std::move(warnings);
  }
}

void Warnings::TellJudged(const Claimant& cook) const {
  const auto& judged = cooks_[cook.slot].judged;
  std::vector<PackageId> warned;
  for (const auto& [id, warnings] : judged) {
    if (cook.Wants(id)) warned.push_back(id);
  }
  std::ranges::sort(
      warned, [&](PackageId a, PackageId b) { return packages_.NameOf(a) < packages_.NameOf(b); });
  for (const PackageId id : warned) {
    for (const record::Warning& one : judged.at(id))
      effects_.Note(PackageWarned{id, std::nullopt, one.kind, one.text}, cook.bit());
  }
}

void Warnings::TellFailedTargets(const Claimant& cook) const {
  for (const auto& [referencer, text] : cooks_[cook.slot].failed_targets)
    effects_.Note(
        PackageWarned{referencer, std::nullopt, record::WarningKind::kFailedReference, text},
        cook.bit());
}

void Warnings::NoteFailedTargets(const Claimant& cook) {
  OfCook& of = cooks_[cook.slot];
  of.failed_targets.clear();
  const FailedPackages failed(packages_, cook);
  const auto by_name = [&](PackageId a, PackageId b) {
    return packages_.NameOf(a) < packages_.NameOf(b);
  };
  // Only the packages that get a warning are sorted, few as a rule: sorting all would take long.
  std::vector<PackageId> referencers;
  const std::vector<PackageId> wanted = cook.Wanted();
  for (const PackageId id : wanted) {
    bool is_one = false;
    graph_.edges().ForEachReference(
        id, [&](const Edge& edge) { is_one |= failed.IsTargetOf(id, edge); });
    if (is_one) referencers.push_back(id);
  }
  std::ranges::sort(referencers, by_name);
  for (const PackageId id : referencers) {
    std::vector<PackageId> targets;
    graph_.edges().ForEachReference(id, [&](const Edge& edge) {
      if (failed.IsTargetOf(id, edge) && (targets.empty() || targets.back() != edge.target))
        targets.push_back(edge.target);
    });
    std::ranges::sort(targets, by_name);
    for (const PackageId target : targets) {
      of.failed_targets.emplace_back(
          id, "refers to " + packages_.NameOf(target) +
                  (failed.HasFailed(target) ? ", which failed" : ", which was not cooked"));
    }
  }
}

// Warns of packages that a cook read and that no cook asked for: their outputs are not in the root.
// No warning where a rule says that the package is never cooked.
void Warnings::TellUnsolicited(const Claimant& cook) const {
  const OfCook& of = cooks_[cook.slot];
  std::vector<PackageId> readers;
  for (const auto& [reader, read] : of.unsolicited) readers.push_back(reader);
  std::ranges::sort(
      readers, [&](PackageId a, PackageId b) { return packages_.NameOf(a) < packages_.NameOf(b); });
  for (const PackageId reader : readers) {
    if (!cook.Wants(reader)) continue;
    for (const std::string& name : of.unsolicited.at(reader)) {
      const std::optional<CatalogEntry> entry = step_.catalog->Find(name);
      if (cook.Holds(name) || !entry.has_value() || entry->never_cook || cook.IsNever(name))
        continue;
      effects_.Note(
          PackageWarned{reader, std::nullopt, record::WarningKind::kUnsolicitedRead,
                        "reads " + name +
                            ", a package that is not in the cook (Unsolicited): expected a hard "
                            "reference to it, or that it is never cooked"},
          cook.bit());
    }
  }
  if (of.unsolicited_dropped == 0 || readers.empty()) return;
  effects_.Note(
      PackageWarned{readers.back(), std::nullopt, record::WarningKind::kUnsolicitedRead,
                    "and other packages read " + std::to_string(of.unsolicited_dropped) +
                        " more names that were not in the cook then: they are not told one by "
                        "one",
                    /*is_passing=*/true},
      cook.bit());
}

// A package that the reader refers to with a hard reference joins the cook through that reference;
// the other packages that it read are judged at the end.
void Warnings::NoteRead(CookMask cooks, PackageId reader, const std::vector<std::string>& read) {
  if (read.empty()) return;
  claimants_.ForEachOf(cooks, [&](const Claimant& cook) { NoteRead(cook, reader, read); });
}

void Warnings::NoteRead(const Claimant& cook, PackageId reader,
                        const std::vector<std::string>& read) {
  OfCook& of = cooks_[cook.slot];
  for (const std::string& name : read) {
    const PackageId package = packages_.Find(name);
    if (package.valid() && cook.Wants(package)) continue;
    if (of.unsolicited_count >= kUnsolicitedMax) {
      ++of.unsolicited_dropped;
    } else if (of.unsolicited[reader].insert(name).second) {
      ++of.unsolicited_count;
    }
  }
}

void Warnings::Forget(const Claimant& cook, PackageId id) {
  OfCook& of = cooks_[cook.slot];
  of.judged.erase(id);
  const auto read = of.unsolicited.find(id);
  if (read == of.unsolicited.end()) return;
  of.unsolicited_count -= read->second.size();
  of.unsolicited.erase(read);
}

}  // namespace galley::director
