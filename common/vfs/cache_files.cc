#include "common/vfs/cache_files.h"

#include <algorithm>
#include <utility>

namespace galley::vfs {
namespace {

void AddFiles(const std::string& folder, const std::vector<FileFacts>& found, bool are_parts,
              std::vector<CacheFile>& files) {
  for (const FileFacts& facts : found) {
    if (!IsFile(facts)) continue;
    files.push_back({.path = folder + "/" + facts.name,
                     .size = facts.size,
                     .used_s = facts.used_s,
                     .is_part = are_parts});
  }
}

}  // namespace

Result<std::vector<CacheFile>> ListCacheFiles(Disk& disk, const std::string& folder) {
  std::vector<CacheFile> files;
  const std::string blobs = folder + "/blobs", part = folder + "/part";
  const Result<std::vector<FileFacts>> folders = disk.List(blobs);
  if (!folders.ok()) return folders.fault();
  for (const FileFacts& one : *folders) {
    if (!one.is_folder) continue;
    const std::string path = blobs + "/" + one.name;
    const Result<std::vector<FileFacts>> found = disk.List(path);
    // Another process may remove it, or somebody forbid it: then nothing can be evicted there.
    if (found.ok()) AddFiles(path, *found, false, files);
  }
  const Result<std::vector<FileFacts>> parts = disk.List(part);
  if (!parts.ok()) return parts.fault();
  AddFiles(part, *parts, true, files);
  std::ranges::sort(files, {},
                    [](const CacheFile& one) { return std::pair(one.used_s, one.path); });
  return files;
}

}  // namespace galley::vfs
