// For tests: cooked packages and DeviceTrees.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/base/status_macros.h"
#include "common/record/result.h"
#include "director/devices/device_node.h"
#include "director/devices/device_tree.h"
#include "director/devices/named_blob.h"
#include "director/devices/testing/sample_packages.h"
#include "director/devices/testing/sample_world.h"

namespace galley::devices {

inline record::Output SampleOutput(const std::string& suffix, const std::string& text) {
  return {.suffix = suffix, .digest = Digest::Of(text)};
}
inline CookedPackage SampleCooked(const std::string& package, std::vector<record::Output> outputs) {
  return {.package = package, .stage_path = package.substr(1), .outputs = std::move(outputs)};
}

// A tree that has grown once.
inline DeviceTree GrownTree(int world, const std::vector<CookedPackage>& cooked) {
  DeviceTree tree(SampleWorld(world), Digest());
  std::vector<NamedBlob> blobs;
  for (const CookedPackage& package : cooked)
    GALLEY_CHECK(tree.Add(package, LoweredPath, blobs).ok());
  tree.Grow(absl::UnixEpoch(), true, blobs);
  return tree;
}

}  // namespace galley::devices
