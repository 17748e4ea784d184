// MemoryDisk: a Disk in memory, with faults: reads that fail, a disk that is full, folders and
// links in place of files.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/vfs/disk.h"

namespace galley::vfs {

class MemoryDisk final : public Disk {
 public:
  // The files may have so many bytes together.
  void SetSpace(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    space_ = bytes;
  }
  // Calls that write fail as on a full disk, but for the next `calls`.
  void SetWritesLeft(uint64_t calls) {
    const std::lock_guard lock(mutex_);
    writes_left_ = calls;
  }
  uint64_t writes() const {
    const std::lock_guard lock(mutex_);
    return writes_;
  }
  // Files whose path holds this text cannot be read; they can be opened unless `not_even_opened`.
  void SetUnreadable(const std::string& text, bool not_even_opened = false) {
    const std::lock_guard lock(mutex_);
    unreadable_ = text;
    not_even_opened_ = not_even_opened;
  }
  void SetUnremovable(const std::string& text) {
    const std::lock_guard lock(mutex_);
    unremovable_ = text;
  }
  void SetFile(const std::string& path, std::string bytes, int64_t used_s = 0) {
    const std::lock_guard lock(mutex_);
    MakeAbove(path);
    nodes_[path] = {.kind = Kind::kFile, .file = NewFile(std::move(bytes), used_s)};
  }
  void SetFolder(const std::string& path) {
    const std::lock_guard lock(mutex_);
    MakeAbove(path);
    nodes_[path] = {.kind = Kind::kFolder, .file = NewFile("", 0)};
  }
  // Neither a file nor a folder.
  void SetOther(const std::string& path) {
    const std::lock_guard lock(mutex_);
    MakeAbove(path);
    nodes_[path] = {.kind = Kind::kOther, .file = NewFile("", 0)};
  }
  // Path and bytes of all files.
  std::map<std::string, std::string> Files() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::string> files;
    for (const auto& [path, node] : nodes_) {
      if (node.kind == Kind::kFile) files[path] = node.file->bytes;
    }
    return files;
  }
  // The bytes of the files below a folder.
  uint64_t BytesIn(const std::string& folder) const {
    uint64_t bytes = 0;
    for (const auto& [path, content] : Files())
      bytes += path.starts_with(folder + "/") ? content.size() : 0;
    return bytes;
  }

