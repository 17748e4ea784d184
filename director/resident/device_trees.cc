#include "director/resident/device_trees.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {

devices::Audience DeviceTrees::AudienceOf(const devices::DeviceTree& tree) {
  return {.platform = tree.world().platform, .cultures = tree.world().cultures};
}

const devices::DeviceTree* DeviceTrees::Find(uint64_t world,
                                             const devices::Audience& audience) const {
  for (const auto& [digest, entry] : trees_) {
    if (entry.world == world && AudienceOf(*entry.tree) == audience) return entry.tree.get();
  }
  return nullptr;
}

bool DeviceTrees::HasAny(uint64_t world, const std::string& platform) const {
  return std::ranges::any_of(trees_, [&](const auto& one) {
    return one.second.world == world && one.second.tree->world().platform == platform;
  });
}

uint64_t DeviceTrees::NewestBefore(uint64_t world, const devices::Audience& audience) const {
  uint64_t newest = 0;
  for (const auto& [digest, entry] : trees_) {
    if (entry.world >= world || entry.tree->newest() == nullptr) continue;
    if (AudienceOf(*entry.tree) == audience) newest = std::max(newest, entry.world);
  }
  return newest;
}

void DeviceTrees::Insert(uint64_t world, std::unique_ptr<devices::DeviceTree> tree,
                         std::vector<devices::NamedBlob> blobs) {
  const Digest digest = devices::DigestOfWorld(tree->world());
  const bool is_new =
      trees_
          .emplace(digest,
                   Entry{.world = world, .tree = std::move(tree), .blobs = std::move(blobs)})
          .second;
  GALLEY_CHECK(is_new);
}

bool DeviceTrees::Reuse(uint64_t world, const devices::DeviceWorld& device_world) {
  const auto found = trees_.find(devices::DigestOfWorld(device_world));
  if (found == trees_.end()) return false;
  found->second.world = std::max(found->second.world, world);
  return true;
}

std::vector<std::string> DeviceTrees::Add(uint64_t world, const std::string& platform,
                                          const devices::CookedPackage& cooked) {
  std::vector<std::string> faults;
  for (auto& [digest, entry] : trees_) {
    if (entry.world != world || entry.tree->world().platform != platform) continue;
    if (const absl::Status added = entry.tree->Add(cooked, fold_, entry.blobs); !added.ok())
      faults.push_back(MessageOf(added));
  }
  return faults;
}

std::vector<DeviceTrees::Growth> DeviceTrees::Grow(absl::Time now, bool is_awaited) {
  std::vector<Growth> growths;
  for (auto& [digest, entry] : trees_) {
    devices::DeviceViewPtr view = entry.tree->Grow(now, is_awaited, entry.blobs);
    if (view == nullptr) continue;
    growths.push_back(
        {.world = entry.world, .view = std::move(view), .blobs = std::exchange(entry.blobs, {})});
  }
  return growths;
}

absl::Time DeviceTrees::grows_at() const {
  absl::Time at = absl::InfiniteFuture();
  for (const auto& [digest, entry] : trees_) at = std::min(at, entry.tree->grows_at());
  return at;
}

std::vector<std::pair<Digest, devices::Audience>> DeviceTrees::TreesOf(uint64_t world) const {
  std::vector<std::pair<Digest, devices::Audience>> trees;
  for (const auto& [digest, entry] : trees_) {
    if (entry.world == world) trees.emplace_back(digest, AudienceOf(*entry.tree));
  }
  return trees;
}

void DeviceTrees::DropBefore(uint64_t world) {
  std::erase_if(trees_, [&](const auto& one) { return one.second.world < world; });
}

}  // namespace galley::director
