// DeviceWorlds: the simulation's projects as devices see them: real Worlds, with a snapshot, rules
// and a catalog of the product, for the files of a Snapshot. No file is on a disk, and all digests
// are known.
//
// Devices also see *plain files*, which are copied and which the core does not know:
//
//   /Game/plain/p<n>.txt    for every third package that is there; made of the source's bytes
//   /Game/plain/world.txt   names all files, so that the tree of a root tells of which world it is
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "director/shell/world.h"
#include "tests/simulation/snapshot.h"
#include "tests/simulation/world.h"

namespace galley::simulation {

class DeviceWorlds {
 public:
  static constexpr std::string_view kPlainFolder = "/Game/plain/";
  static constexpr std::string_view kMarker = "/Game/plain/world.txt";

  // `world` outlives this object. Its packages that are never cooked stay the same. REQUIRES: its
  // extension is "".
  explicit DeviceWorlds(const World& world);

  director::WorldPtr Make(const Snapshot& snapshot);
  // The plain files of a project with these files.
  static Files PlainFilesOf(const Files& files);
  static bool IsPlain(std::string_view package) { return package.starts_with(kPlainFolder); }
  // The files of which the marker has this digest; nullptr: no world was made of such files.
  const Files* FilesOf(const Digest& marker) const;
  // Every project of which a world was made, by its marker.
  const std::map<Digest, Files>& all() const { return by_marker_; }

 private:
  // Ground: what worlds with the same platforms share.
  struct Ground {
    std::shared_ptr<const project::Project> project;
    std::shared_ptr<const project::RecipeResolver> resolver;
  };

  const Ground& GroundFor(const std::vector<std::string>& platforms);

  const World& world_;
  std::vector<std::string> never_cooked_;
  std::map<std::vector<std::string>, Ground> grounds_;
  std::map<Digest, Files> by_marker_;
};

}  // namespace galley::simulation
