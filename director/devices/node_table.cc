#include "director/devices/node_table.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/errors.h"
#include "common/base/hex.h"
#include "common/base/status_macros.h"

namespace galley::devices {
namespace {

std::string HexOfByte(size_t byte) {
  const char value = static_cast<char>(byte);
  return HexEncode({&value, 1});
}

}  // namespace

const DeviceNode* NodeTable::Find(const NodeKey& key) const {
  const ShardPtr& shard = shards_[key.hash[0]];
  if (shard == nullptr || shard->buckets[key.hash[1]] == nullptr) return nullptr;
  const std::vector<DeviceNode>& nodes = shard->buckets[key.hash[1]]->nodes;
  const auto at = std::ranges::lower_bound(nodes, key, {}, &DeviceNode::key);
  return at == nodes.end() || at->key != key ? nullptr : &*at;
}

NodeTable NodeTable::With(std::vector<DeviceNode> added, std::span<const NodeKey> removed,
                          std::vector<NamedBlob>& blobs) const {
  const auto place = [](const NodeKey& key) { return std::pair(key.hash[0], key.hash[1]); };
  std::map<std::pair<uint8_t, uint8_t>, Changes> changes;
  for (DeviceNode& node : added) {
    std::vector<DeviceNode>& list = changes[place(node.key)].added;
    list.push_back(std::move(node));
  }
  for (const NodeKey& key : removed) changes[place(key)].removed.push_back(key);
  NodeTable after = *this;
  for (auto at = changes.begin(); at != changes.end();) {
    const uint8_t top = at->first.first;
    Shard shard = shards_[top] == nullptr ? Shard() : *shards_[top];
    for (; at != changes.end() && at->first.first == top; ++at) {
      BucketPtr& bucket = shard.buckets[at->first.second];
      after.size_ -= bucket == nullptr ? 0 : bucket->nodes.size();
      bucket = EditBucket(bucket.get(), at->second, blobs);
      after.size_ += bucket == nullptr ? 0 : bucket->nodes.size();
    }
    after.shards_[top] = SealShard(std::move(shard), blobs);
  }
  if (!changes.empty()) after.Seal(blobs);
  return after;
}

NodeTable::BucketPtr NodeTable::EditBucket(const Bucket* before, Changes& changes,
                                           std::vector<NamedBlob>& blobs) {
  auto after = std::make_shared<Bucket>();
  if (before != nullptr) after->nodes = before->nodes;
  std::erase_if(after->nodes, [&](const DeviceNode& node) {
    return std::ranges::find(changes.removed, node.key) != changes.removed.end();
  });
  std::ranges::move(changes.added, std::back_inserter(after->nodes));
  if (after->nodes.empty()) return nullptr;
  std::ranges::sort(after->nodes, {}, &DeviceNode::key);
  const auto twice = std::ranges::adjacent_find(after->nodes, {}, &DeviceNode::key);
  GALLEY_CHECK(twice == after->nodes.end());
  tree::Directory folder;
  for (const DeviceNode& node : after->nodes)
    folder.directories.push_back({node.key.hex(), node.root});
  after->digest = AppendBlob(tree::EncodeDirectory(folder), blobs);
  return after;
}

NodeTable::ShardPtr NodeTable::SealShard(Shard shard, std::vector<NamedBlob>& blobs) {
  tree::Directory folder;
  for (size_t i = 0; i < kFan; ++i) {
    if (shard.buckets[i] != nullptr)
      folder.directories.push_back({HexOfByte(i), shard.buckets[i]->digest});
  }
  if (folder.directories.empty()) return nullptr;
  shard.digest = AppendBlob(tree::EncodeDirectory(folder), blobs);
  return std::make_shared<const Shard>(std::move(shard));
}

void NodeTable::Seal(std::vector<NamedBlob>& blobs) {
  tree::Directory folder;
  for (size_t i = 0; i < kFan; ++i) {
    if (shards_[i] != nullptr) folder.directories.push_back({HexOfByte(i), shards_[i]->digest});
  }
  root_ = folder.directories.empty() ? Digest() : AppendBlob(tree::EncodeDirectory(folder), blobs);
}

absl::StatusOr<std::vector<DeviceNode>> ReadNodes(const Digest& resource,
                                                  const tree::ReadBlob& read,
                                                  std::set<Digest>* known) {
  if (resource == Digest()) return std::vector<DeviceNode>();
  std::set<Digest> fresh;
  std::vector<tree::DirectoryNode> folders = {{"", resource}};
  // From `resource` to the folders of the first digits, of the next digits, and of nodes.
  for (int depth = 0; depth < 3; ++depth) {
    std::vector<tree::DirectoryNode> below;
    for (const tree::DirectoryNode& folder : folders) {
      if (known != nullptr && known->contains(folder.digest)) continue;
      fresh.insert(folder.digest);
      ASSIGN_OR_RETURN(const Blob bytes, read(folder.digest));
      ASSIGN_OR_RETURN(tree::Directory directory, tree::DecodeDirectory(*bytes));
      std::ranges::move(directory.directories, std::back_inserter(below));
    }
    folders = std::move(below);
  }
  std::vector<DeviceNode> nodes;
  for (const tree::DirectoryNode& folder : folders) {
    const std::optional<NodeKey> key = ParseNodeKey(folder.name);
    if (!key) return InvalidArgumentError("resource: {} is no node", folder.name);
    absl::StatusOr<DeviceNode> node = ReadNode(*key, folder.digest, read);
    if (absl::IsInvalidArgument(node.status())) continue;
    RETURN_IF_ERROR(node.status());
    nodes.push_back(*std::move(node));
  }
  if (known != nullptr) known->merge(fresh);
  return nodes;
}

}  // namespace galley::devices
