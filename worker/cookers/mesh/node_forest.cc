#include "worker/cookers/mesh/node_forest.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {
namespace {

// A walk upwards that is longer than the number of nodes goes round. Nodes whose walk ends are
// marked.
absl::Status CheckNoCircle(const std::vector<size_t>& parent) {
  const size_t count = parent.size();
  std::vector<bool> ends(count, false);
  std::vector<size_t> path;
  for (size_t i = 0; i < count; ++i) {
    path.clear();
    size_t at = i;
    while (at != count && !ends[at] && path.size() <= count) {
      path.push_back(at);
      at = parent[at];
    }
    if (path.size() > count)  // such a long walk has reached the circle, wherever it began
      return Flaw(fmt::format("/nodes/{}", path.back()), "the node is its own ancestor");
    for (const size_t node : path) ends[node] = true;
  }
  return absl::OkStatus();
}

// A node in the list of a scene.
struct Listed {
  size_t scene = 0;
  size_t place = 0;
  size_t node = 0;
  bool is_kept = true;
  bool is_shown_below = false;  // another node of the list shows this node
};

class SceneRepair {
 public:
  SceneRepair(Json& json, const NodeForest& forest, Warnings& warnings)
      : json_(json), forest_(forest), warnings_(warnings) {}

  void Run() {
    for (size_t scene = 0; scene < ArraySize(json_, "scenes"); ++scene) ListScene(scene);
    FindSpans();
    for (Listed& each : listed_) RepairEntry(each);
    for (size_t scene = 0; scene < ArraySize(json_, "scenes"); ++scene) WriteScene(scene);
  }

 private:
  void ListScene(size_t scene) {
    const Json* nodes = Array(std::as_const(json_)["scenes"][scene], "nodes");
    std::vector<Listed> own;
    for (size_t i = 0; nodes != nullptr && i < nodes->size(); ++i)
      own.push_back({.scene = scene, .place = i, .node = (*nodes)[i].get<size_t>()});
    // In the order of spans, nodes that lie below another node of the list follow it.
    std::vector<size_t> order(own.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      return forest_.begin(own[a].node) < forest_.begin(own[b].node);
    });
    size_t end = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      Listed& each = own[order[i]];
      each.is_kept = i == 0 || own[order[i - 1]].node != each.node;
      each.is_shown_below = each.is_kept && forest_.begin(each.node) < end;
      end = std::max(end, forest_.end(each.node));
    }
    listed_.insert(listed_.end(), own.begin(), own.end());
  }

  // The nodes that all scenes together show, as rising spans that do not overlap.
  void FindSpans() {
    for (const Listed& each : listed_)
      shown_.emplace_back(forest_.begin(each.node), forest_.end(each.node));
    std::ranges::sort(shown_);
    for (size_t i = 1; i < shown_.size(); ++i)
      shown_[i].second = std::max(shown_[i].second, shown_[i - 1].second);
  }
  bool IsShown(size_t node) const {
    const auto after = std::upper_bound(shown_.begin(), shown_.end(),
                                        std::pair(forest_.begin(node), forest_.size() + 1));
    return after != shown_.begin() && forest_.begin(node) < std::prev(after)->second;
  }

  void RepairEntry(Listed& each) {
    const std::string place = fmt::format("/scenes/{}/nodes/{}", each.scene, each.place);
    if (!each.is_kept) {
      warnings_.AddRepair(
          "{}: the node is in the list already, and is named once (DUPLICATE_ELEMENTS)", place);
    } else if (each.is_shown_below) {
      each.is_kept = false;
      warnings_.AddRepair(
          "{}: the node is no root, and the scene shows one that it is below; it is left out of "
          "the list (SCENE_NON_ROOT_NODE)",
          place);
    } else if (!forest_.IsRoot(each.node)) {
      if (IsShown(forest_.parent(each.node))) {
        warnings_.Add(
            "{}: the node is no root, and another scene shows its parent; the list stays as it is "
            "(SCENE_NON_ROOT_NODE)",
            place);
        return;
      }
      Detach(each.node);
      warnings_.AddRepair(
          "{}: the node is no root, and no scene shows its parent; it becomes a root "
          "(SCENE_NON_ROOT_NODE)",
          place);
    }
  }

  // Takes `node` out of its parent's children, if it is still there: another scene may have done
  // so.
  void Detach(size_t node) {
    Json& parent = json_["nodes"][forest_.parent(node)];
    Json* children = Array(parent, "children");
    if (children == nullptr) return;
    Json kept = Json::array();
    for (const Json& child : *children) {
      if (child.get<size_t>() != node) kept.push_back(child);
    }
    if (kept.empty()) {
      parent.erase("children");
    } else {
      *children = std::move(kept);
    }
  }

  void WriteScene(size_t scene) {
    if (Array(json_["scenes"][scene], "nodes") == nullptr) return;
    Json kept = Json::array();
    for (; next_ < listed_.size() && listed_[next_].scene == scene; ++next_) {
      if (listed_[next_].is_kept) kept.push_back(listed_[next_].node);
    }
    json_["scenes"][scene]["nodes"] = std::move(kept);
  }

  Json& json_;
  const NodeForest& forest_;
  Warnings& warnings_;
  std::vector<Listed> listed_;  // in the order of the file
  std::vector<std::pair<size_t, size_t>> shown_;
  size_t next_ = 0;
};

}  // namespace

