#include "director/devices/device_tree.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "common/base/errors.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "common/tree/tree.h"

namespace galley::devices {

FileAnswer DeviceView::Find(std::string_view package, std::string_view suffix) const {
  const DeviceNode* const node = nodes.Find(NodeKeyOf(package));
  if (node == nullptr) return NotCooked{};
  std::string path(LastName(package));
  path += suffix;
  const tree::TreeFile* const file = node->Find(path);
  if (file == nullptr) return NoSuchOutput{};
  return CookedFile{.digest = file->digest, .is_executable = file->is_executable};
}

GeneratedAnswer DeviceView::FindGenerated(std::string_view generator,
                                          std::string_view stage_path) const {
  const DeviceNode* const node = nodes.Find(NodeKeyOf(generator));
  if (node == nullptr) return GeneratedAnswer::kNotCooked;
  return node->Generates(stage_path) ? GeneratedAnswer::kListed : GeneratedAnswer::kNotListed;
}

DeviceTree::DeviceTree(DeviceWorld world, const Digest& static_root)
    : world_(std::make_shared<const DeviceWorld>(std::move(world))), static_root_(static_root) {}

DeviceTree::DeviceTree(DeviceWorld world, const Digest& static_root, const DeviceView& before,
                       std::vector<NodeKey> changed)
    : world_(std::make_shared<const DeviceWorld>(std::move(world))),
      static_root_(static_root),
      nodes_(before.nodes),
      removed_(changed.begin(), changed.end()) {
  GALLEY_CHECK(before.world->platform == world_->platform);
  GALLEY_CHECK(before.world->cultures == world_->cultures);
}

const DeviceNode* DeviceTree::FindNode(const NodeKey& key) const {
  if (const auto added = added_.find(key); added != added_.end()) return &added->second;
  return removed_.contains(key) ? nullptr : nodes_.Find(key);
}

absl::Status DeviceTree::Add(const CookedPackage& cooked, const FoldPath& fold,
                             std::vector<NamedBlob>& blobs) {
  std::vector<NamedBlob> fresh;
  ASSIGN_OR_RETURN(DeviceNode node, MakeNode(cooked, fold, fresh));
  const bool is_new = FindNode(node.key) == nullptr;
  RETURN_IF_ERROR(Annotate(AddNode(std::move(node)), cooked.package));
  if (is_new) std::move(fresh.begin(), fresh.end(), std::back_inserter(blobs));
  return absl::OkStatus();
}

absl::Status DeviceTree::AddNode(DeviceNode node) {
  const NodeKey key = node.key;
  const DeviceNode* const there = FindNode(key);
  if (there == nullptr) added_.emplace(key, std::move(node));
  if (there == nullptr || there->root == node.root) return absl::OkStatus();
  return AlreadyExistsError("node {} has another result, {} and not {}", key.hex(),
                            there->root.ToString(), node.root.ToString());
}

absl::Time DeviceTree::grows_at() const {
  if (newest_ == nullptr) return absl::InfinitePast();
  return added_.empty() ? absl::InfiniteFuture() : grown_ + kGrowthInterval;
}

DeviceViewPtr DeviceTree::Grow(absl::Time now, bool is_awaited, std::vector<NamedBlob>& blobs) {
  const bool has_news = newest_ == nullptr || !added_.empty();
  if (!has_news || (!is_awaited && now < grows_at())) return nullptr;
  auto view = std::make_shared<DeviceView>();
  std::vector<DeviceNode> nodes;
  for (auto& [key, node] : added_) {
    view->added.push_back(key);
    nodes.push_back(std::move(node));
  }
  const std::vector<NodeKey> removed(removed_.begin(), removed_.end());
  nodes_ = nodes_.With(std::move(nodes), removed, blobs);
  added_.clear();
  if (!IsSabotaged(Sabotage::kChangeOldNode)) removed_.clear();
  tree::Directory root;
  std::string world_file = EncodeDeviceWorld(*world_);
  view->world_digest = Digest::Of(world_file);
  if (newest_ == nullptr) AppendBlob(std::move(world_file), blobs);
  root.files.push_back({.name = std::string(kWorldFile), .digest = view->world_digest});
  if (nodes_.root() != Digest())
    root.directories.push_back({std::string(kResourceFolder), nodes_.root()});
  if (static_root_ != Digest())
    root.directories.push_back({std::string(kStaticFolder), static_root_});
  view->world = world_;
  view->growth = newest_ == nullptr ? 1 : newest_->growth + 1;
  view->root = AppendBlob(tree::EncodeDirectory(root), blobs);
  view->static_root = static_root_;
  view->nodes = nodes_;
  newest_ = std::move(view);
  grown_ = now;
  return newest_;
}

}  // namespace galley::devices
