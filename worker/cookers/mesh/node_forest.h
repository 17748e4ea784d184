// NodeForest: the trees that the nodes of a glTF file make.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

class NodeForest {
 public:
  // Reads the trees. A child that its parent names twice is named once in `json` afterwards, with a
  // warning. INVALID_ARGUMENT: a node has two parents, or is its own ancestor. REQUIRES: indices
  // are in range.
  static absl::StatusOr<NodeForest> Read(Json& json, Warnings& warnings);

  size_t size() const { return parent_.size(); }
  bool IsRoot(size_t node) const { return parent_[node] == size(); }
  size_t parent(size_t node) const { return parent_[node]; }  // REQUIRES: `node` is no root
  // The range of `node` in tree order, which contains the ranges of its descendants.
  size_t begin(size_t node) const { return begin_[node]; }
  size_t end(size_t node) const { return end_[node]; }
  // Whether `below` is `node` or one of its descendants.
  bool Holds(size_t node, size_t below) const {
    return begin_[node] <= begin_[below] && begin_[below] < end_[node];
  }
  size_t RootOf(size_t node) const { return root_[node]; }

 private:
  absl::Status ReadParents(Json& json, Warnings& warnings);
  void NumberNodes(const Json& json);

  std::vector<size_t> parent_;  // size(): a root
  std::vector<size_t> begin_;
  std::vector<size_t> end_;
  std::vector<size_t> root_;
};

// Repairs the lists of scenes, with warnings: a list names only roots, each once. A listed node
// below another listed node is left out, since it is drawn with its ancestor. Any other listed node
// that is no root becomes a root if no scene shows its parent; otherwise the list stays unchanged.
void RepairScenes(Json& json, const NodeForest& forest, Warnings& warnings);

}  // namespace galley::worker::mesh
