#include "director/core/packages/pending_changes.h"

#include <iterator>

namespace galley::director {

absl::btree_set<PackageId> PendingChanges::NoteScanned(const std::string& path, CookMask seeing,
                                                       uint32_t epoch) {
  if (seeing != 0) {
    StaleFile& file = stale_files_[path];
    if (file.changes++ == 0) file.cooks = seeing;
    file.epoch = epoch;
  }
  const auto waiters = stale_waiters_.extract(path);
  return waiters.empty() ? absl::btree_set<PackageId>() : waiters.mapped();
}

uint32_t PendingChanges::ChangesOf(const std::string& path) const {
  const auto file = stale_files_.find(path);
  return file == stale_files_.end() ? 0 : file->second.changes;
}

bool PendingChanges::IsKnown(const std::string& path, uint32_t epoch) const {
  const auto file = stale_files_.find(path);
  return file != stale_files_.end() && epoch < file->second.epoch;
}

bool PendingChanges::WaitForScan(PackageId package, const std::string& path) {
  absl::btree_set<PackageId>& waiters = stale_waiters_[path];
  const bool is_first = waiters.empty();
  waiters.insert(package);
  return is_first;
}

void PendingChanges::StopWaitingForScan(PackageId package, const std::string& path) {
  const auto waiters = stale_waiters_.find(path);
  if (waiters != stale_waiters_.end()) waiters->second.erase(package);
}

void PendingChanges::LetGo(CookMask cook) {
  for (auto at = stale_files_.begin(); at != stale_files_.end();) {
    at->second.cooks &= ~cook;
    at = at->second.cooks == 0 ? stale_files_.erase(at) : std::next(at);
  }
}

}  // namespace galley::director
