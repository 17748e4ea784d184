#include "common/store/local/recovery.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/interface/sync_doubt.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/write_anew.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr size_t kBatchChangesMax = 8192;
constexpr int64_t kUnusedSecondsMin = 600;
// More than are counted between two times that the index is written out.
constexpr uint64_t kEpochsUntold = 1 << 20;

std::string IndexPath(const std::string& directory) { return JoinPath(directory, "index"); }

class Recovery {
 public:
  Recovery(const std::string& directory, const OpenedLayout& layout,
           const LocalStoreOptions& options, std::vector<SegmentListing> segments)
      : directory_(directory),
        layout_(layout),
        options_(options),
        opened_us_(static_cast<uint64_t>(std::max<int64_t>(0, absl::ToUnixMicros(options.now())))),
        segments_(std::move(segments)),
        replay_(directory, segments_) {}

  absl::StatusOr<Recovered> Run() {
    ASSIGN_OR_RETURN(mark_, ReadSyncMark(directory_));
    RETURN_IF_ERROR(OpenIndex());
    RETURN_IF_ERROR(FindTails());
    RETURN_IF_ERROR(OpenInOrder(
        {.is_marked = mark_.is_marked,
         .raise_mark = [this] { return AppendSyncMark(directory_, EncodeSyncMark({})); },
         .write_log_anew = [this] { return WriteTailsAnew(); },
         .sync_and_read_log = [this] { return ReplayTails(); },
         .write_files_anew = [this] { return WriteFilesAnew(); },
         .settle = [this] { return Settle(); },
         .lower_mark = [this] { return RemoveSyncMark(directory_); }}));
    Recovered recovered;
    ASSIGN_OR_RETURN(recovered.segment_to_fill, SegmentToFill());
    ASSIGN_OR_RETURN(recovered.segments, index_->Segments());
    for (const SegmentListing& segment : segments_) {
      const auto state = recovered.segments.find(segment.number);
      if (state != recovered.segments.end() && state->second.writer == SegmentWriterKind::kOwner) {
        recovered.commits = CommitsOf(segment.number, segment.size_bytes);
      } else {
        recovered.worker_ends[segment.number] = segment.size_bytes;
      }
    }
    recovered.loss_epoch = index_->epoch();
    // Behind what is gone, too: the index may still speak of what lay there.
    const uint64_t last = segments_.empty() ? 0 : segments_.back().number;
    const uint64_t known = recovered.segments.empty() ? 0 : recovered.segments.rbegin()->first;
    recovered.segment_next = std::max(last, known) + 1;
    recovered.index = std::move(index_);
    return recovered;
  }

 private:
  absl::Status OpenIndex() {
    absl::StatusOr<std::unique_ptr<Index>> opened = absl::NotFoundError("index: marked as damaged");
    if (!FileExists(RebuildMarkerPath(directory_)))
      opened = Index::Open(IndexPath(directory_), layout_.store_id);
    if (opened.ok()) {
      index_ = *std::move(opened);
      return CheckSegments();
    }
    if (opened.status().code() != absl::StatusCode::kNotFound) return opened.status();
    if (!segments_.empty())
      LogWarning("store={} index is made again: {}", directory_, MessageOf(opened.status()));
    // What was there before cannot be told from the segments alone.
    if (!segments_.empty() || layout_.loss_epoch != 0u) RETURN_IF_ERROR(RaiseEpoch());
    rebuilt_ = true;
    ASSIGN_OR_RETURN(index_, Index::Create(IndexPath(directory_), layout_.store_id));
    return absl::OkStatus();
  }

  // What a compaction left when it was cut off: oldest first, as there.
  absl::Status RemoveDropped(uint64_t number, IndexBatch& batch) {
    const std::string path = SegmentPath(directory_, number);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(errno, "remove", path);
    RETURN_IF_ERROR(SyncDirectory(JoinPath(directory_, "segments")));
    std::erase_if(segments_,
                  [&](const SegmentListing& listing) { return listing.number == number; });
    return batch.RemoveSegment(number);
  }

