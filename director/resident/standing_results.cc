#include "director/resident/standing_results.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "director/core/cooks/judged_errors.h"
#include "director/core/cooks/resolved_reference.h"
#include "director/shell/known_result.h"
#include "director/shell/stage_path.h"

namespace galley::director {
namespace {

// Finder: packages whose cooked inputs stand are asked again and again until none is added.
class Finder {
 public:
  explicit Finder(const StandingQuestion& question)
      : question_(question), platform_(question.world.project->platforms.at(question.platform)) {}

  absl::StatusOr<CookedPackages> Find() {
    RETURN_IF_ERROR(question_.journal.ForEach([&](std::string_view package, PackageRecord record) {
      if (!question_.stop.is_cancelled()) Take(std::string(package), std::move(record));
    }));
    while (TakeWaiting()) {
    }
    if (question_.stop.is_cancelled()) return absl::CancelledError("the director ends");
    std::ranges::sort(found_, {}, &CookedPackages::value_type::first);
    return std::move(found_);
  }

 private:
  struct Waiting {
    std::string package;
    PlatformRecord record;
    Digest recipe;
  };

  void Take(std::string package, PackageRecord record) {
    const auto known = record.platforms.find(platform_.name);
    if (known == record.platforms.end() || !known->second.is_trusted) return;
    if (record.failures.contains(platform_.name)) return;
    const std::optional<CatalogEntry> entry = question_.world.table->Find(package);
    if (!entry || !entry->error.empty() || entry->never_cook) return;
    const RecipesPtr recipes = question_.world.table->RecipesOf(package);
    if (recipes == nullptr) return;
    TakeOne({.package = std::move(package),
             .record = std::move(known->second),
             .recipe = recipes->at(question_.platform).digest});
  }

  void TakeOne(Waiting one) {
    const JournalAnswer answer = AskJournal(
        one.record, {.package = one.package,
                     .platform = question_.platform,
                     .platform_name = platform_.name,
                     .recipe = one.recipe,
                     .generated_source = std::nullopt,
                     .value_of = [&](const record::Observation& what, std::string* needed) {
                       return ValueOf(
                           question_.sources, what,
                           {.package = one.package, .platform = platform_, .cooked = cooked_},
                           needed);
                     }});
    if (std::holds_alternative<LookedUp::NeedsCooked>(answer)) {
      waiting_.push_back(std::move(one));
    } else if (const auto* stored = std::get_if<std::shared_ptr<StoredResult>>(&answer)) {
      Accept(one.package, **stored);
    }
  }

  void Accept(const std::string& package, const StoredResult& stored) {
    if (stored.result.is_verdict || stored.result.is_disputed) return;
    if (!MayBeShown(question_.world, package, stored.result)) return;
    cooked_[package] = stored.result.outputs;
    found_.emplace_back(package,
                        FilesOf(question_.world, package, stored.action_key, stored.result));
  }

  bool TakeWaiting() {
    const size_t before = found_.size();
    for (Waiting& one : std::exchange(waiting_, {})) TakeOne(std::move(one));
    return found_.size() > before && !waiting_.empty() && !question_.stop.is_cancelled();
  }

  const StandingQuestion& question_;
  const project::Platform& platform_;
  CookedOutputs cooked_;
  CookedPackages found_;
  std::vector<Waiting> waiting_;
};

// Leaves out the packages of which the store has lost an output.
absl::Status DropLost(store::Store& store, CookedPackages& found) {
  std::vector<Digest> digests;
  for (const auto& [package, files] : found) {
    for (const record::Output& output : files->outputs) digests.push_back(output.digest);
  }
  SortUnique(digests);
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, store.FindMissing(digests));
  const absl::flat_hash_set<Digest> lost(missing.begin(), missing.end());
  std::erase_if(found, [&](const auto& one) {
    return std::ranges::any_of(one.second->outputs, [&](const record::Output& output) {
      return lost.contains(output.digest);
    });
  });
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> NeededBy(const World& world, const std::string& package,
                                  const record::Result& result) {
  std::vector<std::string> needed;
  for (const record::Reference& reference : result.details.references) {
    if (reference.kind != record::ReferenceKind::kHard) continue;
    ReferenceTarget target = ResolveReference(*world.table, package, reference);
    if (!target.name.empty()) needed.push_back(std::move(target.name));
  }
  SortUnique(needed);
  return needed;
}

bool MayBeShown(const World& world, const std::string& package, const record::Result& result) {
  return !JudgeResult(*world.table, package, result.details.references, result.details.warnings);
}

std::vector<std::string> SoftReferencesOf(const World& world, const std::string& package,
                                          const record::Result& result) {
  std::vector<std::string> soft;
  for (const record::Reference& reference : result.details.references) {
    if (reference.kind != record::ReferenceKind::kSoft) continue;
    ReferenceTarget target = ResolveReference(*world.table, package, reference);
    if (target.error.empty()) soft.push_back(std::move(target.name));
  }
  SortUnique(soft);
  return soft;
}

PackageFilesPtr FilesOf(const World& world, const std::string& package, const Digest& action_key,
                        const record::Result& result) {
  auto files = std::make_shared<PackageFiles>();
  files->key = action_key;
  files->outputs = result.outputs;
  const std::string stem = StagePath(*world.project, package);
  for (const record::Generated& generated : result.details.generated)
    files->generated.push_back(stem + "/" + generated.name);
  SortUnique(files->generated);
  files->needed = NeededBy(world, package, result);
  files->soft = SoftReferencesOf(world, package, result);
  return files;
}

absl::StatusOr<CookedPackages> FindStanding(const StandingQuestion& question) {
  ASSIGN_OR_RETURN(const store::StoreInfo info, question.store.Info());
  const JournalMeta meta = question.journal.meta();
  if (meta.store_id != info.store_id) return CookedPackages();
  ASSIGN_OR_RETURN(CookedPackages found, Finder(question).Find());
  RETURN_IF_ERROR(DropLost(question.store, found));
  return found;
}

}  // namespace galley::director
