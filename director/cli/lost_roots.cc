#include "director/cli/lost_roots.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/interface/kept_roots.h"
#include "common/store/interface/pins.h"
#include "common/tree/tree.h"

namespace galley::cli {
namespace {

// Lack: what is lost of a folder and of everything below it.
struct Lack {
  uint64_t lost = 0;
  bool folder = false;
  std::string example;
};

class Finder {
 public:
  explicit Finder(store::Store& store) : store_(store) {}

  absl::StatusOr<Lack> Of(const Digest& folder, size_t depth) {
    if (const auto known = known_.find(folder); known != known_.end()) return known->second;
    ASSIGN_OR_RETURN(Lack lack, Find(folder, depth));
    known_[folder] = lack;
    return lack;
  }

 private:
  absl::StatusOr<Lack> Find(const Digest& folder, size_t depth) {
    const absl::StatusOr<Blob> bytes = store_.Get(folder);
    if (absl::IsNotFound(bytes.status()) || absl::IsDataLoss(bytes.status()))
      return Lack{.lost = 1, .folder = true, .example = {}};
    RETURN_IF_ERROR(bytes.status());
    const absl::StatusOr<tree::Directory> directory = tree::DecodeDirectory(**bytes);
    if (!directory.ok() || depth > tree::kTreeDepthMax)
      return Lack{.lost = 1, .folder = true, .example = {}};
    Lack lack;
    const auto add = [&](const Lack& more, const std::string& name) {
      if (lack.lost == 0 && more.lost != 0)
        lack.example = more.example.empty() ? name : JoinPath(name, more.example);
      lack.lost += more.lost;
      lack.folder |= more.folder;
    };
    std::vector<Digest> files;
    for (const tree::FileNode& file : directory->files) files.push_back(file.digest);
    ASSIGN_OR_RETURN(std::vector<Digest> missing, store_.FindMissing(files));
    std::ranges::sort(missing);
    for (const tree::FileNode& file : directory->files) {
      if (std::binary_search(missing.begin(), missing.end(), file.digest))
        add({.lost = 1, .folder = false, .example = {}}, file.name);
    }
    for (const tree::DirectoryNode& inner : directory->directories) {
      ASSIGN_OR_RETURN(const Lack of_inner, Of(inner.digest, depth + 1));
      add(of_inner, inner.name);
    }
    return lack;
  }

  store::Store& store_;
  std::map<Digest, Lack> known_;
};

}  // namespace

absl::StatusOr<std::vector<LostRoot>> FindLostRoots(store::Store& store,
                                                    const std::string& project_id) {
  ASSIGN_OR_RETURN(std::vector<store::PublishedRoot> roots, store.Roots(project_id));
  if (!project_id.empty()) {
    ASSIGN_OR_RETURN(const auto pins, store.Roots(store::kPinProject));
    roots.insert(roots.end(), pins.begin(), pins.end());
  }
  Finder finder(store);
  std::vector<LostRoot> lost;
  for (const store::PublishedRoot& root : store::KeptRoots(roots)) {
    ASSIGN_OR_RETURN(Lack lack, finder.Of(root.root, 0));
    if (lack.lost != 0)
      lost.push_back({.root = root,
                      .lost = lack.lost,
                      .lacks_folder = lack.folder,
                      .example = std::move(lack.example)});
  }
  return lost;
}

}  // namespace galley::cli
