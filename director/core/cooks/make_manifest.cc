#include "director/core/cooks/make_manifest.h"

#include <optional>
#include <string_view>

#include "director/core/packages/barred_generator.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/tally.h"

namespace galley::director {
namespace {

// Sets `results` to the package's results on these platforms; the buffer is reused.
void NoteResults(const PackageData& package, PlatformMask judged,
                 const std::vector<PlatformIndex>& platforms,
                 std::vector<CookManifest::Result>& results) {
  results.assign(platforms.size(), {});
  for (size_t column = 0; column < platforms.size(); ++column) {
    const PlatformIndex platform = platforms[column];
    if (platform >= package.slots.size()) continue;
    const Slot& slot = package.slots[platform];
    CookManifest::Result& result = results[column];
    if (slot.phase == Phase::kDone) result.id = slot.result->id;
    result.has_failed = slot.phase == Phase::kFailed || (judged & MaskOf(platform)) != 0;
    result.source = slot.source;
  }
}

CookManifest::Member MemberOf(const Claimant& cook, PackageId id) {
  const PackageData& package = cook.packages[id];
  const PlatformMask platforms = cook.request.platforms, judged = cook.JudgedOf(id);
  CookManifest::Member member{.package = id, .content = package.content};
  member.is_selected = (package.selected_by & cook.bit()) != 0;
  member.is_skipped = package.is_skipped;
  member.has_failed = judged != 0 || (InPhase(package, Phase::kFailed) & platforms) != 0;
  member.is_up_to_date =
      IsOver(package, platforms, judged) && !package.is_skipped && !member.has_failed;
  member.lacks_generator = HasBarredGenerator(cook, id);
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((WantedPlatforms(package) & platforms & MaskOf(p)) != 0)
      member.is_up_to_date &= package.slots[p].source == ResultSource::kUpToDate;
  }
  return member;
}

// Sets `references` to the members to which the member leads; the buffer is reused.
void NoteReferences(const Claimant& cook, PackageId id, const Edges& edges,
                    const CookManifest& manifest,
                    std::vector<CookManifest::Reference>& references) {
  references.clear();
  edges.ForEachReference(id, [&](const Edge& edge) {
    const std::optional<uint32_t> target = manifest.Find(edge.target);
    const PlatformMask platforms = edge.platforms & cook.request.platforms & ~cook.BarredOf(id);
    if (target.has_value() && platforms != 0 && cook.Follows(edge))
      references.push_back({*target, platforms, /*is_generated=*/false});
  });
  for (const PackageId child : cook.packages[id].generates) {
    if (const std::optional<uint32_t> target = manifest.Find(child))
      references.push_back({*target, 0, /*is_generated=*/true});
  }
}

}  // namespace

std::unique_ptr<CookManifest> MakeManifest(const Claimant& cook,
                                           const std::vector<PackageId>& by_name,
                                           const Edges& edges, const StepContext& step) {
  auto manifest = std::make_unique<CookManifest>(
      CookManifest::Options{.platforms = cook.request.platforms,
                            .platform_set = step.platform_sets.present(),
                            .catalog = step.catalog,
                            .tally = cook.tally,
                            .packages = cook.packages.size()});
  // The name of a generator is the beginning of the names that it generates, so it comes before
  // them.
  std::vector<CookManifest::Result> results;
  for (const PackageId id : by_name) {
    CookManifest::Member member = MemberOf(cook, id);
    if (const std::string_view name = GeneratorName(cook.packages.NameOf(id)); !name.empty())
      member.generator =
          manifest->Find(cook.packages.Find(name)).value_or(CookManifest::Member::kNoGenerator);
    NoteResults(cook.packages[id], cook.JudgedOf(id), manifest->platforms(), results);
    manifest->AddMember(member, results);
  }
  std::vector<CookManifest::Reference> references;
  for (const PackageId id : by_name) {
    NoteReferences(cook, id, edges, *manifest, references);
    manifest->AddReferences(references);
  }
  return manifest;
}

}  // namespace galley::director
