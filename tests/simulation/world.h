// World: a random project for the simulation, from a seed: references with power-law fan-in,
// missing references, generated packages, cooked inputs, verdicts, poison, files that change while
// they are cooked, outputs in conflict, equal files in several places. A package's output is a text
// that names the package, its version and what it read, so that a root can be compared as text.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/record/recipe.h"
#include "common/record/worker_offer.h"
#include "director/core/catalog.h"
#include "director/core/events.h"

namespace galley::simulation {

// The source that a lying worker claims to have cooked.
inline constexpr const char* kFalseSource = "another source";

class Random;

// The bytes of each file, by its name.
using Files = std::map<std::string, std::string>;

// SnapshotTable: the contents of a snapshot's table.
struct SnapshotTable {
  Files files;
  std::vector<std::string> platforms;  // by number
};

// Poison: the harm that a poison package does to its executor.
enum class Poison : uint8_t { kCrashes, kOutgrowsMemory, kHangs };

struct WorldPackage {
  // The first name of its file: wherever the file moves to, its bytes begin with this name. A copy
  // has the original's id.
  std::string id;
  std::vector<record::Reference> references;
  std::vector<record::Reference> of_one_platform;  // further references, on p1
  std::vector<std::string> generated;              // "_gen/cell1"
  // Packages whose source files it reads; "n": in its own folder.
  std::vector<std::string> includes;
  std::vector<std::string> cooked_inputs;
  record::ResourceCounts resources;
  std::vector<std::string> labels;  // sorted
  bool is_verdict = false;
  bool is_poison = false;     // kills its executor each time, until it is mended
  uint64_t mended_after = 0;  // so many executors, then the package changes; 0: never
  bool is_shared = false;     // its cook does not look at the platform
  bool will_change = false;   // once, when it is first cooked
  bool is_broken = false;     // the catalog has an error for it
  uint64_t memory_bytes = 0;  // that its cook takes; 0: next to nothing
  bool is_never_cooked = false;
  bool is_fickle = false;              // its cook may give Otherwise of the expected text
  bool looks_at_environment = false;   // at kVariable
  std::vector<std::string> localised;  // its variants, for kVariantCultures by turns
  uint32_t version = 0;

  bool IsPoison() const { return is_poison && (mended_after == 0 || version == 0); }
  Poison poison() const;
  bool says_its_memory() const;
  std::vector<record::Reference> ReferencesOn(std::string_view platform) const;
};

// The memory of a machine, for all its workers.
inline constexpr uint64_t kMachineBytes = 1 << 30;

class World {
 public:
  using Renamed = director::FilesChanged::Renamed;
  explicit World(uint64_t seed);
  // A world for several cooks. Some are wide: many packages that have nothing to do with each
  // other.
  static World OfSeveralCooks(Random& random);
  // The cultures that cooks may ask for. The project has both.
  static constexpr std::array<std::string_view, 2> kVariantCultures = {"de", "fr"};
  // Gives some packages of a world for several cooks variants.
  void DrawVariants(Random& random);
  // Changes some packages, and lets some come and go. Returns their names.
  std::vector<std::string> Edit(Random& random);
  bool is_wide() const { return is_wide_; }
  // The world with these files, which it had at some time.
  World AsOf(const Files& files) const;

