#include "director/resident/tree_build.h"

#include <algorithm>
#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/tree/linked_directory.h"
#include "director/devices/device_node.h"
#include "director/devices/node_table.h"
#include "director/resident/standing_results.h"
#include "director/shell/stage_path.h"

namespace galley::director {
namespace {

constexpr size_t kPackagesAtOnce = 1'000;
constexpr size_t kEntriesAtOnce = 100'000;
constexpr size_t kBlobsInBatch = 1'024;

absl::Status Stopped() { return absl::CancelledError("the director ends"); }

class Builder {
 public:
  Builder(const TreeBuild& build, const BuildGround& ground)
      : build_(build), ground_(ground), fold_(FoldOfNames()) {}

  absl::StatusOr<BuiltTree> Build() {
    BuiltTree built{.static_tree = build_.static_tree};
    if (built.static_tree == nullptr) {
      ASSIGN_OR_RETURN(built.static_tree, BuildStatic());
    }
    RETURN_IF_ERROR(FindStandingIn(built));
    built.tree = std::make_unique<devices::DeviceTree>(
        DeviceWorldOf(build_.project_id, *build_.shown, build_.audience), built.static_tree->root);
    RETURN_IF_ERROR(AddAll(build_.cooked, *built.tree));
    if (built.standing) RETURN_IF_ERROR(AddAll(*built.standing, *built.tree));
    AddLeased(built);
    built.tree->Grow(build_.now, /*is_awaited=*/true, blobs_);
    RETURN_IF_ERROR(Flush());
    return built;
  }

 private:
  const ShownPlatform& platform() const { return *build_.shown->Find(build_.audience.platform); }

  absl::StatusOr<StaticTreePtr> BuildStatic() {
    const std::vector<std::string>& names = build_.shown->world->table->names();
    ground_.progress.total = names.size();
    std::vector<devices::StaticEntry> entries;
    for (size_t begin = 0; begin < names.size(); begin += kPackagesAtOnce) {
      const size_t end = std::min(begin + kPackagesAtOnce, names.size());
      RETURN_IF_ERROR(AddEntries(names, begin, end, entries));
      ground_.progress.done = end;
    }
    devices::StaticTreeBuild whole(std::move(entries), fold_);
    while (whole.Step(kEntriesAtOnce, blobs_)) {
      RETURN_IF_ERROR(Flush());
      if (ground_.stop.is_cancelled()) return Stopped();
    }
    RETURN_IF_ERROR(Flush());
    return std::make_shared<const devices::StaticTree>(whole.Take());
  }

  absl::Status AddEntries(const std::vector<std::string>& names, size_t begin, size_t end,
                          std::vector<devices::StaticEntry>& entries) {
    std::vector<devices::ShownPackage> packages;
    for (size_t i = begin; i < end; ++i) {
      if (ground_.stop.is_cancelled()) return Stopped();
      ASSIGN_OR_RETURN(std::optional<devices::ShownPackage> package,
                       ShowPackage(*build_.shown, platform(), names[i], &ground_.stop));
      if (package) packages.push_back(*std::move(package));
    }
    RETURN_IF_ERROR(PutSmallCopies(*build_.shown, packages, ground_.store, &ground_.stop));
    for (const devices::ShownPackage& package : packages)
      devices::AppendStaticEntries(package, entries);
    return absl::OkStatus();
  }

  // A newer world may have brought newer results: then nothing stands in this one for certain.
  absl::Status FindStandingIn(BuiltTree& built) {
    if (!build_.finds_standing || !build_.is_present()) return absl::OkStatus();
    absl::StatusOr<CookedPackages> standing = FindStanding({.world = *build_.shown->world,
                                                            .sources = *build_.sources,
                                                            .platform = platform().index,
                                                            .journal = ground_.journal,
                                                            .store = ground_.store,
                                                            .stop = ground_.stop});
    if (absl::IsCancelled(standing.status())) return standing.status();
    if (!standing.ok()) {
      LogWarning("devices begin with nothing that stands: {}", MessageOf(standing.status()));
    } else if (build_.is_present()) {
      built.standing = *std::move(standing);
    }
    return absl::OkStatus();
  }

