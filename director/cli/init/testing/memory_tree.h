// MemoryTree: a tree of a few files for tests; path -> bytes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "director/cli/init/tree.h"

namespace galley::init {

class MemoryTree : public Tree {
 public:
  explicit MemoryTree(std::map<std::string, std::string> files) : files_(std::move(files)) {}

  void AddTrouble(const std::string& path, const std::string& why) { trouble_[path] = why; }
  // A link to a file or a folder, whose files are not repeated below it.
  void AddLink(const std::string& path, const std::string& target) { links_[path] = target; }
  void Forbid(const std::string& path) { forbidden_.insert(path); }

  absl::StatusOr<std::vector<Entry>> List(const std::string& folder) const override {
    if (forbidden_.contains(folder)) return absl::PermissionDeniedError("no");
    std::map<std::string, Entry> entries;
    const std::string prefix = folder.empty() ? "" : folder + "/";
    for (const auto& [path, bytes] : files_) Note(path, prefix, bytes.size(), entries);
    for (const auto& [path, target] : links_) {
      Note(path, prefix, 0, entries);
      if (path.starts_with(prefix) && entries.contains(path.substr(prefix.size())))
        entries[path.substr(prefix.size())].link_target = target;
    }
    for (const auto& [path, why] : trouble_) {
      if (!path.starts_with(prefix) || path.find('/', prefix.size()) != std::string::npos) continue;
      const std::string name = path.substr(prefix.size());
      entries[name] = {.name = name, .kind = EntryKind::kTrouble, .trouble = why};
    }
    std::vector<Entry> list;
    for (auto& [name, entry] : entries) list.push_back(entry);
    return list;
  }

  absl::StatusOr<std::string> Read(const std::string& path, size_t bytes_max) const override {
    if (forbidden_.contains(path)) return absl::PermissionDeniedError("no");
    const auto link = links_.find(path);
    const auto found = files_.find(link == links_.end() ? path : link->second);
    if (found == files_.end()) return absl::NotFoundError(path);
    return found->second.substr(0, bytes_max);
  }

 private:
  static void Note(const std::string& path, const std::string& prefix, uint64_t size_bytes,
                   std::map<std::string, Entry>& entries) {
    if (!path.starts_with(prefix)) return;
    const std::string below = path.substr(prefix.size());
    const size_t slash = below.find('/');
    Entry entry{.name = below.substr(0, slash), .size_bytes = size_bytes};
    if (slash != std::string::npos) entry.kind = EntryKind::kFolder;
    entries.emplace(entry.name, entry);
  }

  std::map<std::string, std::string> files_;
  std::map<std::string, std::string> links_;
  std::map<std::string, std::string> trouble_;
  std::set<std::string> forbidden_;
};

}  // namespace galley::init
