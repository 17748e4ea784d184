#include "tests/simulation/snapshot.h"

#include "common/record/observed_value.h"

namespace galley::simulation {

Snapshot::Snapshot(const World& world, uint64_t number, std::string table, SnapshotTable content)
    : world_(world),
      number_(number),
      table_(std::move(table)),
      content_(std::move(content)),
      catalog_(std::make_shared<WorldCatalog>(world_, content_.files)) {
  std::vector<project::Platform> platforms;
  // Platforms differ by a parameter, so that only work for the same platform is equal.
  for (const std::string& name : content_.platforms)
    platforms.push_back({.name = name, .parameters = {{"name", name}}});
  platforms_ = std::make_shared<const std::vector<project::Platform>>(std::move(platforms));
  recipes_ = std::make_shared<const project::ResolvedRecipes>(
      content_.platforms.size(),
      project::ResolvedRecipe{.recipe = world_.recipe(),
                              .digest = record::RecipeDigest(world_.recipe()),
                              .needs = {},
                              .outputs = {.always = {".out"}, .may_generate = true}});
}

director::RecipesPtr Snapshot::RecipesOf(std::string_view package, bool is_generated) const {
  if (is_generated) return listed_.contains(package) ? recipes_ : nullptr;
  const auto entry = catalog_->Find(package);
  return entry && entry->error.empty() ? recipes_ : nullptr;
}

director::RecipesPtr Snapshot::RecipesAsListed(std::string_view package,
                                               const record::Generated& /*generated*/) const {
  listed_.emplace(package);
  return recipes_;
}

absl::StatusOr<Digest> Snapshot::DigestOf(std::string_view path, const Cancellation*) const {
  const auto file = files().find(std::string(path));
  if (file == files().end()) return absl::NotFoundError("no such file");
  return Digest::Of(file->second);
}

absl::Status Snapshot::LearnDigest(std::string_view path, const Digest& digest) const {
  const absl::StatusOr<Digest> known = DigestOf(path);
  if (!known.ok()) return known.status();
  return *known == digest ? absl::OkStatus() : absl::AbortedError("the file is another one");
}

absl::StatusOr<std::string> Snapshot::Look(const record::Observation& what,
                                           std::string_view package) const {
  if (what.kind == record::ObservationKind::kEnv) return record::SetValue(world_.environment);
  if (what.kind != record::ObservationKind::kFile)
    return absl::InternalError("no cook of the simulation looks at this");
  const absl::StatusOr<Digest> digest = DigestOf(World::FileOf(package, what.subject));
  return digest.ok() ? digest->ToString() : std::string(record::kAbsent);
}

std::string Snapshot::StagePath(std::string_view package) const {
  for (const auto& [first, second] : world_.conflicts) {
    if (package == second) return first.substr(1);
  }
  return std::string(package.substr(1));
}

}  // namespace galley::simulation
