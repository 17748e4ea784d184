// What LocalStore does about wrong bytes: quarantine, loss, Verify; and its numbers.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/local_store.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/segment_writer.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

bool IsLoss(const absl::Status& status) { return status.code() == absl::StatusCode::kDataLoss; }

uint64_t CountEntries(const std::string& folder) {
  std::error_code error;
  uint64_t count = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    ++count;
  return count;
}

}  // namespace

// Takes blobs out for good. The epoch rises before the index forgets them, so that nobody who
// trusts the old one is wrong.
absl::Status LocalStore::Lose(const std::vector<Digest>& blobs) {
  const uint64_t epoch = index_->epoch() + 1;
  RETURN_IF_ERROR(WriteEpoch(directory_, epoch));
  auto index = index_->NewBatch();
  RETURN_IF_ERROR(index->SetEpoch(epoch));
  for (const Digest& digest : blobs) RETURN_IF_ERROR(index->RemoveBlob(digest));
  absl::Status logged;
  {
    // Absent from here on: who wants one puts it again, behind what the log says.
    const base::ExclusiveLock telling(telling_);
    const base::MutexLock lock(mutex_);
    for (const Digest& digest : blobs) {
      if (pending_.erase(digest) != 0) pending_bytes_ -= digest.size_bytes();
    }
    condemned_.insert(blobs.begin(), blobs.end());
    RecordPlace place;
    logged =
        Append(RecordKind::kLoss, Digest(), EncodeLoss({.epoch = epoch, .blobs = blobs}), place);
  }
  if (logged.ok()) logged = SyncOwnAlone();
  // Not fatal: an index that is made again would find the wrong bytes anew when they are read.
  if (!logged.ok()) LogWarning("store={} loss is not logged: {}", directory_, MessageOf(logged));
  absl::Status status = NoteSegments({}, *index);
  if (status.ok()) status = WriteIndex(std::move(index));
  {
    const base::ExclusiveLock telling(telling_);
    condemned_.clear();
  }
  RETURN_IF_ERROR(status);
  return index_->Flush(/*wait=*/true);
}

