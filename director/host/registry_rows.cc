#include "director/host/registry_rows.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/record/recipe.h"
#include "common/record/result.h"
#include "director/core/packages/package_data.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// RowMaker: collects the rows. Threads: one.
class RowMaker {
 public:
  explicit RowMaker(const ScannedProject& scanned)
      : catalog_(*scanned.table), project_(*scanned.project) {
    for (const std::string& name : catalog_.names()) AddFile(name, *scanned.snapshot);
  }

  void Take(std::string_view name, const PackageRecord& record) {
    const std::string_view generator = GeneratorName(name);
    auto row = numbers_.find(std::string(name));
    if (row == numbers_.end() && !generator.empty()) {
      RegistryRow generated{.package = std::string(name), .is_generated = true};
      generated.is_never = catalog_.IsNever(name);
      for (const auto& [platform, one] : record.platforms) {
        const auto recipe = record::DecodeRecipe(one.recipe_bytes);
        if (recipe.ok()) generated.cooker = recipe->cooker;
      }
      row = Add(std::move(generated));
    }
    if (row != numbers_.end()) Fill(rows_[row->second], record);
  }

  // Generated packages that no package lists any more are none.
  std::vector<RegistryRow> TakeRows() {
    std::ranges::sort(rows_, {},
                      &RegistryRow::package);  // who generates comes before who is generated
    absl::flat_hash_set<std::string> kept;
    std::erase_if(rows_, [&](const RegistryRow& row) {
      const auto lister = listers_.find(row.package);
      const bool is_there =
          !row.is_generated || (lister != listers_.end() && kept.contains(lister->second));
      if (is_there) kept.insert(row.package);
      return !is_there;
    });
    return std::move(rows_);
  }

 private:
  using Numbers = absl::flat_hash_map<std::string, size_t>;

  Numbers::iterator Add(RegistryRow row) {
    const auto at = numbers_.emplace(row.package, rows_.size()).first;
    rows_.push_back(std::move(row));
    return at;
  }

  void AddFile(const std::string& name, const content::Snapshot& snapshot) {
    RegistryRow row{.package = name};
    if (const auto entry = catalog_.Find(name)) {
      row.cooker = entry->cooker;
      row.is_never = entry->never_cook;
      row.is_broken = !entry->error.empty();
    }
    if (const content::FileEntry* const file = snapshot.Find(name))
      row.source_size = file->stat.size_bytes;
    Add(std::move(row));
  }
  void Fill(RegistryRow& row, const PackageRecord& record) {
    for (const InstigatorRecord& one : record.instigators)
      row.reasons.push_back({.category = one.category, .referencer = one.referencer});
    targets_.clear();
    edges_.clear();
    for (uint32_t p = 0; p < project_.platforms.size(); ++p) {
      const std::string& platform = project_.platforms[p].name;
      const PlatformMask bit = PlatformMask{1} << p;
      if (record.failures.contains(platform)) row.failed |= bit;
      const auto found = record.platforms.find(platform);
      if (found == record.platforms.end()) continue;
      if (found->second.published_key) row.in_cook |= bit;
      const absl::StatusOr<record::Result> result = record::DecodeResult(found->second.result);
      if (!result.ok()) continue;
      if (result->is_verdict) {
        row.failed |= bit;
        continue;
      }
      row.known |= bit;
      FillPlatform(row, p, *result, found->second.observed);
    }
    std::ranges::sort(row.tags, {}, &RegistryRow::Tag::name);
  }

  void FillPlatform(RegistryRow& row, uint32_t platform, const record::Result& result,
                    const std::vector<record::Observed>& observed) {
    const PlatformMask bit = PlatformMask{1} << platform;
    for (const record::Output& output : result.outputs)
      row.outputs.push_back(
          {.platform = platform, .suffix = output.suffix, .size = output.digest.size_bytes()});
    for (const record::Tag& tag : result.details.tags) {
      const auto same = std::ranges::find_if(row.tags, [&](const RegistryRow::Tag& one) {
        return one.name == tag.name && one.value == tag.value;
      });
      if (same != row.tags.end()) {
        same->platforms |= bit;
      } else {
        row.tags.push_back({.name = tag.name, .value = tag.value, .platforms = bit});
      }
    }
    for (const record::Reference& one : result.details.references)
      AddEdge(row, TargetOf(row.package, one.path), static_cast<EdgeKind>(one.kind), bit);
    for (const record::Generated& one : result.details.generated) {
      std::string name = fmt::format("{}/{}", row.package, one.name);
      AddEdge(row, name, EdgeKind::kGenerated, bit);
      listers_.insert_or_assign(std::move(name), row.package);
    }
    for (const record::Observed& one : observed) {
      if (one.what.kind == record::ObservationKind::kCooked)
        AddEdge(row, TargetOf(row.package, one.what.subject), EdgeKind::kBuild, bit);
    }
  }

  // Most references are the same on all platforms.
  const std::string& TargetOf(const std::string& from, const std::string& as_written) {
    const auto [at, is_new] = targets_.try_emplace(as_written);
    if (is_new) at->second = catalog_.Resolve(from, as_written).name;
    return at->second;
  }

  void AddEdge(RegistryRow& row, const std::string& target, EdgeKind kind, PlatformMask bit) {
    if (target.empty()) return;
    const auto [at, is_new] = edges_.try_emplace({target, kind}, row.edges.size());
    if (is_new) row.edges.push_back({.target = target, .kind = kind, .platforms = 0});
    row.edges[at->second].platforms |= bit;
  }

  const ProjectCatalog& catalog_;
  const project::Project& project_;
  std::vector<RegistryRow> rows_;
  Numbers numbers_;                                        // of rows_, by name
  absl::flat_hash_map<std::string, std::string> listers_;  // by the package that they generate
  // The present package's targets of references, and the numbers of its edges.
  absl::flat_hash_map<std::string, std::string> targets_;
  absl::flat_hash_map<std::pair<std::string, EdgeKind>, size_t> edges_;
};

static_assert(static_cast<int>(EdgeKind::kHard) == static_cast<int>(record::ReferenceKind::kHard));
static_assert(static_cast<int>(EdgeKind::kSoft) == static_cast<int>(record::ReferenceKind::kSoft));
static_assert(static_cast<int>(EdgeKind::kEditor) ==
              static_cast<int>(record::ReferenceKind::kEditor));

}  // namespace

absl::StatusOr<std::vector<RegistryRow>> RegistryRowsOf(const ScannedProject& scanned,
                                                        Journal* journal) {
  if (scanned.project->platforms.size() > kRegistryPlatformsMax) {
    return InvalidArgumentError("the registry holds at most {} platforms, and galley.toml has {}",
                                kRegistryPlatformsMax, scanned.project->platforms.size());
  }
  RowMaker maker(scanned);
  if (journal != nullptr) {
    RETURN_IF_ERROR(journal->ForEach(
        [&](std::string_view name, const PackageRecord& record) { maker.Take(name, record); }));
  }
  return maker.TakeRows();
}

}  // namespace galley::director