  absl::Status AddAll(const CookedPackages& cooked, devices::DeviceTree& tree) {
    for (const auto& [package, files] : cooked) {
      if (ground_.stop.is_cancelled()) return Stopped();
      if (SmallCopyOf(*build_.shown, platform(), package)) continue;
      NoteFault(tree.Add(CookedOf(*build_.shown, package, *files), fold_, blobs_));
      if (blobs_.size() >= kBlobsInBatch) RETURN_IF_ERROR(Flush());
    }
    return absl::OkStatus();
  }

  // Nodes that cannot be read are cooked, or looked up, again.
  void AddLeased(BuiltTree& built) {
    const tree::ReadBlob read = [this](const Digest& digest) { return ground_.store.Get(digest); };
    std::set<Digest> known;
    for (const Digest& root : build_.leased) {
      absl::StatusOr<std::vector<devices::DeviceNode>> nodes = NodesOfRoot(root, read, known);
      NoteFault(nodes.status());
      if (!nodes.ok()) continue;
      for (devices::DeviceNode& node : *nodes) {
        built.has_unknown_nodes |= !built.tree->Has(node.key);
        NoteFault(built.tree->AddNode(std::move(node)));
      }
    }
  }

  static void NoteFault(const absl::Status& status) {
    if (!status.ok()) LogWarning("devices: {}", MessageOf(status));
  }

  absl::Status Flush() { return PutBlobs(ground_.store, std::exchange(blobs_, {})); }

  const TreeBuild& build_;
  const BuildGround& ground_;
  const devices::FoldPath fold_;
  std::vector<devices::NamedBlob> blobs_;
};

absl::StatusOr<tree::LinkedDirectory> ReadRoot(const Digest& root, const tree::ReadBlob& read) {
  ASSIGN_OR_RETURN(const Blob bytes, read(root));
  return tree::DecodeLinkedDirectory(*bytes);
}

}  // namespace

absl::StatusOr<BuiltTree> BuildTree(const TreeBuild& build, const BuildGround& ground) {
  return Builder(build, ground).Build();
}

devices::CookedPackage CookedOf(const ShownWorld& shown, const std::string& package,
                                const PackageFiles& files) {
  devices::CookedPackage cooked{.package = package,
                                .stage_path = StagePath(*shown.world->project, package),
                                .outputs = files.outputs};
  for (const std::string& staged : files.generated)
    cooked.generated.push_back(staged.substr(cooked.stage_path.size() + 1));
  return cooked;
}

absl::Status PutBlobs(store::Store& store, const std::vector<devices::NamedBlob>& blobs) {
  for (size_t begin = 0; begin < blobs.size(); begin += kBlobsInBatch) {
    std::vector<store::BlobView> views;
    for (size_t i = begin; i < std::min(begin + kBlobsInBatch, blobs.size()); ++i)
      views.push_back({.digest = blobs[i].digest, .bytes = blobs[i].bytes});
    for (const absl::Status& put : store.PutMany(views)) RETURN_IF_ERROR(put);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<devices::DeviceNode>> NodesOfRoot(const Digest& root,
                                                             const tree::ReadBlob& read,
                                                             std::set<Digest>& known) {
  ASSIGN_OR_RETURN(const tree::LinkedDirectory folder, ReadRoot(root, read));
  for (const tree::DirectoryNode& child : folder.directories) {
    if (child.name == devices::kResourceFolder)
      return devices::ReadNodes(child.digest, read, &known);
  }
  return std::vector<devices::DeviceNode>();
}

absl::StatusOr<devices::DeviceWorld> WorldOfRoot(const Digest& root, const tree::ReadBlob& read) {
  ASSIGN_OR_RETURN(const tree::LinkedDirectory folder, ReadRoot(root, read));
  for (const tree::FileNode& file : folder.files) {
    if (file.name != devices::kWorldFile) continue;
    ASSIGN_OR_RETURN(const Blob bytes, read(file.digest));
    return devices::DecodeDeviceWorld(*bytes);
  }
  return InvalidArgumentError("{} is no root of a session", root.ToString());
}

}  // namespace galley::director
