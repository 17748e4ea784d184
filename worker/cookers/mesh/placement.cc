#include "worker/cookers/mesh/placement.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <utility>

#include "fmt/format.h"

namespace galley::worker::mesh {
namespace {

constexpr const char* kInstancing = "EXT_mesh_gpu_instancing";

bool IsInstanced(const Json& node) { return Extension(node, kInstancing) != nullptr; }

constexpr double kCoarserMax = 256;

// Whether positions and their deltas are floats.
bool HasFloatPositions(const Primitive& primitive) {
  return std::ranges::all_of(primitive.attributes, [](const Attribute& each) {
    return each.semantic != "POSITION" || each.stream.format.component == Component::kFloat;
  });
}

// A grid for all these meshes that costs none of them too much precision; nullopt: there is none.
std::optional<PositionGrid> FitCommonGrid(const std::vector<const MeshData*>& meshes) {
  std::vector<const Primitive*> all;
  std::vector<std::vector<const Primitive*>> each;
  for (const MeshData* mesh : meshes) {
    each.emplace_back();
    for (const Primitive& primitive : mesh->primitives) each.back().push_back(&primitive);
    all.insert(all.end(), each.back().begin(), each.back().end());
  }
  if (!std::ranges::all_of(all, [](const auto* one) { return HasFloatPositions(*one); }))
    return std::nullopt;
  const std::optional<PositionGrid> grid = FitGrid(all);
  if (!grid || meshes.size() == 1) return grid;
  const bool is_too_coarse = std::ranges::any_of(each, [&](const auto& primitives) {
    if (IsPoint(primitives)) return false;
    const std::optional<PositionGrid> own = FitGrid(primitives);
    return !own || own->step * kCoarserMax < grid->step;
  });
  return is_too_coarse ? std::nullopt : grid;
}

// Meshes and skins that must have one grid: sets of their numbers, skins behind meshes.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }

  size_t Find(size_t member) {
    while (parent_[member] != member) {
      parent_[member] = parent_[parent_[member]];
      member = parent_[member];
    }
    return member;
  }
  void Join(size_t a, size_t b) { parent_[Find(a)] = Find(b); }

 private:
  std::vector<size_t> parent_;
};

// The shortest decimal for this float: a reader gets the same float. REQUIRES: `value` is a
// float's.
double Short(double value) {
  double decimal = 0;
  const std::string text = fmt::format("{}", static_cast<float>(value));
  std::from_chars(text.data(), text.data() + text.size(), decimal);
  return decimal;
}

// Moves the mesh of `node` to a new child that is scaled by `grid`; returns the child.
Json ChildOf(Json& node, const PositionGrid& grid) {
  Json child = Json::object();
  for (const char* key : {"mesh", "weights"}) {
    if (!node.contains(key)) continue;
    child[key] = std::move(node[key]);
    node.erase(key);
  }
  if (grid.origin != std::array<double, 3>{0, 0, 0})
    child["translation"] = {Short(grid.Translation(0)), Short(grid.Translation(1)),
                            Short(grid.Translation(2))};
  if (grid.step != 1) child["scale"] = Json::array_t(3, Short(grid.step));
  return child;
}

}  // namespace

Grids PlanGrids(const Json& json, const std::vector<MeshData>& meshes) {
  const size_t skin_count = ArraySize(json, "skins");
  Groups groups(meshes.size() + skin_count);
  std::vector<bool> is_shown(meshes.size(), false);
  std::vector<bool> is_instanced(meshes.size(), false);
  for (size_t i = 0; i < ArraySize(json, "nodes"); ++i) {
    const Json& node = json["nodes"][i];
    if (Member(node, "mesh") == nullptr) continue;
    const size_t mesh = node["mesh"].get<size_t>();
    is_shown[mesh] = true;
    is_instanced[mesh] = is_instanced[mesh] || IsInstanced(node);
    if (Member(node, "skin") != nullptr)
      groups.Join(mesh, meshes.size() + node["skin"].get<size_t>());
  }
  struct Group {
    std::vector<const MeshData*> meshes;
    bool may_have_grid = true;
  };
  std::map<size_t, Group> by_root;
  for (size_t i = 0; i < meshes.size(); ++i) {
    Group& group = by_root[groups.Find(i)];
    group.meshes.push_back(&meshes[i]);
    group.may_have_grid = group.may_have_grid && is_shown[i] && !is_instanced[i];
  }
  std::map<size_t, std::optional<PositionGrid>> grids;
  for (const auto& [root, group] : by_root) {
    if (group.may_have_grid) grids[root] = FitCommonGrid(group.meshes);
  }
  const auto grid_of = [&](size_t member) -> std::optional<PositionGrid> {
    const auto found = grids.find(groups.Find(member));
    if (found == grids.end()) return std::nullopt;
    return found->second;
  };
  Grids planned;
  for (size_t i = 0; i < meshes.size(); ++i) planned.of_mesh.push_back(grid_of(i));
  for (size_t i = 0; i < skin_count; ++i) planned.of_skin.push_back(grid_of(meshes.size() + i));
  return planned;
}

void PlaceMeshes(Json& json, const Grids& grids) {
  std::map<size_t, size_t> moved;  // node -> the child that has its mesh now
  const size_t count = ArraySize(json, "nodes");
  for (size_t i = 0; i < count; ++i) {
    Json& node = json["nodes"][i];
    if (Member(node, "mesh") == nullptr || Member(node, "skin") != nullptr) continue;
    const std::optional<PositionGrid>& grid = grids.of_mesh[node["mesh"].get<size_t>()];
    if (!grid || grid->IsIdentity()) continue;
    Json child = ChildOf(node, *grid);
    const size_t child_index = json["nodes"].size();
    if (Array(node, "children") == nullptr) node["children"] = Json::array();
    node["children"].push_back(child_index);
    moved[i] = child_index;
    json["nodes"].push_back(std::move(child));
  }
  const JsonVisitor retarget = [&](Json& target, const std::string&) {
    const Json* path = Member(target, "path");
    const Json* node = Member(target, "node");
    if (node == nullptr || path == nullptr || *path != "weights") return absl::OkStatus();
    if (const auto found = moved.find(node->get<size_t>()); found != moved.end())
      target["node"] = found->second;
    return absl::OkStatus();
  };
  VisitJson(json, "animations/*/channels/*/target", "", retarget).IgnoreError();
}

void AbsorbGrid(Stream& matrices, const PositionGrid& grid) {
  for (size_t i = 0; i < matrices.count; ++i) {
    // Columns: M * translate(t) * scale(s). Rows of the last column: M.xyz * t + M.w.
    for (size_t row = 0; row < 4; ++row) {
      double last = matrices.At(i, 12 + row);
      for (size_t column = 0; column < 3; ++column)
        last += matrices.At(i, column * 4 + row) * grid.Translation(column);
      PutFloat(matrices, i, 12 + row, static_cast<float>(last));
      for (size_t column = 0; column < 3; ++column) {
        const double scaled = matrices.At(i, column * 4 + row) * grid.step;
        PutFloat(matrices, i, column * 4 + row, static_cast<float>(scaled));
      }
    }
  }
}

}  // namespace galley::worker::mesh