  // Segments that are gone, or shorter than they were. The rest of the index stays right.
  absl::Status CheckSegments() {
    ASSIGN_OR_RETURN(const auto states, index_->Segments());
    auto batch = index_->NewBatch();
    for (const auto& [number, known] : states) {
      if (known.is_dropped) {
        RETURN_IF_ERROR(RemoveDropped(number, *batch));
        continue;
      }
      const auto at = std::lower_bound(
          segments_.begin(), segments_.end(), number,
          [](const SegmentListing& listing, uint64_t wanted) { return listing.number < wanted; });
      const bool is_there = at != segments_.end() && at->number == number;
      if (is_there && at->size_bytes >= known.indexed_bytes) continue;
      if (!is_there && (IsUnused(known) || known.indexed_bytes == 0))
        continue;  // removed by RemoveUnused, which the index did not live to note; or noted
      LogWarning("store={} segment={:016x} {}: what lay there is lost", directory_, number,
                 is_there ? "is shorter than it was" : "is gone");
      SegmentState state = known;
      state.is_abandoned = state.is_cut = true;
      state.indexed_bytes = is_there ? at->size_bytes : 0;
      RETURN_IF_ERROR(RaiseEpoch());
      RETURN_IF_ERROR(batch->SetSegment(number, state));
    }
    return batch->size() == 0 ? absl::OkStatus() : index_->Write(std::move(batch));
  }

  // The owner's segments that are longer than they are indexed.
  absl::Status FindTails() {
    ASSIGN_OR_RETURN(const auto states, index_->Segments());
    for (const SegmentListing& segment : segments_) {
      const auto known = states.find(segment.number);
      SegmentState state;
      if (known != states.end()) {
        state = known->second;
      } else {
        const absl::StatusOr<SegmentHeader> header =
            ReadSegmentHeader(directory_, segment.number, layout_.store_id);
        if (absl::IsDataLoss(header.status())) {
          RETURN_IF_ERROR(NoteBadHeader(segment, header.status()));
          continue;
        }
        RETURN_IF_ERROR(header.status());  // what it holds is not known, and not lost
        state = {
            .writer = header->writer,
            .indexed_bytes = header->writer == SegmentWriterKind::kOwner ? kSegmentHeaderBytes : 0};
      }
      if (state.writer == SegmentWriterKind::kOwner && segment.size_bytes > state.indexed_bytes) {
        tails_.emplace_back(segment, state);
      } else if (known == states.end()) {
        RETURN_IF_ERROR(SetState(segment.number, state));
      }
    }
    return absl::OkStatus();
  }

  // A segment without a whole header was being made when a crash came, unless it holds more than
  // that.
  absl::Status NoteBadHeader(const SegmentListing& segment, const absl::Status& status) {
    if (segment.size_bytes <= kSegmentHeaderBytes) return absl::OkStatus();
    LogWarning("store={} {}: if it was the owner's, what it said is lost", directory_,
               MessageOf(status));
    RETURN_IF_ERROR(RaiseEpoch());
    return SetState(segment.number, {.writer = SegmentWriterKind::kWorker, .is_abandoned = true});
  }

  absl::Status SetState(uint64_t segment, const SegmentState& state) {
    auto batch = index_->NewBatch();
    RETURN_IF_ERROR(batch->SetSegment(segment, state));
    return index_->Write(std::move(batch));
  }

  absl::Status WriteTailsAnew() {
    LogWarning("store={} a sync failed or was cut short: what it was of is written anew",
               directory_);
    for (const auto& [segment, state] : tails_) RETURN_IF_ERROR(WriteSegmentAnew(segment.number));
    return SyncDirectory(JoinPath(directory_, "segments"));
  }

  absl::Status WriteSegmentAnew(uint64_t segment) {
    return WriteAnew(directory_, SegmentPath(directory_, segment), options_.sync,
                     options_.free_bytes_least);
  }

  absl::Status ReplayTails() {
    for (const auto& [segment, state] : tails_) RETURN_IF_ERROR(Replay(segment, state));
    return absl::OkStatus();
  }

