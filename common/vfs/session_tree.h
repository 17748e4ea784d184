// SessionTree: the cooked tree as one root of a session shows it: the paths that games know, over
// the folders `static` and `resource` and the lists of generated packages.
//
//   Game/a.png.ktx2                     static/..., whose link leads to a node
//   Game/a.glb.d/lod1.glb               the same; `a.glb.d` is a link
//   Game/town.level/_gen/cell.bin.mesh  static/Game/town.level/_gen leads to a list, which names
//                                       the node of the package Game/town.level/_gen/cell.bin
//
// Cost: the folders on the way, and for a generated package the list of its generator.
// Source: docs/formats.md, "What devices see". Threads: as `read`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/generated_list.h"
#include "common/vfs/result.h"
#include "common/vfs/tree_path.h"

namespace galley::vfs {

// A folder of the cooked tree, whether or not it is cooked.
struct ShownFolder {};
// Only a cook tells. `is_folder`: going by its name, it is a folder if it is there.
struct NotCookedAt {
  bool is_folder = false;
  // Not empty: it may not be there at all, or be a folder; a cook of this path tells
  // (ShownListing::asks).
  std::string ask = {};
};
using ShownPath = std::variant<FileAt, ShownFolder, NotCookedAt, NothingAt>;

struct ShownEntry {
  std::string name;
  bool is_folder = false;
  int64_t size = -1;  // of a file; -1: not known
};
struct ShownListing {
  std::vector<ShownEntry> entries;  // sorted by name
  // Not empty: the director has to be asked for these paths (docs/http.md, "Requests", folders that
  // only a cook tells), and the entries are not all.
  std::vector<std::string> asks;
};

class SessionTree {
 public:
  // `read` outlives this object.
  SessionTree(const BlobId& root, const ReadFolder& read) : root_(root), read_(read) {}

  // `path`: plain, or empty for the top. Faults as FollowPath.
  Result<ShownPath> Find(const std::string& path) const;
  // nullopt: there is no such folder. Faults as FollowPath.
  Result<std::optional<ShownListing>> List(const std::string& folder) const;

 private:
  using Packages = std::vector<GeneratedPackage>;
  struct OfNode {
    const GeneratedPackage& package;
    std::string_view rest;  // of the path, behind the package's
  };

  // The world shows a link at the path that leads to what only a cook tells.
  Result<bool> IsLinkToMore(const std::string& path) const;
  Result<PathEntry> Follow(const std::string& path) const { return FollowPath(root_, path, read_); }
  // `generator`: its path in the cooked tree. Lists that name other paths than those below its
  // `_gen` are damaged, so that lists which lead to each other have an end.
  Result<Packages> ReadList(const BlobId& list, std::string_view generator) const;
  Result<ShownPath> FindGenerated(const Packages& packages, const std::string& path) const;
  Result<ShownPath> FindInNode(const OfNode& at, const std::string& path) const;
  Result<std::optional<ShownListing>> ListFolder(const std::string& path,
                                                 const BlobId& folder) const;
  Result<std::optional<ShownListing>> ListGenerated(const Packages& packages,
                                                    const std::string& folder) const;
  Outcome AddOutputs(const GeneratedPackage& package, ShownListing& listing) const;
  Outcome AddFolderOfNode(const OfNode& at, const std::string& folder, ShownListing& listing) const;

  const BlobId root_;
  const ReadFolder& read_;
};

}  // namespace galley::vfs
