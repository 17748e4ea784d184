#include "tests/simulation/world.h"

#include <algorithm>

#include "common/record/cooker_description.h"
#include "tests/simulation/faults.h"

namespace galley::simulation {

using record::Reference;
using record::ReferenceKind;

World::World(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto chance = [&](uint64_t percent) { return random() % 100 < percent; };
  const size_t count = 3 + random() % 40;
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
      package.references.push_back({NameOf(to), kind});
    }
    if (has_missing && chance(6))
      package.references.push_back({"/Game/missing", ReferenceKind::kHard});
    if (has_missing && chance(6))
      package.references.push_back({"/Game/missing", ReferenceKind::kSoft});
    if (has_missing && chance(6)) package.references.push_back({"_gen/none", ReferenceKind::kHard});
    if (i + 1 < count && chance(20))
      package.cooked_inputs.push_back(NameOf(i + 1 + random() % (count - i - 1)));
    if (has_cycle && chance(8)) package.cooked_inputs.push_back(NameOf(random() % count));
    for (size_t g = chance(12) ? 1 + random() % 3 : 0; g > 0; --g) {
      package.generated.push_back("_gen/cell" + std::to_string(g));
    }
    std::ranges::sort(package.generated);
    if (!package.generated.empty() && chance(50))
      package.references.push_back({"_gen/cell1", ReferenceKind::kHard});
    if (chance(10))
      package.references.push_back(
          {NameOf(random() % count) + "/_gen/cell1", ReferenceKind::kSoft});
    if (chance(10)) package.resources = {{"gpu", 1}};
    package.is_verdict = chance(4);
    package.is_poison = has_poison && chance(4);
    package.is_shared = chance(50);
    package.will_change = has_changes && chance(10);
    package.is_broken = chance(2);
    for (size_t n = chance(15) ? 1 + random() % 2 : 0; n > 0; --n)
      package.includes.push_back(NameOf(random() % count));
    std::ranges::sort(package.includes);
    std::ranges::sort(package.references);
    package.id = NameOf(i);
    if (package.is_poison && has_changes && Digest::Of(package.id).hash()[0] % 2 == 0) {
      package.will_change = true;
      package.mended_after = 1 + static_cast<uint8_t>(Digest::Of(package.id).hash()[1]) % 5;
    }
    names_[package.id] = package.id;
    packages.emplace(package.id, std::move(package));
  }
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 || chance(30)) selected.push_back(NameOf(i));
  }
  for (size_t i = chance(30) ? 1 + random() % 3 : 0; i > 0; --i) {
    const size_t a = random() % count, b = random() % count;
    if (a != b) conflicts.emplace_back(NameOf(a), NameOf(b));
  }
  DrawOptions(seed);
  if (chance(40)) DrawMoves(random);
  DrawFickle();
  DrawCopies(seed);
}

void World::DrawMoves(std::mt19937_64& random) {
  const size_t count = packages.size();
  const size_t a = random() % count, b = (a + 1 + random() % (count - 1)) % count;
  switch (random() % 3) {
    case 0:
      moves = {{NameOf(a), "/Game/moved"}};
      break;
    case 1:  // handed on
      moves = {{NameOf(a), NameOf(b)}, {NameOf(b), "/Game/moved"}};
      break;
    case 2:  // exchanged
      moves = {{NameOf(a), NameOf(b)}, {NameOf(b), NameOf(a)}};
      break;
  }
}

void World::DrawOptions(uint64_t seed) {
  std::mt19937_64 random(~seed);
  const auto chance = [&](uint64_t percent) { return random() % 100 < percent; };
  const bool are_some_never_cooked = IsLateOn(seed, kNeverCooked);
  const bool have_variants = IsLateOn(seed, kCultures);
  follows_soft = !IsLateOn(seed, kSoftNotFollowed);
  tells_cookers = IsLateOn(seed, kOnAFarm);
  // If a result must be proven elsewhere, no other worker may have everything that its package asks
  // for.
  is_placed = IsLateOn(seed, kPlaced) && !IsLateOn(seed, kProven);
  if (is_placed) DrawPlaces();
  for (auto& [name, package] : packages) {
    package.is_never_cooked = are_some_never_cooked && chance(15);
    const std::string variant = NameOf(random() % packages.size());
    if (have_variants && chance(20)) package.localised.push_back(variant);
  }
  // A cook does not begin if everything that is selected is never cooked
  // (director/cli/selection.h).
  packages.at(selected.front()).is_never_cooked = false;
}

