#include "director/mount/mount_nodes.h"

#include <algorithm>

namespace galley::mount {
namespace {

// True: the node is still what the path shows.
bool Shows(const MountNode& node, bool is_folder, const std::optional<vfs::FileAt>& content) {
  if (node.is_folder != is_folder) return false;
  if (is_folder || !node.content) return true;
  return content && content->blob == node.content->blob &&
         content->is_executable == node.content->is_executable;
}

}  // namespace

MountNodes::MountNodes(int64_t now_s) {
  entries_[kTopNode] = {.node = {.id = kTopNode, .path = "", .is_folder = true, .made_s = now_s},
                        .learned = 1};
  newest_[""] = kTopNode;
}

MountNode MountNodes::Learn(const std::string& path, bool is_folder,
                            const std::optional<vfs::FileAt>& content, int64_t now_s) {
  const std::lock_guard lock(mutex_);
  const auto found = newest_.find(path);
  if (found != newest_.end()) {
    Entry& entry = entries_.at(found->second);
    if (Shows(entry.node, is_folder, content)) {
      if (!entry.node.content) entry.node.content = content;
      ++entry.learned;
      return entry.node;
    }
  }
  const uint64_t id = ++last_id_;
  newest_[path] = id;
  Entry& entry = entries_[id];
  entry = {
      .node = {.id = id, .path = path, .is_folder = is_folder, .content = content, .made_s = now_s},
      .learned = 1};
  return entry.node;
}

std::optional<MountNode> MountNodes::Find(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.node);
}

std::optional<uint64_t> MountNodes::IdOf(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = newest_.find(path);
  return found == newest_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<vfs::FileAt> MountNodes::Cooked(uint64_t id, const vfs::FileAt& content) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return std::nullopt;
  MountNode& node = found->second.node;
  if (!node.content) node.content = content;
  return node.content;
}

void MountNodes::Forget(uint64_t id, uint64_t count) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end() || id == kTopNode) return;
  found->second.learned -= std::min(found->second.learned, count);
  if (found->second.learned > 0) return;
  const auto newest = newest_.find(found->second.node.path);
  if (newest != newest_.end() && newest->second == id) newest_.erase(newest);
  entries_.erase(found);
}

bool MountNodes::KnowsFile(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = newest_.find(path);
  return found != newest_.end() && !entries_.at(found->second).node.is_folder;
}

std::vector<MountNode> MountNodes::Files() const {
  const std::lock_guard lock(mutex_);
  std::vector<MountNode> files;
  for (const auto& [path, id] : newest_) {
    const MountNode& node = entries_.at(id).node;
    if (!node.is_folder) files.push_back(node);
  }
  return files;
}

size_t MountNodes::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace galley::mount
