// Snapshot: a state of the simulation's project, as a SimDirector's Sources: the files of World,
// and the platforms by number. It knows the digests of all files, and no file of it changes.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "director/shell/sources.h"
#include "tests/simulation/world.h"

namespace galley::simulation {

class Snapshot final : public director::Sources {
 public:
  // `world` outlives the snapshot. `table`: the name of the snapshot's table, for workers.
  Snapshot(const World& world, uint64_t number, std::string table, SnapshotTable content);

  const std::string& table() const { return table_; }
  const Files& files() const { return content_.files; }
  const std::vector<std::string>& platform_names() const { return content_.platforms; }
  const std::shared_ptr<const WorldCatalog>& catalog() const { return catalog_; }

  uint64_t number() const override { return number_; }
  director::PlatformsPtr platforms() const override { return platforms_; }
  // A generated package is known once it was listed, as a project's catalog knows it.
  director::RecipesPtr RecipesOf(std::string_view package, bool is_generated) const override;
  director::RecipesPtr RecipesAsListed(std::string_view package,
                                       const record::Generated& generated) const override;
  uint64_t SizeOf(std::string_view) const override { return 0; }
  absl::StatusOr<Digest> DigestOf(std::string_view path,
                                  const Cancellation* stop = nullptr) const override;
  std::optional<Digest> KnownDigest(std::string_view) const override { return std::nullopt; }
  absl::Status LearnDigest(std::string_view path, const Digest& digest) const override;
  absl::StatusOr<std::string> Look(const record::Observation& what,
                                   std::string_view package) const override;
  std::string StagePath(std::string_view package) const override;

 private:
  const World& world_;
  const uint64_t number_;
  const std::string table_;
  const SnapshotTable content_;
  const std::shared_ptr<const WorldCatalog> catalog_;
  director::PlatformsPtr platforms_;
  director::RecipesPtr recipes_;  // of every package
  mutable std::set<std::string, std::less<>> listed_;
};

}  // namespace galley::simulation