absl::Status LocalStore::MoveToQuarantine(const Digest& digest, const BlobLocation& location) {
  const std::string name =
      fmt::format("{}/{}-{}", QuarantineDirectory(directory_), digest.hex(), digest.size_bytes());
  if (location.segment == 0) {
    const std::string path = BlobFilePath(directory_, digest);
    if (::rename(path.c_str(), name.c_str()) == 0) return absl::OkStatus();
    // A file that is gone leaves only the note that it was lost.
    return errno == ENOENT ? WriteFileAtomic(name, "")
                           : ErrnoStatus(errno, "move to quarantine", path);
  }
  std::string bytes(RecordSpan(digest.size_bytes()), '\0');
  const FileDescriptor segment(
      ::open(SegmentPath(directory_, location.segment).c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t count = segment.valid() ? ::pread(segment.get(), bytes.data(), bytes.size(),
                                                  static_cast<off_t>(location.offset))
                                        : 0;
  bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return WriteFileAtomic(fmt::format("{}.{:016x}-{}", name, location.segment, location.offset),
                         bytes);
}

// Reads it, in pieces where it is large.
absl::Status LocalStore::CheckBlob(const Digest& digest, const BlobLocation& location) {
  if (location.segment == 0 && digest != Digest()) return CheckBlobFile(directory_, digest);
  return ReadBlobAt(directory_, digest, location).status();
}

absl::Status LocalStore::QuarantineIfWrong(const Digest& digest, bool& was_wrong) {
  const base::MutexLock lock(commit_mutex_);
  RETURN_IF_ERROR(broken_);
  ASSIGN_OR_RETURN(const auto found, Locate(std::span(&digest, 1)));
  if (!found[0].has_value()) return absl::OkStatus();
  const absl::Status status = CheckBlob(digest, *found[0]);
  if (!IsLoss(status)) return status;
  was_wrong = true;
  LogWarning("store={} digest={} quarantined: {}", directory_, digest.ToString(),
             MessageOf(status));
  RETURN_IF_ERROR(MoveToQuarantine(digest, *found[0]));
  return Lose({digest});
}

absl::Status LocalStore::VerifyBlobs(VerifyReport& report) {
  std::vector<Digest> wrong;
  const auto read = [&](const LocatedBlob& blob) -> absl::Status {
    const absl::Status status = CheckBlob(blob.first, blob.second);
    ++report.blobs;
    report.bytes += blob.first.size_bytes();
    if (IsLoss(status)) {
      wrong.push_back(blob.first);
      return absl::OkStatus();
    }
    return status;
  };
  RETURN_IF_ERROR(index_->ForEachBlob(read));
  for (const Digest& digest : wrong) {
    bool was_wrong = false;
    RETURN_IF_ERROR(QuarantineIfWrong(digest, was_wrong));
    if (was_wrong)
      report.problems.push_back(
          fmt::format("blob {}: its bytes were wrong; quarantined, cook again what needs it",
                      digest.ToString()));
  }
  return absl::OkStatus();
}

// Results, observation sets and roots: those that cannot be read are dropped; a root is written
// again from the index.
absl::Status LocalStore::VerifyLog(VerifyReport& report) {
  const base::MutexLock lock(commit_mutex_);
  std::vector<std::string> problems;
  auto index = index_->NewBatch();
  RETURN_IF_ERROR(
      index_->ForEachResult([&](const Digest& key, const ResultPlace& place) -> absl::Status {
        const absl::Status status = ReadLogged(RecordKind::kResult, key, place).status();
        if (!IsLoss(status)) return status;
        problems.push_back(fmt::format("result {}: {}; dropped, it is cooked again", key.ToString(),
                                       MessageOf(status)));
        return index->RemoveResult(key);
      }));
  RETURN_IF_ERROR(
      index_->ForEachActionResult([&](const Digest& key, const ResultPlace& place) -> absl::Status {
        const absl::Status status = ReadLogged(RecordKind::kActionResult, key, place).status();
        if (!IsLoss(status)) return status;
        problems.push_back(fmt::format("another program's result {}: {}; dropped", key.ToString(),
                                       MessageOf(status)));
        return index->RemoveActionResult(key);
      }));
  RETURN_IF_ERROR(index_->ForEachObservationSet([&](const Digest& key,
                                                    const SetPlace& set) -> absl::Status {
    const absl::Status status = ReadLogged(RecordKind::kObservationSet, key, set.place).status();
    if (!IsLoss(status)) return status;
    problems.push_back(
        fmt::format("observation set of {}: {}; dropped", key.ToString(), MessageOf(status)));
    return index->RemoveObservationSet(key, set.place);
  }));
  const auto read_root = [&](const IndexedRoot& root) -> absl::Status {
    const absl::Status status =
        ReadLogged(RecordKind::kPublished, root.root.root, root.place).status();
    if (!IsLoss(status)) return status;
    problems.push_back(
        fmt::format("root {}: {}; written again", root.root.root.ToString(), MessageOf(status)));
    const base::MutexLock append_lock(mutex_);
    RecordPlace place;
    RETURN_IF_ERROR(
        Append(RecordKind::kPublished, root.root.root, EncodePublished(root.root), place));
    return index->SetRoot(root.root, place);
  };
  RETURN_IF_ERROR(index_->ForEachRoot(read_root));
  if (problems.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(SyncOwnAlone());
  RETURN_IF_ERROR(NoteSegments({}, *index));
  RETURN_IF_ERROR(WriteIndex(std::move(index)));
  report.problems.insert(report.problems.end(), problems.begin(), problems.end());
  return Lose({});
}

// Says again where the blobs lie that only adopted records tell of, after one of those was damaged.
absl::Status LocalStore::Relog() {
  std::vector<LocatedBlob> blobs;
  RETURN_IF_ERROR(index_->ForEachBlob([&](const LocatedBlob& blob) -> absl::Status {
    blobs.push_back(blob);
    if (blobs.size() < kAdoptedMax) return absl::OkStatus();
    return AppendAdopted(std::exchange(blobs, {}));
  }));
  RETURN_IF_ERROR(AppendAdopted(blobs));
  RETURN_IF_ERROR(SyncOwnAlone());
  auto index = index_->NewBatch();
  RETURN_IF_ERROR(NoteSegments({}, *index));
  return WriteIndex(std::move(index));
}

// The segments themselves: damage that no index entry points to.
absl::Status LocalStore::VerifySegments(VerifyReport& report) {
  const base::MutexLock lock(commit_mutex_);
  ASSIGN_OR_RETURN(const auto states, index_->Segments());
  bool is_log_damaged = false;
  auto index = index_->NewBatch();
  for (const auto& [number, state] : states) {
    const auto pass = [](uint64_t, const RecordHeader&, std::string_view) {
      return absl::OkStatus();
    };
    std::vector<DamagedRange> damaged;
    const absl::Status header = ReadSegmentHeader(directory_, number, store_id_).status();
    if (!header.ok()) damaged.push_back({.offset = 0, .size_bytes = kSegmentHeaderBytes});
    absl::StatusOr<ScanReport> scan = ScanSegment(directory_, number, kSegmentHeaderBytes, pass);
    if (scan.status().code() == absl::StatusCode::kNotFound)
      continue;  // its blobs are found missing; the next opening notes the rest
    RETURN_IF_ERROR(scan.status());
    damaged.insert(damaged.end(), scan->damaged.begin(), scan->damaged.end());
    // A worker may be writing behind what was adopted; what is before that has to be whole.
    if (scan->whole_end < state.indexed_bytes)
      damaged.push_back(
          {.offset = scan->whole_end, .size_bytes = state.indexed_bytes - scan->whole_end});
    for (const DamagedRange& range : damaged) {
      ASSIGN_OR_RETURN(const bool is_known, index_->IsKnownDamage({number, range.offset}));
      if (is_known) continue;
      RETURN_IF_ERROR(index->NoteDamage({number, range.offset}));
      is_log_damaged |= state.writer == SegmentWriterKind::kOwner;
      report.problems.push_back(
          fmt::format("segment {:016x} offset {}: {} bytes are wrong; noted, they are never used",
                      number, range.offset, range.size_bytes));
    }
  }
  if (index->size() == 0) return absl::OkStatus();
  RETURN_IF_ERROR(WriteIndex(std::move(index)));
  if (is_log_damaged) {
    RETURN_IF_ERROR(Relog());
    return Lose({});
  }
  return absl::OkStatus();
}

absl::StatusOr<VerifyReport> LocalStore::Verify() {
  RETURN_IF_ERROR(Commit({}));
  VerifyReport report;
  absl::Status status = VerifyBlobs(report);
  if (status.ok()) status = VerifyLog(report);
  if (status.ok()) status = VerifySegments(report);
  if (!status.ok()) return NoteIndex(status);
  return report;
}

absl::StatusOr<StoreStats> LocalStore::Stats() {
  RETURN_IF_ERROR(Commit({}));
  const IndexCounters counters = index_->counters();
  StoreStats stats{.blobs = counters.blobs,
                   .blob_bytes = counters.blob_bytes,
                   .results = counters.results,
                   .observation_sets = counters.observation_sets,
                   .files = counters.files,
                   .file_bytes = counters.file_bytes,
                   .roots = counters.roots};
  ASSIGN_OR_RETURN(const std::vector<SegmentListing> segments, ListSegments(directory_));
  for (const SegmentListing& segment : segments) {
    ++stats.segments;
    stats.segment_bytes += segment.size_bytes;
  }
  stats.quarantined = CountEntries(QuarantineDirectory(directory_));
  return stats;
}

}  // namespace galley::store
