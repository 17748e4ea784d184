// LocalStore::FindLost: what the index says is there and the disk has not.

#include <cerrno>
#include <map>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/local_store.h"
#include "common/store/local/quarantine.h"

namespace galley::store {
namespace {

// Threads: one. Each segment is looked at once.
class Disk {
 public:
  explicit Disk(const std::string& directory) : directory_(directory) {}

  absl::StatusOr<bool> Has(const Digest& digest, const BlobLocation& location) {
    if (digest == Digest()) return true;
    if (location.segment == 0) {
      ASSIGN_OR_RETURN(const auto size, SizeOf(BlobFilePath(directory_, digest)));
      return size == digest.size_bytes();
    }
    auto at = segments_.find(location.segment);
    if (at == segments_.end()) {
      ASSIGN_OR_RETURN(const auto size, SizeOf(SegmentPath(directory_, location.segment)));
      at = segments_.emplace(location.segment, size.value_or(0)).first;
    }
    return location.offset + kRecordHeaderBytes + digest.size_bytes() <= at->second;
  }

 private:
  static absl::StatusOr<std::optional<uint64_t>> SizeOf(const std::string& path) {
    const absl::StatusOr<FileStat> stat = StatFile(path);
    if (stat.ok()) return stat->size_bytes;
    if (absl::IsNotFound(stat.status())) return std::optional<uint64_t>();
    return stat.status();
  }

  const std::string& directory_;
  std::map<uint64_t, uint64_t> segments_;  // their sizes; 0: gone
};

}  // namespace

absl::StatusOr<std::vector<Digest>> LocalStore::FindLost(std::span<const Digest> digests) {
  ASSIGN_OR_RETURN(const auto found, Locate(digests));
  Disk disk(directory_);
  bool is_any_lost = false;
  for (size_t i = 0; i < digests.size() && !is_any_lost; ++i) {
    if (!found[i].has_value()) continue;
    ASSIGN_OR_RETURN(const bool is_there, disk.Has(digests[i], *found[i]));
    is_any_lost = !is_there;
  }
  if (is_any_lost) RETURN_IF_ERROR(DropLost(digests));
  return FindMissing(digests);
}

// Under the lock, so that nothing of what is looked at is moved or made again meanwhile.
absl::Status LocalStore::DropLost(std::span<const Digest> digests) {
  const base::MutexLock lock(commit_mutex_);
  RETURN_IF_ERROR(broken_);
  ASSIGN_OR_RETURN(const auto found, Locate(digests));
  Disk disk(directory_);
  std::set<Digest> lost;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (!found[i].has_value()) continue;
    ASSIGN_OR_RETURN(const bool is_there, disk.Has(digests[i], *found[i]));
    if (is_there || !lost.insert(digests[i]).second) continue;
    // One of another size is kept for a look.
    if (found[i]->segment == 0 && FileExists(BlobFilePath(directory_, digests[i])))
      RETURN_IF_ERROR(MoveToQuarantine(directory_, digests[i], *found[i]));
  }
  if (lost.empty()) return absl::OkStatus();
  LogWarning("store={} blobs={} are gone from the disk, one of them {}", directory_, lost.size(),
             lost.begin()->ToString());
  LeaveUnlinkedSegment();
  return Lose(std::vector<Digest>(lost.begin(), lost.end()));
}

// Nobody ever reads what is appended to a file without a name.
void LocalStore::LeaveUnlinkedSegment() {
  const base::MutexLock lock(mutex_);
  if (own_ == nullptr || own_->is_linked()) return;
  LogWarning("store={} segment {:016x}, which was being filled, was deleted", directory_,
             own_->number());
  const uint64_t number = own_->number();
  own_ = nullptr;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const bool is_gone = at->second.segment == number;
    if (is_gone) pending_bytes_ -= at->first.size_bytes();
    at = is_gone ? pending_.erase(at) : std::next(at);
  }
}

}  // namespace galley::store
