#include "tests/simulation/world.h"

#include <algorithm>

namespace galley::simulation {

using record::Reference;
using record::ReferenceKind;

World::World(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto chance = [&](uint64_t percent) { return random() % 100 < percent; };
  const size_t count = 3 + random() % 40;
  const auto name_of = [](size_t i) { return "/Game/p" + std::to_string(i); };
  const bool has_poison = chance(40), has_missing = chance(40), has_changes = chance(40),
             has_cycle = chance(15);
  for (size_t i = 0; i < count; ++i) {
    WorldPackage package;
    for (size_t r = random() % 5; r > 0; --r) {
      // Low numbers are popular.
      const size_t to = (random() % count) * (random() % count) / count;
      const ReferenceKind kind = chance(70)   ? ReferenceKind::kHard
                                 : chance(70) ? ReferenceKind::kSoft
                                              : ReferenceKind::kEditor;
      package.references.push_back({name_of(to), kind});
    }
    if (has_missing && chance(6))
      package.references.push_back({"/Game/missing", ReferenceKind::kHard});
    if (has_missing && chance(6))
      package.references.push_back({"/Game/missing", ReferenceKind::kSoft});
    if (has_missing && chance(6)) package.references.push_back({"_gen/none", ReferenceKind::kHard});
    if (i + 1 < count && chance(20))
      package.cooked_inputs.push_back(name_of(i + 1 + random() % (count - i - 1)));
    if (has_cycle && chance(8)) package.cooked_inputs.push_back(name_of(random() % count));
    for (size_t g = chance(12) ? 1 + random() % 3 : 0; g > 0; --g) {
      package.generated.push_back("_gen/cell" + std::to_string(g));
    }
    std::sort(package.generated.begin(), package.generated.end());
    if (!package.generated.empty() && chance(50))
      package.references.push_back({"_gen/cell1", ReferenceKind::kHard});
    if (chance(10))
      package.references.push_back(
          {name_of(random() % count) + "/_gen/cell1", ReferenceKind::kSoft});
    if (chance(10)) package.resources = {"gpu"};
    package.is_verdict = chance(4);
    package.is_poison = has_poison && chance(4);
    package.is_shared = chance(50);
    package.will_change = has_changes && chance(10);
    package.is_broken = chance(2);
    for (size_t n = chance(15) ? 1 + random() % 2 : 0; n > 0; --n)
      package.includes.push_back(name_of(random() % count));
    std::sort(package.includes.begin(), package.includes.end());
    std::sort(package.references.begin(), package.references.end());
    packages.emplace(name_of(i), std::move(package));
  }
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 || chance(30)) selected.push_back(name_of(i));
  }
  for (size_t i = chance(30) ? 1 + random() % 3 : 0; i > 0; --i) {
    const size_t a = random() % count, b = random() % count;
    if (a != b) conflicts.emplace_back(name_of(a), name_of(b));
  }
}

const WorldPackage& World::At(std::string_view name) const {
  const auto found = packages.find(name);
  return found == packages.end() ? child : found->second;
}

std::optional<director::CatalogEntry> World::Find(std::string_view name) const {
  const auto found = packages.find(name);
  if (found == packages.end()) return std::nullopt;
  director::CatalogEntry entry;
  entry.resources = found->second.resources;
  if (found->second.is_broken) entry.error = "unknown cooker 'x'";
  return entry;
}

director::CatalogEntry World::Generated(std::string_view, std::string_view,
                                        std::string_view) const {
  return {};
}

director::ReferenceTarget World::Resolve(std::string_view, std::string_view as_written) const {
  director::ReferenceTarget target{.name = std::string(as_written)};
  const size_t generated = as_written.rfind("/_gen/");
  const std::string_view base =
      generated == std::string_view::npos ? as_written : as_written.substr(0, generated);
  if (packages.find(base) == packages.end()) target.error = "no such file";
  return target;
}

uint32_t World::VersionOf(const std::string& name) const {
  const auto found = packages.find(name.substr(0, name.rfind("/_gen/")));
  return found == packages.end() ? 0 : found->second.version;
}

std::string World::SourceBytes(const std::string& name, uint32_t version) {
  return name + "#" + std::to_string(version);
}

std::vector<record::Generated> World::GeneratedBy(const std::string& name,
                                                  const WorldPackage& package, uint32_t version) {
  std::vector<record::Generated> list;
  for (const std::string& one : package.generated)
    list.push_back({one, Digest::Of(SourceBytes(name + "/" + one, version)), "", ""});
  return list;
}

const record::Recipe& World::recipe() {
  static const record::Recipe& recipe =
      *new record::Recipe{.cooker = "sim", .identity = "1", .extension = "txt", .settings = "{}"};
  return recipe;
}

const Digest& World::recipe_digest() {
  static const Digest& digest = *new Digest(record::RecipeDigest(recipe()));
  return digest;
}

std::string World::Cooked(const WorldPackage& package, const std::string& platform,
                          const std::string& source, const std::string& read) {
  std::string text = source + (package.is_shared ? "" : "@" + platform);
  text += "(" + read + ")";
  return text.size() > 4096 ? Digest::Of(text).hex() : text;
}

World::Versions World::versions() const {
  Versions all;
  for (const auto& [name, package] : packages) all[name] = package.version;
  return all;
}

std::string World::Expected(const std::string& name, const std::string& platform,
                            const Versions& versions, int depth) const {
  const WorldPackage& package = At(name);
  if (depth > 64) return "";
  const auto version_of = [&](const std::string& file) {
    const auto found = versions.find(file.substr(0, file.rfind("/_gen/")));
    return found == versions.end() ? 0 : found->second;
  };
  std::string read;
  for (const std::string& include : package.includes)
    read += SourceBytes(include, version_of(include)) + ",";
  for (const std::string& input : package.cooked_inputs)
    read += Expected(input, platform, versions, depth + 1) + ",";
  return Cooked(package, platform, SourceBytes(name, version_of(name)), read);
}

}  // namespace galley::simulation
