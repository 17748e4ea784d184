#include "common/store/local/store_writer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/log_records.h"
#include "common/store/local/quarantine.h"
#include "fmt/format.h"

namespace galley::store {

StoreWriter::StoreWriter(StoreState& state, const Recovered& recovered)
    : state_(state),
      sync_mark_(
          {.append =
               [this](const auto& bytes) { return AppendSyncMark(state_.folder.directory, bytes); },
           .remove = [this] { return RemoveSyncMark(state_.folder.directory); }}) {
  for (const auto& [number, end] : recovered.worker_ends) doubtful_.Note(number, end);
  for (const auto& [number, segment] : recovered.segments) {
    // A blob that is said to lie in a segment that was cut never names it again.
    if (segment.is_cut) doubtful_.Note(number, UINT64_MAX);
  }
}

void StoreWriter::Break(const absl::Status& why) {
  if (broken_.ok())
    broken_ = Annotate(why, fmt::format("store {} has to be opened anew", state_.folder.directory));
}

absl::Status StoreWriter::SyncMarkedLog() {
  absl::Status lost;
  const absl::Status synced = state_.log.Sync(lost);
  if (!lost.ok()) Break(lost);
  return synced;
}

absl::Status StoreWriter::SyncLog() {
  RETURN_IF_ERROR(sync_mark_.Raise({}));
  RETURN_IF_ERROR(SyncMarkedLog());
  return sync_mark_.Lower();
}

absl::Status StoreWriter::NoteSegments(std::span<const LocatedBlob> adopted,
                                       std::span<const LocatedBlob> pending, IndexBatch& index) {
  std::map<uint64_t, SegmentState> changed;
  for (const auto& [digest, location] : adopted) {
    if (location.segment == 0) continue;
    auto at = changed.find(location.segment);
    if (at == changed.end()) {
      // Only segments that are named: a commit costs the same however many segments there are.
      ASSIGN_OR_RETURN(const std::optional<SegmentState> known,
                       state_.index.With(&Index::Segment, location.segment));
      at = changed
               .emplace(location.segment,
                        known.value_or(SegmentState{.writer = SegmentWriterKind::kWorker}))
               .first;
    }
    if (at->second.writer != SegmentWriterKind::kWorker) continue;
    // Without the padding, which a worker that died may not have written.
    at->second.indexed_bytes = std::max(at->second.indexed_bytes,
                                        location.offset + kRecordHeaderBytes + digest.size_bytes());
  }
  state_.log.NoteIndexed(pending, changed);
  for (const auto& [number, state] : changed) index.SetSegment(number, state);
  return absl::OkStatus();
}

// Notes which results were asked for since the last time.
void StoreWriter::StampUses(IndexBatch& index) {
  const UsedResults::Keys used = state_.used.Take();
  const uint32_t hours = HoursOf(state_.folder.options.now());
  for (const Digest& key : used.results) index.StampResult(key, hours);
  for (const Digest& key : used.action_results) index.StampActionResult(key, hours);
}

absl::Status StoreWriter::WriteIndex(IndexBatch& index) {
  StampUses(index);
  absl::Status status = state_.index.Write(index);
  if (status.ok() && state_.log.IsFlushDue())
    status = state_.index.With(&Index::Flush, /*wait=*/false);
  if (status.ok()) return status;
  // The segments hold more than the index knows. Going on would let the index step over it.
  Break(status);
  return broken_;
}

absl::Status StoreWriter::SyncAndIndex(IndexBatch& index) {
  RETURN_IF_ERROR(SyncLog());
  RETURN_IF_ERROR(NoteSegments({}, {}, index));
  return WriteIndex(index);
}

absl::Status StoreWriter::RaiseEpoch(IndexBatch& index) {
  const uint64_t epoch = state_.index.epoch() + 1;
  RETURN_IF_ERROR(WriteEpoch(state_.folder.directory, epoch));
  state_.log.SetLossEpoch(epoch);
  index.SetEpoch(epoch);
  return absl::OkStatus();
}

absl::Status StoreWriter::Lose(const std::vector<Digest>& blobs) {
  const StoreFolder& folder = state_.folder;
  const uint64_t epoch = state_.index.epoch() + 1;
  IndexBatch index;
  RETURN_IF_ERROR(RaiseEpoch(index));
  for (const Digest& digest : blobs) index.RemoveBlob(digest);
  absl::Status logged;
  {
    // Absent from here on: who wants one puts it again, behind what the log says.
    const base::ExclusiveLock telling(state_.reported_present.mutex());
    const base::MutexLock lock(state_.log.mutex());
    state_.log.RemovePending(std::span<const Digest>(blobs));
    state_.reported_present.Condemn(blobs);
    logged =
        state_.log.Append(RecordKind::kLoss, Digest(), EncodeLoss({.epoch = epoch, .blobs = blobs}))
            .status();
  }
  if (logged.ok()) logged = SyncLog();
  // Not fatal: an index that is made again would find the wrong bytes anew when they are read.
  if (!logged.ok())
    LogWarning("store={} loss is not logged: {}", folder.directory, MessageOf(logged));
  absl::Status status = NoteSegments({}, {}, index);
  if (status.ok()) status = WriteIndex(index);
  state_.reported_present.PardonAll();
  RETURN_IF_ERROR(status);
  if (const absl::Status trimmed = TrimQuarantine(
          folder.directory, folder.options.quarantine_bytes_max, kQuarantineFilesMax);
      !trimmed.ok())
    LogWarning("store={} {}", folder.directory, MessageOf(trimmed));
  return state_.index.With(&Index::Flush, /*wait=*/true);
}

absl::Status StoreWriter::LogEpoch() {
  if (state_.log.IsEpochLogged()) return absl::OkStatus();
  const base::MutexLock lock(mutex_);
  RETURN_IF_ERROR(broken_);
  RETURN_IF_ERROR(state_.log.LogEpoch());
  return SyncLog();
}

}  // namespace galley::store