  absl::Status SyncSegment(uint64_t segment) {
    const std::string path = SegmentPath(directory_, segment);
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return ErrnoStatus(errno, "open", path);
    if (options_.sync(file.get()) != 0) return ErrnoStatus(errno, "sync", path);
    return absl::OkStatus();
  }

  absl::Status Replay(const SegmentListing& segment, SegmentState state) {
    // What the page cache shows may not be on the disk yet; once it is indexed it has to be.
    RETURN_IF_ERROR(SyncSegment(segment.number));
    auto batch = index_->NewBatch();
    // How far it is indexed is said at the end only: until then a crash has it read again.
    std::vector<LocatedBlob> blobs;  // one behind the other: indexed together
    const auto set_blobs = [&]() -> absl::Status {
      return batch->SetBlobs(std::exchange(blobs, {}));
    };
    const RecordVisitor visit = [&](uint64_t offset, const RecordHeader& header,
                                    std::string_view payload) -> absl::Status {
      if (header.kind == RecordKind::kBlob && blobs.size() < kBatchChangesMax) {
        blobs.emplace_back(header.key, BlobLocation{segment.number, offset});
        return absl::OkStatus();
      }
      RETURN_IF_ERROR(set_blobs());
      if (batch->size() >= kBatchChangesMax) {
        RETURN_IF_ERROR(index_->Write(std::move(batch)));
        batch = index_->NewBatch();
      }
      return replay_.Apply({segment.number, offset}, header, payload, *batch);
    };
    ASSIGN_OR_RETURN(const ScanReport report,
                     ScanSegment(directory_, segment.number, state.indexed_bytes, visit));
    RETURN_IF_ERROR(set_blobs());
    if (!report.damaged.empty() || replay_.adopted_missing() > 0) RETURN_IF_ERROR(RaiseEpoch());
    for (const DamagedRange& range : report.damaged) {
      LogWarning("store={} segment={:016x} offset={} damaged_bytes={}: what they held is lost",
                 directory_, segment.number, range.offset, range.size_bytes);
      RETURN_IF_ERROR(batch->NoteDamage({segment.number, range.offset}));
    }
    // A torn tail is behind us for good: nobody appends to this segment again (SegmentToFill).
    state.indexed_bytes = report.size_bytes;
    if (report.whole_end != report.size_bytes) {
      RETURN_IF_ERROR(batch->NoteDamage({segment.number, report.whole_end}));
      state.is_abandoned = true;
    }
    RETURN_IF_ERROR(batch->SetSegment(segment.number, state));
    return index_->Write(std::move(batch));
  }

  absl::Status Settle() {
    RETURN_IF_ERROR(SettleEpoch());
    RETURN_IF_ERROR(SettleCollected());
    RETURN_IF_ERROR(RemoveUnused());
    if (rebuilt_) RETURN_IF_ERROR(index_->Flush(/*wait=*/true));
    ::unlink(RebuildMarkerPath(directory_).c_str());
    return absl::OkStatus();
  }

  // What is wrong in them goes.
  absl::Status WriteFilesAnew() {
    ASSIGN_OR_RETURN(const auto known, index_->Blobs(mark_.files));
    for (size_t i = 0; i < known.size(); ++i) {
      if (known[i].has_value()) continue;
      const std::string path = BlobFilePath(directory_, mark_.files[i]);
      if (!FileExists(path)) continue;
      const absl::Status read = CheckBlobFile(directory_, mark_.files[i]);
      if (read.code() == absl::StatusCode::kDataLoss) {
        LogWarning("store={} {}: removed", directory_, MessageOf(read));
        ::unlink(path.c_str());
        continue;
      }
      RETURN_IF_ERROR(read);
      RETURN_IF_ERROR(WriteAnew(directory_, path, options_.sync, options_.free_bytes_least));
    }
    return absl::OkStatus();
  }

  // Files that a collection had put aside when it was cut off: by now the log has said whether they
  // are gone.
  absl::Status SettleCollected() {
    ASSIGN_OR_RETURN(const std::vector<Digest> aside, ListCollectedFiles(directory_));
    ASSIGN_OR_RETURN(const auto known, index_->Blobs(aside));
    for (size_t i = 0; i < aside.size(); ++i) {
      if (known[i].has_value() && known[i]->segment == 0) {
        RETURN_IF_ERROR(RestoreCollectedFile(directory_, aside[i]));
      } else {
        ::unlink(CollectedFilePath(directory_, aside[i]).c_str());
      }
    }
    return absl::OkStatus();
  }

