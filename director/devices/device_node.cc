#include "director/devices/device_node.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "common/base/errors.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/tree/plain_name.h"
#include "director/devices/generated_list.h"

namespace galley::devices {
namespace {

// The file with the list, which is made of the packages' paths. Appends its blob.
tree::TreeFile ListFile(const CookedPackage& cooked, std::vector<std::string>& stage_paths,
                        std::vector<NamedBlob>& blobs) {
  std::vector<GeneratedPackage> packages;
  for (const std::string& name : cooked.generated) {
    packages.push_back({cooked.stage_path + "/" + name, NodeKeyOf(cooked.package + "/" + name)});
  }
  SortUnique(packages);
  for (const GeneratedPackage& package : packages) stage_paths.push_back(package.stage_path);
  return {.path = std::string(GeneratedListName(LastName(cooked.package))),
          .digest = AppendBlob(EncodeGeneratedList(packages), blobs)};
}

absl::Status CheckPlain(const std::string& path) {
  if (tree::IsPlainPath(path)) return absl::OkStatus();
  return InvalidArgumentError("{} is no plain path", path);
}

// The file with the list among the files of a node, by its name and by the names beside it: a list
// is never the only file, and the names of outputs begin with the package's. nullptr: none.
// INVALID_ARGUMENT: either of two files may be the list.
absl::StatusOr<const tree::TreeFile*> FindList(const std::vector<tree::TreeFile>& files) {
  const auto named = [&](std::string_view name) -> const tree::TreeFile* {
    const auto at = std::ranges::find(files, name, &tree::TreeFile::path);
    return at == files.end() ? nullptr : &*at;
  };
  // Whether the list of a package with this file is kOtherListName.
  const auto has_name_of_lists = [](const tree::TreeFile& file) {
    return GeneratedListName(file.path) == kOtherListName;
  };
  const tree::TreeFile* const plain = named(kListName);
  const tree::TreeFile* const other = named(kOtherListName);
  if (plain != nullptr && other != nullptr)
    return absl::InvalidArgumentError("a node in which two files may be the list");
  if (plain != nullptr) return std::ranges::all_of(files, has_name_of_lists) ? nullptr : plain;
  if (other == nullptr || files.size() < 2) return nullptr;
  const bool is_list = std::ranges::all_of(files, [&](const tree::TreeFile& file) {
    return &file == other || file.path == kEmptyFile || has_name_of_lists(file);
  });
  return is_list ? other : nullptr;
}

}  // namespace

const tree::TreeFile* DeviceNode::Find(std::string_view path_in_node) const {
  const auto at =
      std::ranges::lower_bound(files, path_in_node, std::less<>(), &tree::TreeFile::path);
  return at == files.end() || at->path != path_in_node ? nullptr : &*at;
}

bool DeviceNode::Generates(std::string_view stage_path) const {
  return std::ranges::binary_search(generated, stage_path, std::less<>());
}

absl::StatusOr<DeviceNode> MakeNode(const CookedPackage& cooked, const FoldPath& fold,
                                    std::vector<NamedBlob>& blobs) {
  DeviceNode node{.key = NodeKeyOf(cooked.package)};
  const std::string last_name(LastName(cooked.package));
  for (const record::Output& output : cooked.outputs) {
    node.files.push_back({last_name + output.suffix, output.digest, output.is_executable});
    RETURN_IF_ERROR(CheckPlain(node.files.back().path));
  }
  for (const std::string& name : cooked.generated) {
    RETURN_IF_ERROR(CheckPlain(cooked.stage_path + "/" + name));
  }
  std::ranges::sort(node.files, {}, &tree::TreeFile::path);
  std::vector<tree::TreeFile> all = node.files;
  if (all.empty())
    all.push_back({.path = std::string(kEmptyFile), .digest = AppendBlob("", blobs)});
  if (!cooked.generated.empty()) all.push_back(ListFile(cooked, node.generated, blobs));
  tree::BuiltTree built = tree::BuildTree(all, fold);
  if (!built.conflicts.empty()) {
    return InvalidArgumentError("outputs of {} cannot be in one tree: {}, {}", cooked.package,
                                built.conflicts[0].path, built.conflicts[0].reason);
  }
  for (const Digest& folder : tree::ChildrenFirst(built))
    blobs.push_back({folder, std::move(built.directories.at(folder))});
  node.root = built.root;
  return node;
}

absl::StatusOr<DeviceNode> ReadNode(const NodeKey& key, const Digest& root,
                                    const tree::ReadBlob& read) {
  DeviceNode node{.key = key, .root = root};
  ASSIGN_OR_RETURN(node.files, tree::ListTree(root, read));
  std::ranges::sort(node.files, {}, &tree::TreeFile::path);
  ASSIGN_OR_RETURN(const tree::TreeFile* const list, FindList(node.files));
  if (list != nullptr) {
    ASSIGN_OR_RETURN(const Blob bytes, read(list->digest));
    ASSIGN_OR_RETURN(const std::vector<GeneratedPackage> packages, DecodeGeneratedList(*bytes));
    for (const GeneratedPackage& package : packages) node.generated.push_back(package.stage_path);
    node.files.erase(node.files.begin() + (list - node.files.data()));
  }
  if (node.files.size() == 1 && node.files[0].path == kEmptyFile &&
      node.files[0].digest == Digest()) {
    node.files.clear();
  }
  return node;
}

}  // namespace galley::devices
