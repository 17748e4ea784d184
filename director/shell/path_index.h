// PathIndex: the packages to which a path of the cooked tree may belong, and the paths of a
// package, in one world and on one platform. The inverse of the names that RootBuilder gives.
//
// A path of the tree is the virtual path of a package, with the `stage_as` of its mount applied,
// and the suffix of an output: "", ".ext" or ".d/name" (StagePath, record::ValidateSuffix). Nothing
// else of a name is replaced, so the inverse takes suffixes off the path, puts the mounts back, and
// looks up what is left:
//
//   mount    path = "/Game/dlc", stage_as = "/Game/dlc1"
//   asked    Game/dlc1/m.glb.d/lod1.glb
//   stems    .../lod1.glb, .../lod1 and .../m.glb; suffixes "", ".glb" and ".d/lod1.glb"
//   names    /Game/dlc/m.glb and /Game/dlc1/m.glb, and so on for each stem
//   owners   /Game/dlc/m.glb with ".d/lod1.glb", if its recipe may have more outputs
//
// Which outputs a package has is in its recipes (record::OutputNames), so a package whose recipe
// never has the suffix is no owner. A variant for a culture is a package of its own.
//
// Only a cook knows the rest: which outputs below ".d/" there are, and which generated packages;
// whether two owners of a path both have it; whether a file of the tree is where another has a
// folder; generated packages of one generator that differ only in case; missing references and
// verdicts.
//
// Cost: a look-up in the snapshot for each stem and each mount that is staged at a folder of the
// path. Never a look at all packages: no question makes the catalog resolve all, and only the first
// question about a snapshot of a table reads the names of all files (Snapshot::FindAllFolded).
// Threads: any.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/record/output_names.h"
#include "director/core/catalog.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

// PathOwner: a package that may have an output at a path.
struct PathOwner {
  std::string path;  // in the tree, without a leading '/'
  std::string package;
  std::string suffix;  // of the output
  // The packages that must be cooked first, the outermost first; the last one generates the
  // package under `generated_name`. Empty: the package is a file.
  std::vector<std::string> generators;
  std::string generated_name;  // "_gen/cell_0_1.level"
  // True: the output is there if the package is cooked without error. False: only a cook tells: the
  // package may have more outputs, may be generated, or has no recipe.
  bool is_certain = false;
  // Not empty: why this world does not cook the package: a wrong rule or sidecar, a twin but for
  // case, a pointer of Git LFS, a name that the platform cannot have, or never-cook.
  std::string error;
  bool operator==(const PathOwner&) const = default;
};

struct PathOwners {
  // Sorted by package. Several of them that have the path are a conflict.
  std::vector<PathOwner> owners;
  // Owners of paths that equal the path but for case and Unicode form, sorted by path, then by
  // package. They are in conflict with the owners of the path, too.
  std::vector<PathOwner> twins;
  size_t look_ups = 0;  // in the snapshot
};

// PackagePaths: the paths of a package in the tree.
struct PackagePaths {
  std::string stem;                 // StagePath
  std::vector<std::string> always;  // paths of outputs that every cook has, sorted
  bool has_more = false;            // only a cook tells which paths below `stem` + ".d/" there are
  bool may_generate = false;        // only a cook tells which packages are generated
  std::string error;                // as PathOwner::error
};

class PathIndex {
 public:
  // REQUIRES: the project has the platform.
  PathIndex(std::shared_ptr<const ProjectCatalog> catalog, PlatformIndex platform);

  // Returns no owner for a path that is not plain (tree::IsPlainPath).
  PathOwners OwnersOf(std::string_view path) const;

  // The packages that may have the folder `path`, of which only a cook tells what it has:
  //   <package>.d      of a package that may have further outputs, or that is generated
  //   <package>/_gen   of a package that may generate others
  // The suffix of an owner is ".d" or "/_gen", which no output has; none is certain.
  PathOwners FolderOwnersOf(std::string_view path) const;
  static bool IsOfFolder(const PathOwner& owner) {
    return owner.suffix == ".d" || owner.suffix == "/_gen";
  }

  // nullopt: there is no such package; for a generated package also: this world has not been told
  // of it (ProjectCatalog::Generated).
  std::optional<PackagePaths> PathsOf(std::string_view package) const;

 private:
  struct Query;
  struct Candidate;

  static PathOwners TakeFound(Query& query);
  void AddMounts(Query& query) const;
  void LookUpStem(size_t stem_size, Query& query) const;
  void LookUpName(const std::string& name, size_t stem_size, Query& query) const;
  void ConsiderPackage(std::string package, std::string_view file, size_t stem_size,
                       Query& query) const;
  bool FindGenerators(const std::string& package, std::vector<std::string>& generators) const;
  void AddOwners(const Candidate& candidate, Query& query) const;
  const record::OutputNames* OutputsOf(const RecipesPtr& recipes) const;
  std::string ErrorOf(std::string_view package, const CatalogEntry& file,
                      const PackagePaths& paths) const;
  std::string FaultOf(std::string_view path) const;
  PackagePaths PathsBy(std::string_view package, const CatalogEntry& file,
                       const RecipesPtr& recipes) const;

  const std::shared_ptr<const ProjectCatalog> catalog_;
  const PlatformIndex platform_;
  const bool is_for_windows_;
  // The paths of the mounts that are staged at a folder, by its folded virtual path.
  absl::flat_hash_map<std::string, std::vector<std::string>> staged_at_;
  size_t staged_depth_max_ = 0;  // of these folders, in segments
};

}  // namespace galley::director
