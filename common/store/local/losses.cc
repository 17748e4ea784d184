#include "common/store/local/losses.h"

#include <set>
#include <string>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/disk.h"
#include "common/store/local/quarantine.h"
#include "common/store/local/segment_writer.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

// Reads a blob, in pieces where it is large.
absl::Status CheckBlob(const std::string& directory, const Digest& digest,
                       const BlobLocation& location) {
  if (location.segment == 0 && digest != Digest()) return CheckBlobFile(directory, digest);
  return ReadBlobAt(directory, digest, location).status();
}

}  // namespace

absl::StatusOr<bool> Losses::QuarantineIfWrong(const Digest& digest) {
  const std::string& directory = state_.folder.directory;
  const base::MutexLock lock(writer_.mutex());
  RETURN_IF_ERROR(writer_.CheckWritable());
  RETURN_IF_ERROR(writer_.RestoreLog());
  ASSIGN_OR_RETURN(const auto found, reader_.Locate(std::span(&digest, 1)));
  if (!found[0].has_value()) return false;
  const absl::Status status = CheckBlob(directory, digest, *found[0]);
  if (status.ok()) return false;
  if (!absl::IsDataLoss(status)) return status;
  LogWarning("store={} digest={} quarantined: {}", directory, digest.ToString(), MessageOf(status));
  RETURN_IF_ERROR(MoveToQuarantine(directory, digest, *found[0]));
  RETURN_IF_ERROR(writer_.Lose({digest}));
  return true;
}

absl::Status Losses::GiveUp(const Digest& digest, const absl::Status& loss) {
  const absl::StatusOr<bool> was_wrong = QuarantineIfWrong(digest);
  RETURN_IF_ERROR(Annotate(was_wrong.status(), MessageOf(loss)));
  if (!*was_wrong) return absl::OkStatus();
  return absl::DataLossError(MessageOf(loss) + "; it is quarantined: cook again what needs it");
}

absl::StatusOr<std::vector<Digest>> Losses::FindLost(std::span<const Digest> digests) {
  ASSIGN_OR_RETURN(const auto found, reader_.Locate(digests));
  Disk disk(state_.folder.directory);
  std::vector<Digest> gone;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (!found[i].has_value()) continue;
    ASSIGN_OR_RETURN(const bool is_there, disk.Has(digests[i], *found[i]));
    if (!is_there) gone.push_back(digests[i]);
  }
  if (!gone.empty()) RETURN_IF_ERROR(DropLost(gone));
  return reader_.FindMissing(digests);
}

// Looked at once more under the lock, so that nothing of it is moved or made again meanwhile.
absl::Status Losses::DropLost(std::span<const Digest> digests) {
  const std::string& directory = state_.folder.directory;
  const base::MutexLock lock(writer_.mutex());
  RETURN_IF_ERROR(writer_.CheckWritable());
  RETURN_IF_ERROR(writer_.RestoreLog());
  ASSIGN_OR_RETURN(const auto found, reader_.Locate(digests));
  Disk disk(directory);
  std::set<Digest> lost;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (!found[i].has_value()) continue;
    ASSIGN_OR_RETURN(const bool is_there, disk.Has(digests[i], *found[i]));
    if (is_there || !lost.insert(digests[i]).second) continue;
    // A file of another size is kept for a look.
    if (found[i]->segment == 0 && FileExists(BlobFilePath(directory, digests[i])))
      RETURN_IF_ERROR(MoveToQuarantine(directory, digests[i], *found[i]));
  }
  if (lost.empty()) return absl::OkStatus();
  LogWarning("store={} blobs={} are gone from the disk, one of them {}", directory, lost.size(),
             lost.begin()->ToString());
  RETURN_IF_ERROR(writer_.Lose(std::vector<Digest>(lost.begin(), lost.end())));
  return NoteGoneSegments();
}

// So that the next opening does not find them gone, and tell of it, once more.
absl::Status Losses::NoteGoneSegments() {
  ASSIGN_OR_RETURN(const auto states, state_.index.With(&Index::Segments));
  IndexBatch batch;
  for (const auto& [number, known] : states) {
    if (known.is_dropped || known.is_cut || known.indexed_bytes == 0) continue;
    const absl::StatusOr<FileStat> stat = StatFile(SegmentPath(state_.folder.directory, number));
    if (!stat.ok() && !absl::IsNotFound(stat.status())) return stat.status();
    if (stat.ok() && stat->size_bytes >= known.indexed_bytes) continue;
    SegmentState state = known;
    state.is_abandoned = state.is_cut = true;
    state.indexed_bytes = stat.ok() ? stat->size_bytes : 0;
    batch.SetSegment(number, state);
  }
  return batch.is_empty() ? absl::OkStatus() : writer_.WriteIndex(batch);
}

}  // namespace galley::store