  // The first name of the package with this number.
  static std::string NameOf(uint64_t number) { return "/Game/p" + std::to_string(number); }
  // The package in the present file of this name; for a generated package: `child`.
  const WorldPackage& At(std::string_view name) const;
  // The package in a file of these bytes.
  const WorldPackage& In(std::string_view bytes) const;
  const std::string& NameNow(const std::string& id) const { return names_.at(id); }
  // The present bytes of the package's file.
  std::optional<std::string> BytesOf(const std::string& name) const;
  // The bytes of the package `name` that a generator with these bytes generates.
  static std::string GeneratedBytes(const std::string& generator, const std::string& name);
  static std::vector<record::Generated> GeneratedBy(const WorldPackage& package,
                                                    const std::string& bytes);
  record::Recipe recipe() const;
  // Half of all packages are cooked by programs, and may wait. No key contains this.
  static bool StartsPrograms(std::string_view name);
  // The cooker that a catalog names; "" for generated packages.
  static std::string_view CookerOf(std::string_view name) {
    return IsGenerated(name) ? "" : StartsPrograms(name) ? "command" : "sim";
  }
  // Both cookers; `is_older`: one of them differs from the director's.
  static std::string CookersJson(bool is_older);
  // The programs that a package starts; empty: none.
  static std::string ProgramsOf(std::string_view name);
  // Whether its program fails on a machine without the project.
  static bool NeedsFiles(std::string_view name);
  std::string TargetRecipe(std::string_view name) const;
  static constexpr const char* kTrustDomain = "main";
  // The output of a cook whose source, includes and inputs have these bytes.
  static std::string Cooked(const WorldPackage& package, const std::string& platform,
                            const std::string& source, const std::string& read);
  static std::string Otherwise(const std::string& text) { return text + "~"; }
  // The output of a cook of these files.
  std::string Expected(const std::string& name, const std::string& platform, const Files& files,
                       int depth = 0) const;
  // Whether `output` is the expected output, or the other output that a fickle package may give.
  bool IsExpected(const Digest& output, const std::string& name, const std::string& platform,
                  const Files& files) const;
  Files files() const;
  // From now on packages take memory, as much as a small machine has.
  void LetPackagesTakeMemory();
  // Makes all `moves` at once.
  void Move();
  // Whether the name's file is another in the end; true also for names that the file generates.
  bool IsMoved(const std::string& name) const {
    return moved_.contains(name.substr(0, name.rfind("/_gen/")));
  }
  // The id of the file with these bytes; a view into them.
  static std::string_view IdIn(std::string_view bytes);
  static bool IsGenerated(std::string_view name) {
    return name.find("/_gen/") != std::string_view::npos;
  }
  // The path of a file that a package of this name asks for.
  static std::string FileOf(std::string_view name, const std::string& as_asked);
  // The name of the id's file in `files`; "": it has no file. For a copy it comes after the
  // original's.
  static std::string NameIn(const Files& files, std::string_view id);

  static constexpr const char* kVariable = "VALUE";
  std::string environment;  // what it is

  // The extension of all packages, in their recipes. Their names have none: where a ProjectCatalog
  // resolves the recipes (device_worlds.h), it is "".
  std::string extension = "txt";
  bool follows_soft = true;
  // A package that fails does so before its references are known: else what a cook knows of the
  // package would depend on whether it was tried in that cook.
  bool fails_early = false;
  // Packages name the cooker (CatalogEntry::cooker): those that programs cook, and the others.
  bool tells_cookers = false;
  // Packages that start no programs ask for labels, and for a resource of machines (kPlaced).
  bool is_placed = false;
  // The offer of a machine that suits all packages.
  static const record::WorkerOffer& AllThatIsAsked();
  std::map<std::string, WorldPackage, std::less<>> packages;  // by the name of the file
  WorldPackage child;                 // every generated package is like this
  std::vector<std::string> selected;  // ids
  std::vector<Renamed> moves;         // made once by the files
  // Packages whose outputs want the same path.
  std::vector<std::pair<std::string, std::string>> conflicts;

 private:
  void DrawOptions(uint64_t seed);
  void DrawMoves(std::mt19937_64& random);
  void DrawPlaces();
  void DrawFickle();
  void DrawCopies(uint64_t seed);
  bool MayHaveCopies(const WorldPackage& package) const;
  World() = default;
  static void Draw(WorldPackage& package, uint64_t number, uint64_t count, Random& random);
  void EditOne(uint64_t number, Random& random);

  std::map<std::string, std::string> names_;  // id -> present name
  std::set<std::string> moved_;
  bool is_wide_ = false;
  std::map<std::string, WorldPackage> former_;  // packages before an edit, by their bytes
  std::map<std::string, WorldPackage> gone_;    // by name
};

// The packages of a snapshot.
class WorldCatalog : public director::Catalog {
 public:
  // `world` outlives the catalog.
  WorldCatalog(const World& world, Files files) : world_(world), files_(std::move(files)) {}

  std::optional<director::CatalogEntry> Find(std::string_view name) const override;
  std::optional<std::string> NameOfFile(std::string_view) const override { return std::nullopt; }
  director::CatalogEntry Generated(std::string_view name, std::string_view cooker,
                                   std::string_view settings) const override;
  director::ReferenceTarget Resolve(std::string_view from,
                                    std::string_view as_written) const override;
  std::vector<std::string> VariantsOf(std::string_view name,
                                      const director::Cultures& cultures) const override;

 private:
  const World& world_;
  const Files files_;
};

}  // namespace galley::simulation