const record::WorkerOffer& World::AllThatIsAsked() {
  static const record::WorkerOffer& all =
      *new record::WorkerOffer{.labels = {"a", "b"}, .resources = {{"tape", 3}}};
  return all;
}

void World::DrawPlaces() {
  for (auto& [name, package] : packages) {
    const Digest digest = Digest::Of(package.id);
    const auto& hash = digest.hash();
    if (hash[7] % 3 == 0) package.labels.emplace_back("a");
    if (hash[8] % 3 == 0) package.labels.emplace_back("b");
    const uint32_t tapes = static_cast<uint8_t>(hash[9]) % 6;
    if (tapes >= 1 && tapes <= 3) package.resources["tape"] = tapes;
  }
}

// Draws fickle packages, on whose bytes no other package depends. If files move, a name may become
// an input.
void World::DrawFickle() {
  if (!moves.empty()) return;
  std::set<std::string> inputs;
  for (const auto& [name, package] : packages)
    inputs.insert(package.cooked_inputs.begin(), package.cooked_inputs.end());
  for (auto& [name, package] : packages) {
    package.is_fickle = Digest::Of(package.id).hash()[6] % 2 == 0 && !inputs.contains(name) &&
                        !package.is_shared && !package.is_verdict && package.generated.empty();
  }
}

bool World::IsExpected(const Digest& output, const std::string& name, const std::string& platform,
                       const Files& files) const {
  const std::string expected = Expected(name, platform, files);
  if (output == Digest::Of(expected)) return true;
  const auto file = files.find(name);
  return file != files.end() && In(file->second).is_fickle &&
         output == Digest::Of(Otherwise(expected));
}

Poison WorldPackage::poison() const {
  return static_cast<Poison>(static_cast<uint8_t>(Digest::Of(id).hash()[3]) % 3);
}

bool WorldPackage::says_its_memory() const { return Digest::Of(id).hash()[5] % 2 == 0; }

void World::LetPackagesTakeMemory() {
  // The last size is more than the machine has.
  constexpr uint64_t kParts[] = {0, 1, 5, 9, 18};
  for (auto& [name, package] : packages)
    package.memory_bytes =
        kParts[static_cast<uint8_t>(Digest::Of(package.id).hash()[4]) % 5] * (kMachineBytes / 16);
}

const WorldPackage& World::At(std::string_view name) const {
  const auto found = packages.find(name);
  return found == packages.end() ? child : found->second;
}

const WorldPackage& World::In(std::string_view bytes) const {
  if (const auto former = former_.find(std::string(bytes)); former != former_.end())
    return former->second;
  return At(names_.at(std::string(IdIn(bytes))));
}

std::optional<std::string> World::BytesOf(const std::string& name) const {
  const auto found = packages.find(name);
  if (found == packages.end()) return std::nullopt;
  return found->second.id + "#" + std::to_string(found->second.version);
}

std::string_view World::IdIn(std::string_view bytes) { return bytes.substr(0, bytes.find('#')); }

std::string World::NameIn(const Files& files, std::string_view id) {
  for (const auto& [name, bytes] : files) {
    if (IdIn(bytes) == id) return name;
  }
  return "";
}

void World::Move() {
  std::vector<std::pair<std::string, WorldPackage>> moved;
  for (const Renamed& move : moves) {
    moved_.insert({move.from, move.to});
    const auto from = packages.find(move.from);
    moved.emplace_back(move.to, std::move(from->second));
    packages.erase(from);
  }
  for (auto& [name, package] : moved) {
    names_[package.id] = name;
    packages[name] = std::move(package);
  }
  moves.clear();
}

std::string World::GeneratedBytes(const std::string& generator, const std::string& name) {
  return generator + "/" + name;
}

std::vector<record::Generated> World::GeneratedBy(const WorldPackage& package,
                                                  const std::string& bytes) {
  std::vector<record::Generated> list;
  for (const std::string& one : package.generated)
    list.push_back({one, Digest::Of(GeneratedBytes(bytes, one)), "", ""});
  return list;
}

record::Recipe World::recipe() const {
  return {.cooker = "sim", .identity = "1", .extension = extension, .settings = "{}"};
}

bool World::StartsPrograms(std::string_view name) { return Digest::Of(name).hash()[2] % 2 == 0; }

