// World for several cooks: nearly all packages may change by an edit.
#include <algorithm>

#include "common/base/sort_unique.h"
#include "tests/simulation/schedule.h"
#include "tests/simulation/world.h"

namespace galley::simulation {

using record::ReferenceKind;

World World::OfSeveralCooks(Random& random) {
  World world;
  world.is_wide_ = random.Percent(5);
  world.fails_early = true;
  const uint64_t count = 4 + random.Below(16) + (world.is_wide_ ? 40 : 0);
  for (uint64_t i = 0; i < count; ++i) {
    world.packages[NameOf(i)].id = NameOf(i);
    world.names_[NameOf(i)] = NameOf(i);
  }
  for (uint64_t i = 0; i < count; ++i) {
    WorldPackage& package = world.packages[NameOf(i)];
    world.Draw(package, i, count, random);
    package.is_never_cooked = random.Percent(3);
    if (!world.is_wide_) continue;
    package.references.clear();
    package.of_one_platform.clear();
    package.cooked_inputs.clear();
  }
  if (random.Percent(30) && count > 5) world.conflicts = {{NameOf(2), NameOf(4)}};
  return world;
}

void World::DrawVariants(Random& random) {
  if (is_wide_ || !random.Percent(50)) return;
  for (auto& [name, package] : packages) {
    for (uint64_t i = random.Percent(30) ? 1 + random.Below(2) : 0; i > 0; --i)
      package.localised.push_back(NameOf(random.Below(packages.size())));
  }
}

void World::Draw(WorldPackage& package, uint64_t number, uint64_t count, Random& random) {
  package.references.clear();
  package.of_one_platform.clear();
  for (uint64_t i = random.Below(4); i > 0; --i) {
    std::string path = random.Percent(3) ? "/Game/missing" : NameOf(random.Below(count));
    if (random.Percent(10)) path += "/_gen/a";
    const ReferenceKind kind = random.Percent(30) ? ReferenceKind::kSoft : ReferenceKind::kHard;
    (random.Percent(20) ? package.of_one_platform : package.references).push_back({path, kind});
  }
  package.generated.clear();
  if (random.Percent(15)) package.generated.push_back("_gen/a");
  if (random.Percent(10)) package.generated.push_back("_gen/b");
  // Inputs have lower numbers, so that nobody waits for itself.
  package.cooked_inputs.clear();
  for (uint64_t i = random.Percent(30) ? 1 + random.Below(2) : 0; i > 0 && number > 0; --i)
    package.cooked_inputs.push_back(NameOf(random.Below(number)));
  SortUnique(package.references);
  SortUnique(package.of_one_platform);
  SortUnique(package.cooked_inputs);
  package.is_verdict = random.Percent(5);
  // Only poison that crashes at once: poison that hangs takes a slot for longer than the bounds of
  // classes allow.
  package.is_poison = package.poison() == Poison::kCrashes && random.Percent(9);
  package.is_shared = package.of_one_platform.empty() && random.Percent(50);
  package.resources.clear();
  if (random.Percent(10)) package.resources["gpu"] = 1;
}

std::vector<std::string> World::Edit(Random& random) {
  std::set<std::string> edited;
  for (uint64_t i = random.Percent(80) ? 1 : 2 + random.Below(3); i > 0; --i) {
    const uint64_t number = random.Below(names_.size());
    EditOne(number, random);
    edited.insert(NameOf(number));
  }
  return {edited.begin(), edited.end()};
}

// A package's name stays, and so does the rule that it is never cooked, which is no file's.
void World::EditOne(uint64_t number, Random& random) {
  const std::string name = NameOf(number);
  if (const auto gone = gone_.find(name); gone != gone_.end()) {
    packages[name] = gone->second;
    gone_.erase(gone);
  }
  WorldPackage& package = packages.at(name);
  former_.emplace(*BytesOf(name), package);
  const uint64_t what = random.Below(100);
  if (what >= 10 && what < 60 && !is_wide_) Draw(package, number, names_.size(), random);
  ++package.version;
  // A package that a generator listed stays listed when its file is gone, which would end in other
  // words.
  if (what >= 10 || !package.generated.empty() || package.is_never_cooked) return;
  gone_[name] = package;
  packages.erase(name);
}

World World::AsOf(const Files& files) const {
  World world = *this;
  world.packages.clear();
  for (const auto& [name, bytes] : files) world.packages[name] = In(bytes);
  return world;
}

std::vector<record::Reference> WorldPackage::ReferencesOn(std::string_view platform) const {
  std::vector<record::Reference> all = references;
  if (platform == "p1") all.insert(all.end(), of_one_platform.begin(), of_one_platform.end());
  std::ranges::sort(all);
  return all;
}

}  // namespace galley::simulation
