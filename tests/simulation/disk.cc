#include "tests/simulation/disk.h"

#include <algorithm>

namespace galley::simulation {

absl::StatusOr<std::string_view> Disk::Read(const std::string& path) const {
  const auto found = names_.find(path);
  if (found == names_.end()) return absl::NotFoundError(path + ": no such file");
  return std::string_view(found->second->bytes);
}

uint64_t Disk::SizeOf(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? 0 : found->second->bytes.size();
}

std::vector<std::string> Disk::List(std::string_view folder) const {
  std::vector<std::string> paths;
  const std::string prefix = std::string(folder) + "/";
  for (auto at = names_.lower_bound(prefix); at != names_.end() && at->first.starts_with(prefix);
       ++at)
    paths.push_back(at->first);
  return paths;
}

bool Disk::CountWrite() {
  if (!is_director_) return false;
  ++writes_;
  return crash_in_ > 0 && --crash_in_ == 0;
}

uint64_t Disk::Append(const std::string& path, std::string_view bytes) {
  FilePtr& file = names_[path];
  if (file == nullptr) file = std::make_shared<File>();
  const uint64_t begin = file->bytes.size();
  const bool is_last = CountWrite();
  file->bytes += is_last ? bytes.substr(0, random_.Below(bytes.size() + 1)) : bytes;
  if (is_last) throw Crash();
  return begin;
}

void Disk::Truncate(const std::string& path, uint64_t size) {
  const auto found = names_.find(path);
  if (found == names_.end() || found->second->bytes.size() <= size) return;
  File& file = *found->second;
  file.bytes.resize(size);
  file.synced = std::min(file.synced, size);
  // Bytes that are appended later are written like any new bytes.
  std::erase_if(file.holes, [&](const auto& hole) { return hole.first >= size; });
  for (auto& [begin, end] : file.holes) end = std::min(end, size);
}

void Disk::Rename(const std::string& from, const std::string& to) {
  if (CountWrite()) throw Crash();
  const auto found = names_.find(from);
  if (found == names_.end()) return;
  names_[to] = found->second;
  names_.erase(from);
}

void Disk::Remove(const std::string& path) {
  if (CountWrite()) throw Crash();
  names_.erase(path);
}

absl::Status Disk::Sync(const std::string& path) {
  const bool is_last = CountWrite();
  if (is_last && random_.Percent(50)) throw Crash();
  const auto found = names_.find(path);
  if (found == names_.end()) return absl::NotFoundError(path + ": no such file");
  File& file = *found->second;
  const bool fails = sync_fails && sync_fails(is_last);
  if (fails && file.synced < file.bytes.size())
    file.holes.emplace_back(file.synced, file.bytes.size());
  file.synced = file.bytes.size();
  if (is_last) throw Crash();
  return fails ? absl::DataLossError("sync " + path + ": input/output error") : absl::OkStatus();
}

absl::Status Disk::SyncFolder(const std::string& folder) {
  if (CountWrite()) throw Crash();
  const auto is_in = [&](const std::string& path) { return FolderOf(path) == folder; };
  std::erase_if(safe_names_, [&](const auto& name) { return is_in(name.first); });
  for (const auto& [path, file] : names_) {
    if (is_in(path)) safe_names_[path] = file;
  }
  return absl::OkStatus();
}

void Disk::Rot(const std::string& path, uint64_t offset) {
  const auto found = names_.find(path);
  if (found == names_.end() || offset >= found->second->bytes.size()) return;
  char& byte = found->second->bytes[offset];
  byte = static_cast<char>(byte ^ (1 << random_.Below(8)));
}

void Disk::Destroy(const std::string& path, uint64_t size) {
  is_destroyed_ = true;
  if (size != 0) return Truncate(path, size);
  names_.erase(path);
  safe_names_.erase(path);
}

bool Disk::IsSafe(const std::string& path, uint64_t begin, uint64_t end) const {
  const auto found = safe_names_.find(path);
  if (found == safe_names_.end()) return false;
  const File& file = *found->second;
  const bool has_hole = std::ranges::any_of(
      file.holes, [&](const auto& hole) { return hole.first < end && begin < hole.second; });
  return end <= file.synced && !has_hole;
}

void Disk::PowerCut() {
  // Every unsynced name is as it was at its folder's last sync, or as it is now.
  std::map<std::string, FilePtr> names = safe_names_;
  for (const auto& [path, file] : names_) {
    const auto safe = safe_names_.find(path);
    const bool is_safe = safe != safe_names_.end() && safe->second == file;
    if (!is_safe && random_.Percent(50)) names[path] = file;
  }
  for (const auto& [path, file] : safe_names_) {
    if (!names_.contains(path) && random_.Percent(50)) names.erase(path);
  }
  names_ = safe_names_ = std::move(names);
  for (const auto& [path, file] : names_) {
    const uint64_t unsynced = file->bytes.size() - file->synced;
    if (unsynced > 0) file->bytes.resize(file->synced + random_.Below(unsynced + 1));
    for (const auto& [begin, end] : file->holes) {
      const uint64_t stop = std::min<uint64_t>(end, file->bytes.size());
      for (uint64_t i = begin; i < stop; ++i) file->bytes[i] = 0;
    }
    file->holes.clear();
    file->synced = file->bytes.size();
  }
}

}  // namespace galley::simulation
