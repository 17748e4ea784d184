// World: a random project for the simulation, from a seed: references with power-law fan-in,
// missing ones, generated packages, cooked inputs, verdicts, poison, files that change while they
// are cooked, outputs in conflict. What a package's cook gives is a text that names it, its version
// and what it read, so a root can be compared as text.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/record/recipe.h"
#include "director/core/catalog.h"
#include "director/core/events.h"

namespace galley::simulation {

// What a snapshot's table says.
struct SnapshotTable {
  std::map<std::string, uint32_t> versions;  // of each file
  std::vector<std::string> platforms;        // by number
};

struct WorldPackage {
  std::vector<record::Reference> references;
  std::vector<std::string> generated;  // "_gen/cell1"
  std::vector<std::string> includes;   // packages whose source files it reads
  std::vector<std::string> cooked_inputs;
  std::vector<std::string> resources;
  bool is_verdict = false;
  bool is_poison = false;    // crashes its executor each time
  bool is_shared = false;    // its cook does not look at the platform
  bool will_change = false;  // once, when it is first cooked
  bool is_broken = false;    // the catalog has an error for it
  uint32_t version = 0;
};

class World : public director::Catalog {
 public:
  explicit World(uint64_t seed);

  std::optional<director::CatalogEntry> Find(std::string_view name) const override;
  std::optional<std::string> NameOfFile(std::string_view) const override { return std::nullopt; }
  director::CatalogEntry Generated(std::string_view name, std::string_view cooker,
                                   std::string_view settings) const override;
  director::ReferenceTarget Resolve(std::string_view from,
                                    std::string_view as_written) const override;

  const WorldPackage& At(std::string_view name) const;
  bool IsFile(const std::string& name) const { return packages.contains(name); }
  // Of its file, or its generator's.
  uint32_t VersionOf(const std::string& name) const;
  static std::string SourceBytes(const std::string& name, uint32_t version);
  static std::vector<record::Generated> GeneratedBy(const std::string& name,
                                                    const WorldPackage& package, uint32_t version);
  static const record::Recipe& recipe();
  static const Digest& recipe_digest();
  static constexpr const char* kTrustDomain = "main";
  // What a cook gives whose source, includes and inputs have these bytes.
  static std::string Cooked(const WorldPackage& package, const std::string& platform,
                            const std::string& source, const std::string& read);
  // What a cook of these files gives.
  using Versions = std::map<std::string, uint32_t>;
  std::string Expected(const std::string& name, const std::string& platform,
                       const Versions& versions, int depth = 0) const;
  Versions versions() const;

  std::map<std::string, WorldPackage, std::less<>> packages;
  WorldPackage child;  // every generated package is like this
  std::vector<std::string> selected;
  std::vector<std::pair<std::string, std::string>>
      conflicts;  // packages whose outputs want one path
};

}  // namespace galley::simulation
