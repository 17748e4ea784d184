#include "common/vfs/tree_path.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "common/vfs/folder.h"

namespace galley::vfs {
namespace {

constexpr int kLinksMax = 40;
constexpr size_t kDepthMax = 512;
constexpr size_t kNodeDepth = 5;  // the root, resource, <2 hex>, <2 hex>, <64 hex>

void PrependSegments(std::string_view path, std::deque<std::string>& segments) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= path.size() && !path.empty();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    parts.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  segments.insert(segments.begin(), parts.begin(), parts.end());
}

// TreeWalk: a search, one segment after the other.
class TreeWalk {
 public:
  TreeWalk(const BlobId& root, std::string_view path, const ReadFolder& read) : read_(read) {
    folders_.push_back(root);
    PrependSegments(path, ahead_);
  }

  Result<PathEntry> Run() {
    while (!ahead_.empty()) {
      const std::string segment = std::move(ahead_.front());
      ahead_.pop_front();
      if (segment == "..") {
        if (folders_.size() == 1) return Damaged("a link leads out of the tree");
        folders_.pop_back();
        continue;
      }
      Result<std::optional<PathEntry>> entry = Enter(segment);
      if (!entry.ok()) return entry.fault();
      if (*entry) return **entry;
    }
    return PathEntry(FolderAt{folders_.back()});
  }

 private:
  static Fault Damaged(std::string text) { return {GALLEY_VFS_DAMAGED, std::move(text)}; }

  // nullopt: the walk goes on.
  Result<std::optional<PathEntry>> Enter(const std::string& segment) {
    using Step = std::optional<PathEntry>;
    const Result<FolderBytes> bytes = read_(folders_.back());
    if (!bytes.ok()) return bytes.fault();
    const Found found = FindEntry(*bytes, segment);
    if (!found.is_folder) return Damaged("a folder of the tree cannot be read");
    if (!found.entry) return Step(IsCooked() ? PathEntry(NothingAt{}) : PathEntry(NotCooked{}));
    const FolderEntry& entry = *found.entry;
    if (entry.kind == FolderEntry::Kind::kFile) {
      if (!ahead_.empty()) return Step(NothingAt{});  // below a file
      return Step(FileAt{entry.blob, entry.is_executable});
    }
    if (entry.kind == FolderEntry::Kind::kFolder) {
      if (folders_.size() == kDepthMax) return Damaged("the tree is too deep");
      folders_.push_back(entry.blob);
      return Step();
    }
    if (++links_ > kLinksMax) return Damaged("there are too many links");
    behind_link_ = ahead_.size();
    PrependSegments(entry.target, ahead_);
    return Step();
  }

  // False: a segment that is missing here is one of a link's target, and the node to which the link
  // leads is not there. A node is written once and whole.
  bool IsCooked() const {
    const bool is_in_target = links_ > 0 && ahead_.size() >= behind_link_;
    return !is_in_target || folders_.size() >= kNodeDepth;
  }

  const ReadFolder& read_;
  std::vector<BlobId> folders_;  // from the root to where the search is
  std::deque<std::string> ahead_;
  int links_ = 0;
  size_t behind_link_ = 0;  // segments of the path behind the last link
};

}  // namespace

Result<PathEntry> FollowPath(const BlobId& root, std::string_view path, const ReadFolder& read) {
  return TreeWalk(root, path, read).Run();
}

}  // namespace galley::vfs
