#include "director/core/packages/warnings.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "director/core/packages/barred_generator.h"
#include "director/core/packages/cook_manifest.h"

namespace galley::director {
namespace {

// Names that are kept for warnings: a cook of a million packages that all read unrequested packages
// has one mistake, not as many.
constexpr size_t kUnsolicitedMax = 10'000;

// True: the package is in the settled cook with this content.
bool HasContent(const CookManifest& manifest, PackageId package, uint32_t content) {
  const std::optional<uint32_t> member = manifest.Find(package);
  return member.has_value() && manifest.members()[*member].content == content;
}

// Adds the targets of which the cook would not know alone whether they are generated.
void AddUnknownTargets(const Claimant& cook, const Edges& edges, PackageId from,
                       std::vector<PackageId>& targets) {
  if (!cook.has_never()) return;
  const PlatformMask platforms = cook.request.platforms & ~cook.BarredOf(from);
  edges.ForEachReference(from, [&](const Edge& edge) {
    if (cook.Follows(edge) && (edge.platforms & platforms) != 0 &&
        !cook.manifest->Has(edge.target) && !cook.Stands(edge.target) &&
        HasBarredGenerator(cook, edge.target))
      targets.push_back(edge.target);
  });
}

}  // namespace

void Warnings::TellOnce(CookMask cooks, PackageId id, const record::Warning& warning) {
  claimants_.ForEachOf(cooks, [&](const Claimant& cook) {
    if (cook.manifest != nullptr && !HasContent(*cook.manifest, id, packages_[id].content)) return;
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
    if (cook.IsMember(id)) warned.push_back(id);
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

// A package with a failure of its own counts as failed, whether other cooks skip it or not.
void Warnings::NoteFailedTargets(const Claimant& cook) {
  OfCook& of = cooks_[cook.slot];
  of.failed_targets.clear();
  const CookManifest& manifest = *cook.manifest;
  const std::vector<CookManifest::Member>& members = manifest.members();
  for (uint32_t i = 0; i < members.size(); ++i) {
    std::vector<PackageId> targets;
    manifest.ForEachReference(i, [&](const CookManifest::Reference& reference) {
      if (!reference.is_generated && members[reference.target].has_no_result())
        targets.push_back(members[reference.target].package);
    });
    AddUnknownTargets(cook, graph_.edges(), members[i].package, targets);
    std::ranges::sort(targets, {}, [this](PackageId id) { return packages_.NameOf(id); });
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    for (const PackageId target : targets) {
      const std::optional<uint32_t> member = manifest.Find(target);
      const bool has_failed = member.has_value() && members[*member].has_failed;
      of.failed_targets.emplace_back(
          members[i].package, "refers to " + packages_.NameOf(target) +
                                  (has_failed ? ", which failed" : ", which was not cooked"));
    }
  }
}

// Warns of packages that a cook read and that no cook asked for: their outputs are not in the root.
// No warning where a rule says that the package is never cooked.
void Warnings::TellUnsolicited(const Claimant& cook) const {
  const OfCook& of = cooks_[cook.slot];
  const Catalog& catalog = cook.manifest != nullptr ? cook.manifest->catalog() : *step_.catalog;
  std::vector<PackageId> readers;
  for (const auto& [reader, read] : of.unsolicited) readers.push_back(reader);
  std::ranges::sort(
      readers, [&](PackageId a, PackageId b) { return packages_.NameOf(a) < packages_.NameOf(b); });
  for (const PackageId reader : readers) {
    if (!cook.IsMember(reader)) continue;
    for (const std::string& name : of.unsolicited.at(reader)) {
      const std::optional<CatalogEntry> entry = catalog.Find(name);
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
  claimants_.ForEachOf(cooks & ~claimants_.masks().settling,
                       [&](const Claimant& cook) { NoteRead(cook, reader, read); });
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