  Result<std::unique_ptr<OpenFile>> OpenToRead(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(path);
    if (found == nodes_.end()) return Absent(path);
    if (found->second.kind != Kind::kFile) return Fault{kNotAFile, path + ": no file"};
    if (not_even_opened_ && IsUnreadable(path)) return Fault{GALLEY_VFS_IO, path + ": denied"};
    return std::unique_ptr<OpenFile>(std::make_unique<File>(*this, path, found->second.file));
  }
  Result<std::unique_ptr<OpenFile>> OpenToAppend(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    auto found = nodes_.find(path);
    if (found != nodes_.end() && found->second.kind != Kind::kFile)
      return Fault{kNotAFile, path + ": no file"};
    if (found == nodes_.end()) {
      if (!IsFolder(FolderOf(path))) return Absent(path);
      if (!TakeWrite()) return Full(path);
      found = nodes_.emplace(path, Node{.kind = Kind::kFile, .file = NewFile("", 0)}).first;
    }
    return std::unique_ptr<OpenFile>(std::make_unique<File>(*this, path, found->second.file));
  }
  Outcome Rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(from);
    if (found == nodes_.end() || !IsFolder(FolderOf(to))) return Absent(to);
    if (IsFolder(to)) return Fault{GALLEY_VFS_IO, to + ": it is a folder"};
    if (!TakeWrite()) return Full(to);
    const Node node = found->second;
    nodes_.erase(found);
    nodes_[to] = node;
    return std::nullopt;
  }
  Outcome Remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const auto above = nodes_.lower_bound(path + "/");
    const bool has_entries = above != nodes_.end() && above->first.starts_with(path + "/");
    const bool is_kept = !unremovable_.empty() && path.find(unremovable_) != std::string::npos;
    if (has_entries || is_kept) return Fault{GALLEY_VFS_IO, path + ": it cannot be removed"};
    nodes_.erase(path);
    return std::nullopt;
  }
  Outcome MakeFolder(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      const std::string part = path.substr(0, end);
      const auto found = nodes_.find(part);
      if (found == nodes_.end()) {
        if (!TakeWrite()) return Full(part);
        nodes_[part] = {.kind = Kind::kFolder, .file = NewFile("", 0)};
      } else if (found->second.kind != Kind::kFolder) {
        return Fault{GALLEY_VFS_IO, part + ": it is no folder"};
      }
      if (end == std::string::npos) return std::nullopt;
    }
  }
  Result<std::vector<FileFacts>> List(const std::string& folder) override {
    const std::lock_guard lock(mutex_);
    std::vector<FileFacts> files;
    const std::string begin = folder + "/";
    for (auto at = nodes_.lower_bound(begin); at != nodes_.end() && at->first.starts_with(begin);
         ++at) {
      if (at->first.find('/', begin.size()) == std::string::npos)
        files.push_back(FactsOf(at->first, at->second));
    }
    return files;
  }
  Result<FileFacts> Look(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(path);
    if (found == nodes_.end()) return Absent(path);
    return FactsOf(path, found->second);
  }
  void Touch(const std::string& path, int64_t used_s) override {
    const std::lock_guard lock(mutex_);
    if (const auto found = nodes_.find(path); found != nodes_.end())
      found->second.file->used_s = used_s;
  }

 private:
  enum class Kind { kFile, kFolder, kOther };
  struct Content {
    std::string bytes;
    uint64_t id = 0;
    int64_t used_s = 0;
    bool is_locked = false;
  };
  struct Node {
    Kind kind = Kind::kFile;
    std::shared_ptr<Content> file;
  };
  class File final : public OpenFile {
   public:
    File(MemoryDisk& disk, std::string path, std::shared_ptr<Content> content)
        : disk_(disk), path_(std::move(path)), content_(std::move(content)) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() override {
      const std::lock_guard lock(disk_.mutex_);
      if (has_lock_) content_->is_locked = false;
    }
    Result<size_t> ReadAt(uint64_t offset, void* buffer, size_t size) const override {
      const std::lock_guard lock(disk_.mutex_);
      if (disk_.IsUnreadable(path_)) return Fault{GALLEY_VFS_IO, path_ + ": bad sector"};
      if (offset >= content_->bytes.size()) return size_t{0};
      const size_t count =
          std::min<size_t>(size, content_->bytes.size() - static_cast<size_t>(offset));
      std::memcpy(buffer, content_->bytes.data() + offset, count);
      return count;
    }
    Outcome Append(std::string_view bytes) override {
      const std::lock_guard lock(disk_.mutex_);
      if (!disk_.TakeWrite()) return Full(path_);
      const uint64_t used = disk_.Used();
      const uint64_t free = disk_.space_ - std::min(disk_.space_, used);
      content_->bytes += bytes.substr(0, static_cast<size_t>(std::min<uint64_t>(free, SIZE_MAX)));
      if (free < bytes.size()) return Full(path_);
      return std::nullopt;
    }
    Result<uint64_t> Size() const override {
      const std::lock_guard lock(disk_.mutex_);
      return uint64_t{content_->bytes.size()};
    }
    Result<uint64_t> Id() const override { return content_->id; }
    bool Lock() override {
      const std::lock_guard lock(disk_.mutex_);
      if (content_->is_locked && !has_lock_) return false;
      return has_lock_ = content_->is_locked = true;
    }

   private:
    MemoryDisk& disk_;
    const std::string path_;
    const std::shared_ptr<Content> content_;
    bool has_lock_ = false;
  };

  static Fault Absent(const std::string& path) { return {GALLEY_VFS_ABSENT, path + ": absent"}; }
  static Fault Full(const std::string& path) { return {GALLEY_VFS_NO_SPACE, path + ": full"}; }
  static std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }
  static FileFacts FactsOf(const std::string& path, const Node& node) {
    return {.name = path.substr(path.rfind('/') + 1),
            .id = node.file->id,
            .size = node.file->bytes.size(),
            .used_s = node.file->used_s,
            .is_folder = node.kind == Kind::kFolder,
            .is_other = node.kind == Kind::kOther};
  }
  bool IsFolder(const std::string& path) const {
    const auto found = nodes_.find(path);
    return found != nodes_.end() && found->second.kind == Kind::kFolder;
  }
  bool IsUnreadable(const std::string& path) const {
    return !unreadable_.empty() && path.find(unreadable_) != std::string::npos;
  }
  void MakeAbove(const std::string& path) {
    for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
      Node& node = nodes_[path.substr(0, end)];
      if (node.file == nullptr) node = {.kind = Kind::kFolder, .file = NewFile("", 0)};
    }
  }
  bool TakeWrite() {
    ++writes_;
    if (writes_left_ == 0) return false;
    if (writes_left_ != UINT64_MAX) --writes_left_;
    return true;
  }
  uint64_t Used() const {
    uint64_t used = 0;
    for (const auto& [path, node] : nodes_) used += node.file->bytes.size();
    return used;
  }
  std::shared_ptr<Content> NewFile(std::string bytes, int64_t used_s) {
    auto file = std::make_shared<Content>();
    file->bytes = std::move(bytes);
    file->id = ++last_id_;
    file->used_s = used_s;
    return file;
  }

  mutable std::mutex mutex_;
  std::map<std::string, Node> nodes_;
  uint64_t last_id_ = 0;
  uint64_t space_ = UINT64_MAX, writes_left_ = UINT64_MAX, writes_ = 0;
  std::string unreadable_, unremovable_;
  bool not_even_opened_ = false;
};

}  // namespace galley::vfs