  // Of a worker, and nothing in it was ever adopted (an older program's abandoned one forgot what
  // was).
  static bool IsUnused(const SegmentState& state) {
    return state.writer == SegmentWriterKind::kWorker && !state.is_abandoned &&
           state.indexed_bytes == 0;
  }

  // Segments that were given to workers which wrote nothing. Those that a worker has open stay, and
  // young ones, which one may be about to open: it outlives the owner when another process takes
  // the store over.
  absl::Status RemoveUnused() {
    ASSIGN_OR_RETURN(const auto states, index_->Segments());
    auto batch = index_->NewBatch();
    for (const auto& [number, state] : states) {
      if (!IsUnused(state)) continue;
      const auto listed = std::lower_bound(
          segments_.begin(), segments_.end(), number,
          [](const SegmentListing& listing, uint64_t wanted) { return listing.number < wanted; });
      const bool is_there = listed != segments_.end() && listed->number == number;
      if (is_there && (listed->size_bytes != kSegmentHeaderBytes || !RemoveIfIdle(number)))
        continue;
      RETURN_IF_ERROR(batch->RemoveSegment(number));
    }
    return batch->size() == 0 ? absl::OkStatus() : index_->Write(std::move(batch));
  }

  // Under the lock that a writer holds, so that nothing is written to it meanwhile.
  bool RemoveIfIdle(uint64_t number) const {
    const std::string path = SegmentPath(directory_, number);
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat s {};
    if (!file.valid() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 ||
        ::fstat(file.get(), &s) != 0)
      return false;
    const bool is_idle = static_cast<uint64_t>(s.st_size) == kSegmentHeaderBytes &&
                         ::time(nullptr) - s.st_mtime > kUnusedSecondsMin;
    return is_idle && ::unlink(path.c_str()) == 0;
  }

  // Something is lost. It is known before anything that was found says so no more: a crash may come
  // at any time.
  absl::Status RaiseEpoch() {
    if (raised_epoch_ != 0) return absl::OkStatus();
    raised_epoch_ = HighestEpoch() + 1;
    return WriteEpoch(directory_, raised_epoch_);
  }

  // That anything remembers. When the file does not, higher than anybody can have been told: those
  // that were counted in between, and those before an index that is lost, too.
  uint64_t HighestEpoch() const {
    const uint64_t told = std::max(index_ == nullptr ? 0 : index_->epoch(), replay_.epoch_max());
    if (layout_.loss_epoch.has_value()) return std::max(told, *layout_.loss_epoch);
    return std::max(told + kEpochsUntold, opened_us_);
  }

  absl::Status SettleEpoch() {
    const uint64_t epoch =
        raised_epoch_ == 0 ? HighestEpoch() : std::max(raised_epoch_, HighestEpoch() + 1);
    if (!layout_.loss_epoch.has_value()) {
      LogWarning("store={} the file `epoch` is damaged: its number is guessed, {}", directory_,
                 epoch);
    }
    if (epoch != std::max(layout_.loss_epoch.value_or(0), raised_epoch_))
      RETURN_IF_ERROR(WriteEpoch(directory_, epoch));
    if (epoch == index_->epoch()) return absl::OkStatus();
    auto batch = index_->NewBatch();
    RETURN_IF_ERROR(batch->SetEpoch(epoch));
    return index_->Write(std::move(batch));
  }

  // After an unclean stop a new segment is begun: the old one's pages may have met a failed sync
  // that nobody saw.
  absl::StatusOr<std::optional<uint64_t>> SegmentToFill() {
    if (mark_.is_marked || !tails_.empty()) return std::optional<uint64_t>();
    ASSIGN_OR_RETURN(const auto states, index_->Segments());
    for (auto at = segments_.rbegin(); at != segments_.rend(); ++at) {
      const auto known = states.find(at->number);
      if (known == states.end() || known->second.writer != SegmentWriterKind::kOwner) continue;
      if (known->second.is_abandoned || known->second.indexed_bytes != at->size_bytes)
        return std::optional<uint64_t>();
      return std::optional(at->number);
    }
    return std::optional<uint64_t>();
  }

