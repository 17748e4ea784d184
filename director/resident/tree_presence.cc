#include "director/resident/tree_presence.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/tree/linked_directory.h"

namespace galley::director {
namespace {

constexpr size_t kLookedForAtOnce = 10'000;

// Goes through the folders of a tree, each once, and looks for all blobs, folders too.
class PresenceWalk {
 public:
  PresenceWalk(store::Store& store, const Digest& root) : store_(store) { AddFolder(root); }

  absl::StatusOr<bool> Run(const Cancellation& stop) {
    while (!folders_.empty()) {
      if (stop.is_cancelled()) return absl::CancelledError("nobody waits for it");
      const Digest folder = folders_.back();
      folders_.pop_back();
      const absl::StatusOr<Blob> bytes = store_.Get(folder);
      if (absl::IsNotFound(bytes.status())) return false;
      RETURN_IF_ERROR(bytes.status());
      RETURN_IF_ERROR(AddChildren(**bytes));
      if (wanted_.size() < kLookedForAtOnce) continue;
      ASSIGN_OR_RETURN(const bool are_there, AreThere());
      if (!are_there) return false;
    }
    return AreThere();
  }

 private:
  void AddFolder(const Digest& folder) {
    if (!known_.insert(folder).second) return;
    folders_.push_back(folder);
    wanted_.push_back(folder);
  }
  absl::Status AddChildren(std::string_view bytes) {
    ASSIGN_OR_RETURN(const tree::LinkedDirectory children, tree::DecodeLinkedDirectory(bytes));
    for (const tree::DirectoryNode& child : children.directories) AddFolder(child.digest);
    for (const tree::FileNode& file : children.files) {
      if (known_.insert(file.digest).second) wanted_.push_back(file.digest);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<bool> AreThere() {
    const std::vector<Digest> wanted = std::exchange(wanted_, {});
    ASSIGN_OR_RETURN(const std::vector<Digest> missing, store_.FindMissing(wanted));
    return missing.empty();
  }

  store::Store& store_;
  std::vector<Digest> folders_;  // to be read
  std::vector<Digest> wanted_;   // to be looked for
  absl::flat_hash_set<Digest> known_;
};

}  // namespace

absl::StatusOr<bool> IsTreeWhole(store::Store& store, const Digest& root,
                                 const Cancellation& stop) {
  return PresenceWalk(store, root).Run(stop);
}

}  // namespace galley::director
