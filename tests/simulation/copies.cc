// World's copies: files of equal bytes in several places, with equal and different neighbours. They
// also generate equal packages.
#include <algorithm>

#include "tests/simulation/faults.h"
#include "tests/simulation/world.h"

namespace galley::simulation {
namespace {

constexpr size_t kOriginalsMax = 3;
constexpr size_t kPlacesMax = 5;

std::string PlaceOf(size_t i) { return "/Game/z" + std::to_string(i) + "/"; }

}  // namespace

std::string World::FileOf(std::string_view name, const std::string& as_asked) {
  if (as_asked.starts_with('/')) return as_asked;
  return std::string(name.substr(0, name.rfind('/') + 1)) + as_asked;
}

// Packages that move, are broken or may be cooked otherwise have no copies: by its bytes, a copy is
// found under the original's name. An original that is edited later is no longer a copy of its
// copies.
bool World::MayHaveCopies(const WorldPackage& package) const {
  const bool moves_away = std::ranges::any_of(
      moves, [&](const Renamed& move) { return move.from == package.id || move.to == package.id; });
  return !moves_away && !package.is_fickle && !package.is_broken && !package.is_never_cooked &&
         !(package.is_poison && package.will_change);
}

void World::DrawCopies(uint64_t seed) {
  if (!IsLateOn(seed, kCopies)) return;
  std::mt19937_64 random(~seed * 31);
  const auto chance = [&](uint64_t percent) { return random() % 100 < percent; };
  std::vector<std::string> names;
  for (const auto& [name, package] : packages) {
    if (MayHaveCopies(package)) names.push_back(name);
  }
  std::shuffle(names.begin(), names.end(), random);
  if (names.size() > kOriginalsMax) names.resize(kOriginalsMax);
  const auto add_neighbour = [&](const std::string& folder, bool is_another) {
    WorldPackage neighbour;
    neighbour.id = (is_another ? folder : "/Game/") + "n";
    names_.emplace(neighbour.id, folder + "n");
    packages.emplace(folder + "n", std::move(neighbour));
  };
  add_neighbour("/Game/", false);
  for (size_t i = 0; i < kPlacesMax; ++i) add_neighbour(PlaceOf(i), chance(40));
  std::vector<std::string> copies;
  for (const std::string& name : names) {
    WorldPackage& original = packages.at(name);
    if (chance(50)) original.includes.push_back("n");
    WorldPackage copy = original;
    copy.will_change = false;
    for (size_t i = 0; i < kPlacesMax; ++i) {
      if (!chance(70)) continue;
      copies.push_back(PlaceOf(i) + name.substr(name.rfind('/') + 1));
      packages.emplace(copies.back(), copy);
    }
  }
  // The first selected package asks for the copies: most are in the cook.
  for (const std::string& copy : copies) {
    for (const std::string& id : selected) {
      if (id != selected.front() && !chance(20)) continue;
      std::vector<record::Reference>& references = packages.at(names_.at(id)).references;
      references.push_back({copy, record::ReferenceKind::kHard});
      std::ranges::sort(references);
    }
    // A copy's inputs come after its original, so no cycle is closed.
    const size_t to = std::stoul(copy.substr(copy.rfind('p') + 1));
    if (to == 0 || !chance(20)) continue;
    const auto reader = packages.find(NameOf(random() % to));
    if (reader != packages.end() && !reader->second.is_fickle)
      reader->second.cooked_inputs.push_back(copy);
  }
}

}  // namespace galley::simulation