absl::Status NodeForest::ReadParents(Json& json, Warnings& warnings) {
  const size_t count = ArraySize(json, "nodes");
  parent_.assign(count, count);
  for (size_t i = 0; i < count; ++i) {
    Json* children = Array(json["nodes"][i], "children");
    if (children == nullptr) continue;
    Json kept = Json::array();
    for (size_t k = 0; k < children->size(); ++k) {
      const size_t child = (*children)[k].get<size_t>();
      if (parent_[child] == i) {
        warnings.AddRepair(
            "/nodes/{}/children/{}: the node is in the list already, and is named once "
            "(DUPLICATE_ELEMENTS)",
            i, k);
        continue;
      }
      if (parent_[child] != count) {
        return Flaw(fmt::format("/nodes/{}/children", i),
                    fmt::format("node {} is a child of node {} already", child, parent_[child]));
      }
      parent_[child] = i;
      kept.push_back(child);
    }
    if (kept.size() < children->size()) *children = std::move(kept);
  }
  return CheckNoCircle(parent_);
}

void NodeForest::NumberNodes(const Json& json) {
  begin_.assign(size(), 0);
  end_.assign(size(), 0);
  root_.assign(size(), 0);
  struct Visit {
    size_t node;
    size_t next;  // the next child to visit
  };
  std::vector<Visit> open;
  size_t number = 0;
  for (size_t root = 0; root < size(); ++root) {
    if (!IsRoot(root)) continue;
    const auto enter = [&](size_t node) {
      begin_[node] = number++;
      root_[node] = root;
      open.push_back({.node = node, .next = 0});
    };
    enter(root);
    while (!open.empty()) {
      Visit& visit = open.back();
      const Json* children = Array(json["nodes"][visit.node], "children");
      if (children != nullptr && visit.next < children->size()) {
        enter((*children)[visit.next++].get<size_t>());
        continue;
      }
      end_[visit.node] = number;
      open.pop_back();
    }
  }
}

absl::StatusOr<NodeForest> NodeForest::Read(Json& json, Warnings& warnings) {
  NodeForest forest;
  RETURN_IF_ERROR(forest.ReadParents(json, warnings));
  forest.NumberNodes(json);
  return forest;
}

void RepairScenes(Json& json, const NodeForest& forest, Warnings& warnings) {
  SceneRepair(json, forest, warnings).Run();
}

}  // namespace galley::worker::mesh
