#include "tests/simulation/device_roots.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/status_macros.h"
#include "common/tree/find_path.h"
#include "director/devices/node_path.h"
#include "director/devices/node_table.h"
#include "tests/simulation/clean_paths.h"

namespace galley::simulation {
namespace {

constexpr std::string_view kOut = ".out";

tree::ReadBlob ReaderOf(SimStore& store) {
  return [&store](const Digest& digest) { return store.Get(digest); };
}

std::string StaticPath(std::string_view name) {
  return std::string(devices::kStaticFolder) + std::string(name);
}

}  // namespace

DeviceRoots::DeviceRoots(const Deps& deps) : deps_(deps) {
  for (uint64_t i = 0; i < deps.names; ++i) {
    const std::string name = World::NameOf(i);
    for (const std::string& package : {name, name + "/_gen/a", name + "/_gen/b"}) {
      packages_.push_back(package);
      names_by_key_[devices::NodeKeyOf(package)] = package;
    }
  }
}

void DeviceRoots::Break(const std::string& what) { deps_.checks.Break("safety: " + what); }

const KnownRoot* DeviceRoots::Find(const Digest& root) const {
  const auto found = roots_.find(root);
  return found == roots_.end() ? nullptr : &found->second;
}

const KnownRoot* DeviceRoots::Know(const Digest& root, SimStore& store, bool may_be_lost) {
  if (const KnownRoot* const known = Find(root)) return known;
  const Reading reading(*this);
  absl::StatusOr<KnownRoot> read = Read(root, store);
  if (!read.ok()) {
    if (!may_be_lost)
      Break("the root " + root.hex() + " cannot be read: " + MessageOf(read.status()));
    return nullptr;
  }
  const KnownRoot& known = roots_.emplace(root, *std::move(read)).first->second;
  deps_.checks.Trace("a root of " + known.world.platform + ": " + root.hex(), known.nodes.size());
  CheckStatic(known, root, store);
  return &known;
}

absl::StatusOr<KnownRoot> DeviceRoots::Read(const Digest& root, SimStore& store) {
  const tree::ReadBlob read = ReaderOf(store);
  ASSIGN_OR_RETURN(const Blob bytes, read(root));
  ASSIGN_OR_RETURN(const tree::LinkedDirectory top, tree::DecodeLinkedDirectory(*bytes));
  KnownRoot known;
  for (const tree::FileNode& file : top.files) {
    if (file.name != devices::kWorldFile) continue;
    ASSIGN_OR_RETURN(const Blob text, read(file.digest));
    ASSIGN_OR_RETURN(known.world, devices::DecodeDeviceWorld(*text));
  }
  const std::string marker = StaticPath(DeviceWorlds::kMarker);
  ASSIGN_OR_RETURN(const tree::FollowedPath found, tree::FollowLinks(root, marker, read));
  const auto* const file = std::get_if<tree::TreeFile>(&found);
  known.files = file == nullptr ? nullptr : deps_.worlds.FilesOf(file->digest);
  if (known.files == nullptr) return absl::InternalError("it does not name the files of its world");
  for (const tree::DirectoryNode& child : top.directories) {
    if (child.name != devices::kResourceFolder) continue;
    ASSIGN_OR_RETURN(const std::vector<devices::DeviceNode> nodes,
                     devices::ReadNodes(child.digest, read));
    for (const devices::DeviceNode& node : nodes) {
      known.nodes[node.key] = node.root;
      CheckNode(known, node);
    }
  }
  return known;
}

// A node is what a clean cook of the package makes in the root's world.
void DeviceRoots::CheckNode(const KnownRoot& root, const devices::DeviceNode& node) {
  const auto named = names_by_key_.find(node.key);
  if (named == names_by_key_.end()) return Break("a node of no package: " + node.key.hex());
  const std::string& package = named->second;
  const std::string where = package + " on " + root.world.platform;
  const CleanPath clean = CleanPathOf(deps_.world, *root.files,
                                      package.substr(1) + std::string(kOut), root.world.platform);
  if (clean.fails() || !clean.file.has_value()) {
    const std::string why = clean.errors.empty() ? "" : ": " + *clean.errors.begin();
    return Break("a root has a node of a package that a clean cook of its world has not: " + where +
                 why);
  }
  const bool is_right = node.files.size() == 1 && node.files[0].digest == *clean.file;
  if (!is_right) return Break("a root has a node of another world than its own: " + where);
  std::vector<std::string> generated;
  if (!World::IsGenerated(package)) {
    for (const std::string& one : deps_.world.In(root.files->at(package)).generated)
      generated.push_back(package.substr(1) + "/" + one);
  }
  std::ranges::sort(generated);
  if (World::IsGenerated(package) ? !node.generated.empty() : node.generated != generated)
    Break("a node lists other generated packages than a clean cook: " + where);
}

// The packages have their links, and the plain files are there.
void DeviceRoots::CheckStatic(const KnownRoot& known, const Digest& root, SimStore& store) {
  const tree::ReadBlob read = ReaderOf(store);
  for (const std::string& package : packages_) {
    if (World::IsGenerated(package)) continue;
    const auto found = tree::FindPath(root, StaticPath(package + std::string(kOut)), read);
    if (!found.ok()) return;  // it was lost meanwhile
    const auto file = known.files->find(package);
    const bool is_shown =
        file != known.files->end() && !deps_.world.In(file->second).is_never_cooked;
    if (std::holds_alternative<tree::FoundLink>(*found) != is_shown)
      Break("a root has a link, or has none, otherwise than its world: " + package);
  }
  for (const auto& [name, bytes] : DeviceWorlds::PlainFilesOf(*known.files)) {
    const auto found = tree::FindPath(root, StaticPath(name), read);
    const auto* const file = found.ok() ? std::get_if<tree::TreeFile>(&*found) : nullptr;
    if (file == nullptr || file->digest != Digest::Of(bytes))
      Break("a root has another plain file than its world: " + name);
  }
}

void DeviceRoots::CheckGrowth(const Digest& before, const Digest& after) {
  const KnownRoot& older = roots_.at(before);
  const KnownRoot& newer = roots_.at(after);
  if (older.world != newer.world)
    return Break("a session's root is of another world than before: " + after.hex());
  for (const auto& [key, node] : older.nodes) {
    const auto found = newer.nodes.find(key);
    const std::string package = names_by_key_.contains(key) ? names_by_key_.at(key) : key.hex();
    if (found == newer.nodes.end()) return Break("a growth lost the node of " + package);
    if (found->second != node) return Break("a growth changed the node of " + package);
  }
}

// Generated packages have no links: their nodes are found by name.
std::optional<Digest> DeviceRoots::FileIn(const Digest& root, const std::string& path,
                                          SimStore& store) const {
  const Reading reading(*this);
  std::string where = std::string(devices::kStaticFolder) + "/" + path;
  if (World::IsGenerated(path) && path.ends_with(kOut)) {
    const std::string package = "/" + path.substr(0, path.size() - kOut.size());
    where = devices::NodeFolder(devices::NodeKeyOf(package)) + "/" +
            std::string(devices::LastName(package)) + std::string(kOut);
  }
  const auto found = tree::FollowLinks(root, where, ReaderOf(store));
  if (!found.ok()) return std::nullopt;
  const auto* const file = std::get_if<tree::TreeFile>(&*found);
  return file == nullptr ? std::nullopt : std::optional(file->digest);
}

// ------------------------------------------------------------------ what a root needs

DeviceRoots::Closure DeviceRoots::ClosureOf(const Digest& root, SimStore& store) {
  const Reading reading(*this);
  Closure closure;
  Walk(root, store, closure);
  return closure;
}

void DeviceRoots::Walk(const Digest& folder, SimStore& store, Closure& closure) {
  if (!closure.blobs.insert(folder).second) return;
  if (!store.LocationOf(folder)) closure.is_whole = false;
  if (!folders_.contains(folder)) {
    const auto bytes = store.Get(folder);
    const auto read = bytes.ok() ? tree::DecodeLinkedDirectory(**bytes)
                                 : absl::StatusOr<tree::LinkedDirectory>(bytes.status());
    if (!read.ok()) {
      closure.is_whole = false;
      return;
    }
    folders_.emplace(folder, *read);
  }
  const tree::LinkedDirectory& directory = folders_.at(folder);
  for (const tree::FileNode& file : directory.files) {
    closure.blobs.insert(file.digest);
    if (!store.LocationOf(file.digest)) closure.is_whole = false;
  }
  for (const tree::DirectoryNode& child : directory.directories) Walk(child.digest, store, closure);
}

}  // namespace galley::simulation