  const std::string directory_;
  const OpenedLayout& layout_;
  const LocalStoreOptions& options_;
  const uint64_t opened_us_;
  std::vector<SegmentListing> segments_;
  DecodedSyncMark mark_;  // of the owners before
  RecordReplay replay_;
  std::unique_ptr<Index> index_;
  std::vector<std::pair<SegmentListing, SegmentState>> tails_;
  bool rebuilt_ = false;
  uint64_t raised_epoch_ = 0;  // 0: nothing is lost
};

}  // namespace

std::string RebuildMarkerPath(const std::string& store_directory) {
  return JoinPath(TemporaryDirectory(store_directory), "rebuild-index");
}

absl::StatusOr<Recovered> Recover(const std::string& store_directory, const OpenedLayout& layout,
                                  const LocalStoreOptions& options) {
  ASSIGN_OR_RETURN(std::vector<SegmentListing> segments, ListSegments(store_directory));
  return Recovery(store_directory, layout, options, std::move(segments)).Run();
}

RecordReplay::RecordReplay(const std::string& store_directory,
                           const std::vector<SegmentListing>& segments)
    : directory_(store_directory) {
  for (const SegmentListing& segment : segments)
    segment_bytes_[segment.number] = segment.size_bytes;
}

bool RecordReplay::CanHold(const Digest& digest, const BlobLocation& location) const {
  if (location.segment == 0) {
    const absl::StatusOr<FileStat> stat = StatFile(BlobFilePath(directory_, digest));
    return stat.ok() && stat->size_bytes == digest.size_bytes();
  }
  const auto at = segment_bytes_.find(location.segment);
  return at != segment_bytes_.end() && location.offset < at->second &&
         digest.size_bytes() <= at->second - location.offset;
}

absl::Status RecordReplay::Apply(const RecordPlace& place, const RecordHeader& header,
                                 std::string_view payload, IndexBatch& batch) {
  switch (header.kind) {
    case RecordKind::kBlob:
      return batch.SetBlob(header.key, {place.segment, place.offset});
    case RecordKind::kAdopted: {
      ASSIGN_OR_RETURN(const std::vector<LocatedBlob> blobs, DecodeAdopted(payload));
      for (const auto& [digest, location] : blobs) {
        if (CanHold(digest, location)) {
          RETURN_IF_ERROR(batch.SetBlob(digest, location));
        } else {
          ++adopted_missing_;
        }
      }
      return absl::OkStatus();
    }
    case RecordKind::kObservationSet:
      return batch.AddObservationSet(header.key,
                                     {.place = place, .checksum = header.payload_checksum});
    case RecordKind::kResult:
      return batch.SetResult(header.key, place);
    case RecordKind::kActionResult:
      return batch.SetActionResult(header.key, place);
    case RecordKind::kPublished: {
      ASSIGN_OR_RETURN(const PublishedRoot root, DecodePublished(payload));
      return batch.SetRoot(root, place);
    }
    case RecordKind::kForgotten: {
      ASSIGN_OR_RETURN(const std::vector<Digest> keys, DecodeDigests(payload));
      for (const Digest& key : keys) RETURN_IF_ERROR(batch.RemoveResult(key));
      return absl::OkStatus();
    }
    case RecordKind::kCollected: {
      ASSIGN_OR_RETURN(const std::vector<Digest> keys, DecodeDigests(payload));
      for (const Digest& key : keys) RETURN_IF_ERROR(batch.RemoveActionResult(key));
      return absl::OkStatus();
    }
    case RecordKind::kLoss: {
      ASSIGN_OR_RETURN(const Loss loss, DecodeLoss(payload));
      epoch_max_ = std::max(epoch_max_, loss.epoch);
      for (const Digest& digest : loss.blobs) RETURN_IF_ERROR(batch.RemoveBlob(digest));
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();  // a later version's
}

}  // namespace galley::store
