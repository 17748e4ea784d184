// LocalStore::FindLost: what the index says is there and the disk has not.

#include <set>

#include "common/base/healed.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/disk.h"
#include "common/store/local/local_store.h"
#include "common/store/local/quarantine.h"
#include "common/store/local/write_anew.h"
#include "fmt/format.h"

namespace galley::store {

absl::StatusOr<std::vector<Digest>> LocalStore::FindLost(std::span<const Digest> digests) {
  ASSIGN_OR_RETURN(const auto found, Locate(digests));
  Disk disk(directory_);
  std::vector<Digest> gone;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (!found[i].has_value()) continue;
    ASSIGN_OR_RETURN(const bool is_there, disk.Has(digests[i], *found[i]));
    if (!is_there) gone.push_back(digests[i]);
  }
  if (!gone.empty()) RETURN_IF_ERROR(DropLost(gone));
  return FindMissing(digests);
}

// Looked at once more under the lock, so that nothing of it is moved or made again meanwhile.
absl::Status LocalStore::DropLost(std::span<const Digest> digests) {
  const base::MutexLock lock(commit_mutex_);
  RETURN_IF_ERROR(broken_);
  RETURN_IF_ERROR(RestoreOwnSegments());
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
  RETURN_IF_ERROR(Lose(std::vector<Digest>(lost.begin(), lost.end())));
  return NoteGoneSegments();
}

// So that the next opening does not find them gone, and tell of it, once more.
absl::Status LocalStore::NoteGoneSegments() {
  ASSIGN_OR_RETURN(const auto states, index_->Segments());
  auto batch = index_->NewBatch();
  for (const auto& [number, known] : states) {
    if (known.is_dropped || known.is_cut || known.indexed_bytes == 0) continue;
    const absl::StatusOr<FileStat> stat = StatFile(SegmentPath(directory_, number));
    if (!stat.ok() && !absl::IsNotFound(stat.status())) return stat.status();
    if (stat.ok() && stat->size_bytes >= known.indexed_bytes) continue;
    SegmentState state = known;
    state.is_abandoned = state.is_cut = true;
    state.indexed_bytes = stat.ok() ? stat->size_bytes : 0;
    RETURN_IF_ERROR(batch->SetSegment(number, state));
  }
  return batch->size() == 0 ? absl::OkStatus() : WriteIndex(std::move(batch));
}

// Nobody ever reads what is appended to a file without a name. This process has the bytes still:
// they get their name again, and nothing is lost.
absl::Status LocalStore::RestoreOwnSegments() {
  const base::MutexLock lock(mutex_);
  const auto restore = [&](std::shared_ptr<SegmentFile>& file) -> absl::Status {
    if (file == nullptr || file->is_linked()) return absl::OkStatus();
    const std::string held = fmt::format("/proc/self/fd/{}", file->descriptor());
    RETURN_IF_ERROR(
        WriteAnewFrom(directory_, held, file->path(), options_.sync, options_.free_bytes_margin));
    ASSIGN_OR_RETURN(std::unique_ptr<SegmentFile> again,
                     SegmentFile::Open(directory_, file->number()));
    if (again->size_bytes() != file->size_bytes())
      return absl::DataLossError(fmt::format("{}: its end is wrong", file->path()));
    again->set_synced_bytes(file->synced_bytes());
    file = std::move(again);
    segments_folder_changed_ = true;
    NoteHealed(
        fmt::format("{} was deleted while it was written to; it is there again, and nothing "
                    "is lost",
                    file->path()));
    return absl::OkStatus();
  };
  absl::Status status = restore(own_);
  for (std::shared_ptr<SegmentFile>& file : full_) status.Update(restore(file));
  return Annotate(status, "a segment was deleted while it was written to");
}

}  // namespace galley::store
