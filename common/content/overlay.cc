#include "common/content/overlay.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>

#include "common/base/fnv.h"
#include "common/content/name.h"

namespace galley::content {
namespace {

// The range of files that lie in `path` as a folder, in a list sorted by path.
std::pair<size_t, size_t> RangeIn(const std::vector<SeenFile>& files, const std::string& path) {
  const auto less = [](const SeenFile& file, const std::string& key) {
    return file.entry.path < key;
  };
  const auto begin = std::lower_bound(files.begin(), files.end(), path + "/", less);
  const auto end = std::lower_bound(begin, files.end(), path + "0", less);  // '0' follows '/'
  return {static_cast<size_t>(begin - files.begin()), static_cast<size_t>(end - files.begin())};
}

// The folders that hold a file, directly or not.
std::unordered_set<std::string_view> FoldersOf(const std::vector<SeenFile>& files) {
  std::unordered_set<std::string_view> folders;
  for (const SeenFile& file : files) {
    std::string_view folder = FolderOf(file.entry.path);
    while (folder.size() > 1 && folders.insert(folder).second) folder = FolderOf(folder);
  }
  return folders;
}

}  // namespace

std::pair<size_t, int> MountRank(const Mount& mount) { return {mount.path.size(), mount.priority}; }

Overlaid Overlay(const std::vector<Mount>& mounts, std::vector<SeenFile> seen) {
  const auto rank = [&](const SeenFile& file) { return MountRank(mounts[file.entry.mount]); };
  const auto before = [&](const SeenFile& a, const SeenFile& b) {
    if (const int order = a.entry.path.compare(b.entry.path); order != 0) return order < 0;
    return rank(a) > rank(b);
  };
  std::ranges::sort(seen, before);

  // Files of the lowest rank first, so that each hides what lies below it and is then judged itself
  // by those above.
  std::vector<bool> is_hidden(seen.size(), false);
  const std::unordered_set<std::string_view> folders = FoldersOf(seen);
  std::vector<size_t> also_folders;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (i > 0 && seen[i].entry.path == seen[i - 1].entry.path) is_hidden[i] = true;
    if (folders.contains(seen[i].entry.path)) also_folders.push_back(i);
  }
  std::ranges::stable_sort(also_folders,
                           [&](size_t a, size_t b) { return rank(seen[a]) < rank(seen[b]); });
  for (const size_t i : also_folders) {
    const auto [begin, end] = RangeIn(seen, seen[i].entry.path);
    for (size_t j = begin; j < end; ++j) {
      if (rank(seen[j]) < rank(seen[i])) is_hidden[j] = true;
    }
  }
  for (const size_t i : also_folders) {
    const auto [begin, end] = RangeIn(seen, seen[i].entry.path);
    for (size_t j = begin; j < end; ++j) {
      if (!is_hidden[j]) is_hidden[i] = true;
    }
  }

  Overlaid overlaid;
  for (size_t i = 0; i < seen.size(); ++i) {
    (is_hidden[i] ? overlaid.hidden : overlaid.shown).push_back(std::move(seen[i]));
  }
  return overlaid;
}

FoldIndex::FoldIndex(size_t count, const PathOf& path_of) {
  entries_.reserve(count);
  for (size_t i = 0; i < count; ++i)
    entries_.emplace_back(Fnv1a(FoldName(path_of(i))), static_cast<uint32_t>(i));
  std::ranges::sort(entries_);
}

std::vector<std::vector<uint32_t>> FoldIndex::Clashes(const PathOf& path_of) const {
  std::vector<std::vector<uint32_t>> clashes;
  for (size_t begin = 0; begin < entries_.size();) {
    size_t end = begin + 1;
    while (end < entries_.size() && entries_[end].first == entries_[begin].first) ++end;
    if (end - begin > 1) {
      std::map<std::string, std::vector<uint32_t>> groups;  // equal hashes need not be equal names
      for (size_t i = begin; i < end; ++i)
        groups[FoldName(path_of(entries_[i].second))].push_back(entries_[i].second);
      for (auto& [fold, group] : groups) {
        if (group.size() > 1) clashes.push_back(std::move(group));
      }
    }
    begin = end;
  }
  return clashes;
}

std::vector<size_t> FoldIndex::FindAll(const PathOf& path_of, std::string_view path) const {
  const std::string fold = FoldName(path);
  const std::pair<uint64_t, uint32_t> first{Fnv1a(fold), 0};
  std::vector<size_t> found;
  for (auto at = std::lower_bound(entries_.begin(), entries_.end(), first);
       at != entries_.end() && at->first == first.first; ++at) {
    if (FoldName(path_of(at->second)) == fold) found.push_back(at->second);
  }
  return found;
}

}  // namespace galley::content