std::string World::CookersJson(bool is_older) {
  const record::CookerDescription sim{
      .name = "sim", .identity = "1", .outputs = {{.suffix = ".out"}}, .may_generate = true};
  record::CookerDescription command = sim;
  command.name = "command";
  command.identity = is_older ? "1" : "2";
  return record::EncodeDescriptions({command, sim});
}

std::string World::ProgramsOf(std::string_view name) {
  if (!StartsPrograms(name)) return "";
  return Digest::Of(name).hash()[3] % 2 == 0 ? "bake" : "pack";
}

bool World::NeedsFiles(std::string_view name) {
  return StartsPrograms(name) && Digest::Of(name).hash()[4] % 4 == 0;
}

std::string World::TargetRecipe(std::string_view name) const {
  record::Recipe for_worker = recipe();
  if (StartsPrograms(name)) for_worker.cooker = "command";
  return record::EncodeRecipe(for_worker);
}

std::string World::Cooked(const WorldPackage& package, const std::string& platform,
                          const std::string& source, const std::string& read) {
  std::string text = source + (package.is_shared ? "" : "@" + platform);
  text += "(" + read + ")";
  return text.size() > 4096 ? Digest::Of(text).hex() : text;
}

Files World::files() const {
  Files all;
  for (const auto& [name, package] : packages) all[name] = *BytesOf(name);
  return all;
}

std::string World::Expected(const std::string& name, const std::string& platform,
                            const Files& files, int depth) const {
  if (depth > 64) return "";
  const size_t generated = name.rfind("/_gen/");
  const auto file = files.find(name.substr(0, generated));
  if (file == files.end()) return "";
  const bool is_child = generated != std::string::npos;
  const WorldPackage& package = is_child ? child : In(file->second);
  std::string read;
  for (const std::string& include : package.includes) {
    const auto included = files.find(FileOf(name, include));
    read += (included == files.end() ? "" : included->second) + ",";
  }
  for (const std::string& input : package.cooked_inputs)
    read += Expected(input, platform, files, depth + 1) + ",";
  if (package.looks_at_environment) read += environment;
  return Cooked(package, platform,
                is_child ? GeneratedBytes(file->second, name.substr(generated + 1)) : file->second,
                read);
}

std::optional<director::CatalogEntry> WorldCatalog::Find(std::string_view name) const {
  const auto found = files_.find(std::string(name));
  if (found == files_.end()) return std::nullopt;
  const WorldPackage& package = world_.In(found->second);
  director::CatalogEntry entry;
  entry.resources = package.resources;
  if (World::StartsPrograms(name)) {
    // A package that starts programs may have to go to the project's machine, whatever it has.
    entry.resources.erase("tape");
  } else {
    entry.labels = package.labels;
  }
  entry.never_cook = package.is_never_cooked;
  entry.programs = World::ProgramsOf(name);
  if (world_.tells_cookers) entry.cooker = World::CookerOf(name);
  if (package.says_its_memory()) entry.memory_bytes = package.memory_bytes;
  if (package.is_broken) entry.error = "unknown cooker 'x'";
  return entry;
}

std::vector<std::string> WorldCatalog::VariantsOf(std::string_view name,
                                                  const director::Cultures& cultures) const {
  std::vector<std::string> variants;
  const auto found = files_.find(std::string(name));
  if (found == files_.end()) return variants;
  const std::vector<std::string>& localised = world_.In(found->second).localised;
  for (size_t i = 0; i < localised.size(); ++i) {
    const std::string_view culture = World::kVariantCultures[i % World::kVariantCultures.size()];
    const bool is_asked = !cultures || std::ranges::find(*cultures, culture) != cultures->end();
    if (is_asked && localised[i] != name && files_.contains(localised[i]))
      variants.push_back(localised[i]);
  }
  return variants;
}

director::CatalogEntry WorldCatalog::Generated(std::string_view, std::string_view,
                                               std::string_view) const {
  return {};
}

director::ReferenceTarget WorldCatalog::Resolve(std::string_view,
                                                std::string_view as_written) const {
  director::ReferenceTarget target{.name = std::string(as_written)};
  const std::string base = target.name.substr(0, target.name.rfind("/_gen/"));
  if (!files_.contains(base)) target.error = "no such file";
  return target;
}

}  // namespace galley::simulation
