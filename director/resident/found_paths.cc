#include "director/resident/found_paths.h"

#include <utility>

namespace galley::director {
namespace {

// No platform has a slash in its name, and all hashes are equally long.
std::string KeyOfPath(const Digest& view_root, std::string_view platform, std::string_view path) {
  const std::string_view hash = view_root.hash();
  std::string key;
  key.reserve(hash.size() + platform.size() + path.size() + 1);
  return key.append(hash).append(platform).append("/").append(path);
}

}  // namespace

FoundPathPtr FoundPaths::Find(const Ground& ground, std::string_view platform,
                              std::string_view path) const {
  const std::string key = KeyOfPath(ground.view_root, platform, path);
  const base::MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  const Entry& entry = found->second;
  const bool stands =
      entry.table_version == ground.table_version && entry.shown.lock() == ground.shown;
  return stands ? entry.found : nullptr;
}

void FoundPaths::Note(const Ground& ground, std::string_view platform, std::string_view path,
                      FoundPath found) {
  std::string key = KeyOfPath(ground.view_root, platform, path);
  Entry entry{.shown = ground.shown,
              .table_version = ground.table_version,
              .found = std::make_shared<const FoundPath>(std::move(found))};
  absl::flat_hash_map<std::string, Entry> dropped;  // destroyed without the lock
  const base::MutexLock lock(mutex_);
  if (entries_.size() >= kPathsMax) dropped.swap(entries_);
  entries_.insert_or_assign(std::move(key), std::move(entry));
}

}  // namespace galley::director
