// DeviceNode: what a package's cook made, as devices find it: a folder of its outputs under their
// last names, which is written once and whole.
//
//   a.glb.mesh, a.glb.d/lod1.glb   outputs: the package's last name and their suffixes
//   .empty                         the package was cooked and has no outputs
//   _gen                           what its load generated (generated_list.h)
//
// The folder's place is the SHA-256 of the package's virtual path (node_path.h), so a node can
// collide with nothing. A package that failed has no node.
// Threads: none; pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/record/result.h"
#include "common/tree/tree.h"
#include "director/devices/named_blob.h"
#include "director/devices/node_path.h"
#include "director/devices/static_entry.h"

namespace galley::devices {

inline constexpr std::string_view kEmptyFile = ".empty";

// A package's result, which is no verdict.
struct CookedPackage {
  std::string package;                  // virtual path; of a generated package its own
  std::string stage_path;               // "Game/a.png"
  std::vector<record::Output> outputs;  // in any order
  std::vector<std::string> generated;   // names, "_gen/cell_0_1.level", in any order
};

struct DeviceNode {
  NodeKey key;
  Digest root;                         // of the node's folder
  std::vector<tree::TreeFile> files;   // the outputs: path in the node, sorted by path
  std::vector<std::string> generated;  // stage paths of generated packages, sorted
  bool operator==(const DeviceNode&) const = default;

  // The output at this path in the node; nullptr: there is none.
  const tree::TreeFile* Find(std::string_view path_in_node) const;
  // Whether the load generated the package that is staged there.
  bool Generates(std::string_view stage_path) const;
};

// Appends the node's blobs, folders after their children. INVALID_ARGUMENT: the outputs cannot be
// in one tree, or a path is not plain; such a package fails in a cook by the book.
absl::StatusOr<DeviceNode> MakeNode(const CookedPackage& cooked, const FoldPath& fold,
                                    std::vector<NamedBlob>& blobs);

// Reads the node with the folder `root`, which MakeNode made. INVALID_ARGUMENT: MakeNode makes no
// such folder. Errors as ListTree.
absl::StatusOr<DeviceNode> ReadNode(const NodeKey& key, const Digest& root,
                                    const tree::ReadBlob& read);

}  // namespace galley::devices
