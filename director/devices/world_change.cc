#include "director/devices/world_change.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"

namespace galley::devices {
namespace {

// "Game/" of "Game/a.png"; empty: a path at the top.
std::string StageFolder(std::string_view stage_path) {
  return std::string(stage_path.substr(0, stage_path.size() - LastName(stage_path).size()));
}

const DeviceNode* NodeIn(const DeviceView* view, const std::string& package) {
  return view == nullptr ? nullptr : view->nodes.Find(NodeKeyOf(package));
}

const StaticFile* FileIn(const std::optional<ShownPackage>& package) {
  const bool is_small =
      package && package->file && package->file->digest.size_bytes() <= kStaticFileBytesMax;
  return is_small ? &*package->file : nullptr;
}

// The known paths of a package with their digests; nullopt: a link to what is not cooked.
using KnownPaths = std::map<std::string, std::optional<Digest>>;

KnownPaths PathsOf(const std::optional<ShownPackage>& package, const DeviceNode* node) {
  KnownPaths paths;
  if (!package) return paths;
  if (const StaticFile* const file = FileIn(package)) {
    paths[package->stage_path + package->outputs.always[0]] = file->digest;
    return paths;
  }
  for (const std::string& suffix : package->outputs.always)
    paths[package->stage_path + suffix] = std::nullopt;
  if (node == nullptr) return paths;
  const std::string folder = StageFolder(package->stage_path);
  for (const tree::TreeFile& file : node->files) paths[folder + file.path] = file.digest;
  return paths;
}

// Whether the path may be a further output of the package.
bool IsFurther(const ShownPackage& package, std::string_view path) {
  const std::string folder = package.stage_path + ".d/";
  return package.outputs.has_more && path.starts_with(folder);
}

void AddChange(const PackageChange& change, const DeviceView* before_view, WorldChange& all) {
  const std::string& name = change.before ? change.before->package : change.after->package;
  const KnownPaths before =
      PathsOf(change.before, change.before ? NodeIn(before_view, name) : nullptr);
  const KnownPaths after = PathsOf(change.after, nullptr);
  const bool is_link_after = change.after && FileIn(change.after) == nullptr;
  StalePackage stale{.package = name, .is_new = !change.before};
  for (const auto& [path, digest] : before) {
    const auto now = after.find(path);
    // Only the cook tells whether a further output goes.
    const bool may_stay = is_link_after && (now != after.end() || IsFurther(*change.after, path));
    if (may_stay) {
      if (digest) stale.before[path] = *digest;
    } else if (now == after.end()) {
      all.removed.push_back({path, digest, std::nullopt});
    } else if (now->second != digest) {
      all.modified.push_back({path, digest, now->second});
    }
  }
  for (const auto& [path, digest] : after) {
    if (!before.contains(path)) all.added.push_back({path, std::nullopt, digest});
  }
  if (!is_link_after) return all.not_stale.push_back(name);
  stale.stage_path = change.after->stage_path;
  stale.suffixes = change.after->outputs.always;
  all.stale.push_back(std::move(stale));
}

void SortChange(WorldChange& change) {
  SortUnique(change.added);
  SortUnique(change.modified);
  SortUnique(change.removed);
  std::ranges::sort(change.stale, {}, &StalePackage::package);
  SortUnique(change.not_stale);
}

}  // namespace

std::vector<std::string> StalePackage::Paths() const {
  std::vector<std::string> paths;
  for (const std::string& suffix : suffixes) paths.push_back(stage_path + suffix);
  for (const auto& [path, digest] : before) paths.push_back(path);
  SortUnique(paths);
  return paths;
}

WorldChange ChangeOf(std::span<const PackageChange> changed, const DeviceView* before) {
  WorldChange all;
  for (const PackageChange& change : changed) {
    GALLEY_CHECK(change.before || change.after);
    AddChange(change, before, all);
  }
  SortChange(all);
  return all;
}

WorldChange SettledChange(const StalePackage& stale, const DeviceNode& now) {
  WorldChange change;
  const std::string folder = StageFolder(stale.stage_path);
  KnownPaths before(stale.before.begin(), stale.before.end());
  for (const std::string& suffix : stale.suffixes)
    before.try_emplace(stale.stage_path + suffix, std::nullopt);
  for (const tree::TreeFile& file : now.files) {
    const std::string path = folder + file.path;
    const auto was = before.find(path);
    if (was == before.end()) {
      change.added.push_back({path, std::nullopt, file.digest});
    } else {
      change.modified.push_back({path, was->second, file.digest});
      before.erase(was);
    }
  }
  for (const auto& [path, digest] : before) change.removed.push_back({path, digest, std::nullopt});
  SortChange(change);
  return change;
}

}  // namespace galley::devices
