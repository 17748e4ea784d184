// NodeTable: the nodes of a DeviceTree, as the folder `resource` has them. Immutable: a table with
// more nodes shares all folders without new nodes with the table before, so that a table for each
// growth, session and world costs what differs.
//
// The shape is that of the folder: resource/<2 hex>/<2 hex>/<node>; the digest of each folder is
// kept, so that a new node costs its own two folders and the folder `resource`. At a million nodes
// these are 256 entries, 256 entries, and 15 on average.
//
// Cost: Find O(log nodes of one folder); With O(256 + nodes of the folders that change) for each
// first digit pair that changes; about 250 bytes a node, and 5 MB for the folders of a full table.
// Threads: a table may be read from many threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/tree/tree.h"
#include "director/devices/device_node.h"
#include "director/devices/named_blob.h"
#include "director/devices/node_path.h"

namespace galley::devices {

class NodeTable {
 public:
  // nullptr: there is none. Valid as long as this table, or one that was made of it and still has
  // the node's folder, lives.
  const DeviceNode* Find(const NodeKey& key) const;
  size_t size() const { return size_; }
  // The folder `resource`; the digest of no bytes: there are no nodes, and no folder.
  const Digest& root() const { return root_; }

  // This table without `removed`, and then with `added`. Appends the folders that changed, after
  // their children. A removed node need not be there. REQUIRES: `added` has no node twice, and none
  // that is here and not removed.
  NodeTable With(std::vector<DeviceNode> added, std::span<const NodeKey> removed,
                 std::vector<NamedBlob>& blobs) const;

 private:
  static constexpr size_t kFan = 256;
  struct Bucket {
    std::vector<DeviceNode> nodes;  // sorted by key
    Digest digest;                  // of the folder resource/<2 hex>/<2 hex>
  };
  using BucketPtr = std::shared_ptr<const Bucket>;  // nullptr: no nodes
  struct Shard {
    std::array<BucketPtr, kFan> buckets;
    Digest digest;  // of the folder resource/<2 hex>
  };
  using ShardPtr = std::shared_ptr<const Shard>;
  struct Changes {
    std::vector<DeviceNode> added;
    std::vector<NodeKey> removed;
  };

  static BucketPtr EditBucket(const Bucket* before, Changes& changes,
                              std::vector<NamedBlob>& blobs);
  static ShardPtr SealShard(Shard shard, std::vector<NamedBlob>& blobs);
  void Seal(std::vector<NamedBlob>& blobs);

  std::array<ShardPtr, kFan> shards_;
  Digest root_;
  size_t size_ = 0;
};

// Reads the nodes of the folder `resource` (NodeTable::root), for a director that was restarted:
// the nodes of a leased root. A read for each folder, so a large tree is read beside the loop.
//
// A node that ReadNode refuses is left out: the package's result makes it again, and a package with
// an odd name must not cost the nodes of all others. Other errors as ReadNode and ListTree; a
// folder that is no node's: INVALID_ARGUMENT.
//
// `known`: folders above nodes that were read before, and gets those that are read now. Nodes below
// them are left out, because they were returned before: of a thousand sessions each has a root of
// its own, and nearly all folders in common. nullptr: nothing was read before.
absl::StatusOr<std::vector<DeviceNode>> ReadNodes(const Digest& resource,
                                                  const tree::ReadBlob& read,
                                                  std::set<Digest>* known = nullptr);

}  // namespace galley::devices
