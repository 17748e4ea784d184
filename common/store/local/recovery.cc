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
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/store/interface/sync_doubt.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/index_folder.h"
#include "common/store/local/index_remaking.h"
#include "common/store/local/log_replay.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/write_anew.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr int64_t kUnusedSecondsMin = 600;
// More than are counted between two times that the index is written out.
constexpr uint64_t kEpochsUntold = 1 << 20;

// Programs before December 2026 left it when they found the index damaged.
std::string RebuildMarkerPath(const std::string& directory) {
  return JoinPath(TemporaryDirectory(directory), "rebuild-index");
}

class Recovery {
 public:
  Recovery(const std::string& directory, const OpenedLayout& layout,
           const LocalStoreOptions& options, std::vector<SegmentListing> segments)
      : directory_(directory),
        layout_(layout),
        options_(options),
        opened_us_(static_cast<uint64_t>(std::max<int64_t>(0, absl::ToUnixMicros(options.now())))),
        segments_(std::move(segments)),
        remaking_(directory, options.boot_time),
        replay_(
            {.directory = directory,
             .store_id = layout.store_id,
             .on_loss = [this] { return RaiseEpoch(); },
             .used_hours = [this] { return remaking_.has_begun() ? HoursOf(options_.now()) : 0; },
             .on_read = [this](uint64_t bytes) { remaking_.NoteRead(bytes); }}) {}

  // Why the index that was there has to be made anew, or was; OK: it has not.
  absl::Status damage() const {
    if (!why_.ok() || index_ == nullptr) return why_;
    return index_->damage();
  }
  // After Run failed: nothing is in doubt that was not before, unless a sync failed.
  void LowerOwnMark() const {
    if (!is_mark_ours_) return;
    if (const absl::Status lowered = RemoveSyncMark(directory_); !lowered.ok())
      LogWarning("store={} {}", directory_, MessageOf(lowered));
  }
  bool has_begun_anew() const { return remaking_.has_begun(); }
  uint64_t epoch() const { return index_ == nullptr ? 0 : index_->epoch(); }

  // Runs with an index that is made anew, for this reason.
  // REQUIRES: Run was not called. `epoch_min`: of the index that was there, if it is known.
  absl::StatusOr<Recovered> RunAnew(const absl::Status& why, uint64_t epoch_min) {
    epoch_min_ = epoch_min;
    why_ = why;
    return Run();
  }

  absl::StatusOr<Recovered> Run() {
    ASSIGN_OR_RETURN(mark_, ReadSyncMark(directory_));
    RETURN_IF_ERROR(OpenIndex());
    RETURN_IF_ERROR(FindTails());
    RETURN_IF_ERROR(OpenInOrder({.is_marked = mark_.is_marked,
                                 .raise_mark = [this] { return RaiseMark(); },
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
        recovered.commits = CommitNumber(segment.number, segment.size_bytes);
      } else {
        recovered.worker_ends[segment.number] = segment.size_bytes;
      }
    }
    recovered.loss_epoch = index_->epoch();
    const bool is_new = raised_epoch_ != 0 || !layout_.epoch_of_file.has_value();
    recovered.epoch_in_segments = is_new ? 0 : recovered.loss_epoch;
    // Behind what is gone, too: the index may still speak of what lay there.
    const uint64_t last = segments_.empty() ? 0 : segments_.back().number;
    const uint64_t known = recovered.segments.empty() ? 0 : recovered.segments.rbegin()->first;
    recovered.segment_next = std::max(last, known) + 1;
    recovered.index = std::move(index_);
    return recovered;
  }

 private:
  absl::Status OpenIndex() {
    if (why_.ok()) {
      absl::StatusOr<std::unique_ptr<Index>> opened = OpenAsItIs();
      if (opened.ok()) {
        index_ = *std::move(opened);
        RETURN_IF_ERROR(CheckSegments());
        return CheckFilesFolder();
      }
      if (!absl::IsNotFound(opened.status()) && !absl::IsDataLoss(opened.status()))
        return opened.status();
      why_ = opened.status();
    }
    // The lost index knew more than can be told from the segments alone.
    if (!segments_.empty() || layout_.epoch_of_file != 0u) RETURN_IF_ERROR(RaiseEpoch());
    RETURN_IF_ERROR(MakeStoreFolders(directory_));
    remaking_.Begin(segments_);
    const auto aside = MoveIndexAside(directory_);
    if (!absl::IsNotFound(aside.status())) {
      RETURN_IF_ERROR(aside.status());
      remaking_.set_aside(*aside);
    }
    ASSIGN_OR_RETURN(index_, Index::Create(NewIndexPath(directory_)));
    IndexBatch batch;
    batch.SetDisputed();  // in epoch 0, or where it is settled
    RETURN_IF_ERROR(index_->Write(batch));
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<Index>> OpenAsItIs() {
    if (FileExists(RebuildMarkerPath(directory_)))
      return absl::DataLossError("an older program found it damaged");
    absl::StatusOr<std::unique_ptr<Index>> opened =
        Index::Open(IndexPath(directory_), layout_.store_id);
    const std::string anew = NewIndexPath(directory_);
    if (!FileExists(anew)) return opened;
    if (FileExists(IndexPath(directory_))) {
      RETURN_IF_ERROR(RemoveAll(anew));
      return opened;
    }
    // The making of one was cut off: at its very end, or before.
    absl::StatusOr<std::unique_ptr<Index>> made = Index::Open(anew, layout_.store_id);
    if (absl::IsNotFound(made.status()) || absl::IsDataLoss(made.status()))
      return absl::NotFoundError("its making was cut off");
    RETURN_IF_ERROR(made.status());
    RETURN_IF_ERROR(PutNewIndexInPlace(directory_));
    (*made)->SetPath(IndexPath(directory_));
    return made;
  }

  // Removes segments that a compaction left when it was cut off: oldest first, as there.
  absl::Status RemoveDropped(uint64_t number, IndexBatch& batch) {
    const std::string path = SegmentPath(directory_, number);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(errno, "remove", path);
    RETURN_IF_ERROR(SyncDirectory(JoinPath(directory_, "segments")));
    std::erase_if(segments_,
                  [&](const SegmentListing& listing) { return listing.number == number; });
    batch.RemoveSegment(number);
    return absl::OkStatus();
  }

  // Segments that are gone, or shorter than they were. The rest of the index stays right.
  absl::Status CheckSegments() {
    ASSIGN_OR_RETURN(const auto states, index_->Segments());
    IndexBatch batch;
    for (const auto& [number, known] : states) {
      if (known.is_dropped) {
        RETURN_IF_ERROR(RemoveDropped(number, batch));
        continue;
      }
      const auto at = std::lower_bound(
          segments_.begin(), segments_.end(), number,
          [](const SegmentListing& listing, uint64_t wanted) { return listing.number < wanted; });
      const bool is_there = at != segments_.end() && at->number == number;
      if (is_there && at->size_bytes >= known.indexed_bytes) {
        RETURN_IF_ERROR(CheckHeader(number, known));
        continue;
      }
      if (!is_there && (IsUnused(known) || known.indexed_bytes == 0))
        continue;  // removed by RemoveUnused, which the index did not live to note; or noted
      NoteRepair(fmt::format("{} {}: what lay there is lost, and is made again when it is needed",
                             SegmentPath(directory_, number),
                             is_there ? "is shorter than it was" : "is gone"));
      SegmentState state = known;
      state.is_abandoned = state.is_cut = true;
      state.indexed_bytes = is_there ? at->size_bytes : 0;
      RETURN_IF_ERROR(RaiseEpoch());
      batch.SetSegment(number, state);
    }
    return index_->Write(batch);
  }

  // The folder of large blobs was deleted: the index forgets them. The folder is there again when
  // that is on the disk, so that a crash in between forgets nothing of it.
  absl::Status CheckFilesFolder() {
    const std::string path = JoinPath(directory_, "files");
    if (FileExists(path)) return absl::OkStatus();
    RETURN_IF_ERROR(RaiseEpoch());
    IndexBatch batch;
    uint64_t lost = 0;
    RETURN_IF_ERROR(
        index_->ForEachBlob(KeyRange(), [&](const Digest& digest, const BlobLocation& location) {
          if (location.segment != 0) return absl::OkStatus();
          ++lost;
          batch.RemoveBlob(digest);
          return absl::OkStatus();
        }));
    NoteRepair(
        fmt::format("{} is gone, with {} large files: they are made again when they are "
                    "needed",
                    path, lost));
    RETURN_IF_ERROR(index_->Write(batch));
    RETURN_IF_ERROR(index_->Flush(/*wait=*/true));
    return MakeStoreFolders(directory_);
  }

  // The index knows all that a header says. Without the header another index would lack what is in
  // the segment.
  absl::Status CheckHeader(uint64_t number, const SegmentState& known) {
    const auto header = ReadSegmentHeader(directory_, number, layout_.store_id);
    if (!absl::IsDataLoss(header.status()) || known.indexed_bytes == 0) return absl::OkStatus();
    if (ReadSegmentHeader(directory_, number).ok()) return absl::OkStatus();  // another store's
    const std::string path = SegmentPath(directory_, number);
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid()) return ErrnoStatus(errno, "open", path);
    const std::string bytes = EncodeSegmentHeader({.writer = known.writer,
                                                   .number = number,
                                                   .store_id = layout_.store_id,
                                                   .loss_epoch = epoch()});
    if (::pwrite(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      return ErrnoStatus(errno, "write", path);
    if (options_.sync(file.get()) != 0) return ErrnoStatus(errno, "sync", path);
    NoteRepair(fmt::format("{}: its header was damaged; it was written again", path));
    return absl::OkStatus();
  }

  // The owner's segments that are longer than they are indexed.
  absl::Status FindTails() {
    ASSIGN_OR_RETURN(tails_, replay_.FindTails(segments_, /*ends=*/{}, *index_));
    return absl::OkStatus();
  }

  absl::Status RaiseMark() {
    is_mark_ours_ = !mark_.is_marked;
    return AppendSyncMark(directory_, EncodeSyncMark({}));
  }

  absl::Status WriteTailsAnew() {
    LogWarning("store={} a sync failed or was cut short: what it was of is written anew",
               directory_);
    for (const SegmentTail& tail : tails_) RETURN_IF_ERROR(WriteSegmentAnew(tail.segment));
    return SyncDirectory(JoinPath(directory_, "segments"));
  }

  absl::Status WriteSegmentAnew(uint64_t segment) {
    return WriteAnew(directory_, SegmentPath(directory_, segment), options_.sync,
                     options_.free_bytes_least);
  }

  absl::Status ReplayTails() {
    for (const SegmentTail& tail : tails_) {
      // Bytes that the page cache shows may not be on the disk yet; once they are indexed they have
      // to be.
      RETURN_IF_ERROR(SyncSegment(tail.segment));
      RETURN_IF_ERROR(replay_.Read(tail, *index_));
    }
    return replay_.NoteAdopted(*index_);
  }

  absl::Status SyncSegment(uint64_t segment) {
    const std::string path = SegmentPath(directory_, segment);
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return ErrnoStatus(errno, "open", path);
    if (options_.sync(file.get()) == 0) return absl::OkStatus();
    is_mark_ours_ = false;  // from here on it is for the next owner, too
    return ErrnoStatus(errno, "sync", path);
  }

  absl::Status Settle() {
    RETURN_IF_ERROR(SettleEpoch());
    RETURN_IF_ERROR(SettleCollected());
    RETURN_IF_ERROR(RemoveUnused());
    if (remaking_.has_begun()) RETURN_IF_ERROR(FinishIndex());
    ::unlink(RebuildMarkerPath(directory_).c_str());
    return absl::OkStatus();
  }

  absl::Status FinishIndex() {
    RETURN_IF_ERROR(index_->Finish(layout_.store_id));
    RETURN_IF_ERROR(PutNewIndexInPlace(directory_));
    index_->SetPath(IndexPath(directory_));
    // A new store has never had one.
    if (!segments_.empty()) remaking_.Tell(why_);
    return absl::OkStatus();
  }

  // Writes them anew; a file that is wrong goes.
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

  // Whether a segment is a worker's from which nothing was ever adopted. An older program's
  // abandoned one forgot what was.
  static bool IsUnused(const SegmentState& state) {
    return state.writer == SegmentWriterKind::kWorker && !state.is_abandoned &&
           state.indexed_bytes == 0;
  }

  // Segments that were given to workers which wrote nothing. Those that a worker has open stay, and
  // young ones, which one may be about to open: it outlives the owner when another process takes
  // the store over.
  absl::Status RemoveUnused() {
    ASSIGN_OR_RETURN(const auto states, index_->Segments());
    IndexBatch batch;
    for (const auto& [number, state] : states) {
      if (!IsUnused(state)) continue;
      const auto listed = std::lower_bound(
          segments_.begin(), segments_.end(), number,
          [](const SegmentListing& listing, uint64_t wanted) { return listing.number < wanted; });
      const bool is_there = listed != segments_.end() && listed->number == number;
      if (is_there && (listed->size_bytes != kSegmentHeaderBytes || !RemoveIfIdle(number)))
        continue;
      batch.RemoveSegment(number);
    }
    return index_->Write(batch);
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

  // The highest epoch that anything remembers. When the file does not say, a number that is higher
  // than anybody can have been told: higher than those that were counted in between, and those
  // before an index that is lost, too.
  uint64_t HighestEpoch() const {
    const uint64_t told =
        std::max({epoch_min_, epoch(), replay_.epoch_max(), layout_.epoch_of_segments});
    if (layout_.epoch_of_file.has_value()) return std::max(told, *layout_.epoch_of_file);
    return std::max(told + kEpochsUntold, opened_us_);
  }

  // The file is written before anything else says a number: a lower one in it is an older file.
  void NoteHealedEpoch(uint64_t epoch) const {
    const std::string path = JoinPath(directory_, "epoch");
    if (!layout_.epoch_of_file.has_value())
      return NoteRepair(
          fmt::format("{}: it was damaged; its number is guessed anew, higher than any before: {}",
                      path, epoch));
    const uint64_t told =
        std::max({layout_.epoch_of_segments, index_->epoch(), replay_.epoch_max()});
    if (*layout_.epoch_of_file >= told) return;
    NoteRepair(fmt::format("{}: {}; by what the segments and the index say, it is {} now", path,
                           *layout_.epoch_of_file == 0 ? "it was gone" : "it was an older file",
                           epoch));
  }

  absl::Status SettleEpoch() {
    const uint64_t epoch =
        raised_epoch_ == 0 ? HighestEpoch() : std::max(raised_epoch_, HighestEpoch() + 1);
    if (epoch != std::max(layout_.epoch_of_file.value_or(0), raised_epoch_))
      RETURN_IF_ERROR(WriteEpoch(directory_, epoch));
    NoteHealedEpoch(epoch);
    if (epoch == index_->epoch()) return absl::OkStatus();
    IndexBatch batch;
    batch.SetEpoch(epoch);
    batch.SetDisputed();  // what the log had to say may have been that
    return index_->Write(batch);
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
  bool is_mark_ours_ = false;
  absl::Status why_;  // the index has to be made anew
  uint64_t epoch_min_ = 0;
  IndexRemaking remaking_;
  LogReplay replay_;
  std::unique_ptr<Index> index_;
  std::vector<SegmentTail> tails_;
  uint64_t raised_epoch_ = 0;  // 0: nothing is lost
};

}  // namespace

absl::StatusOr<Recovered> Recover(const std::string& store_directory, const OpenedLayout& layout,
                                  const LocalStoreOptions& options) {
  absl::Status why;  // the index is to be made anew
  bool has_begun_anew = false;
  uint64_t epoch = 0;
  const auto run = [&] {
    auto segments = ListSegments(store_directory);
    if (!segments.ok()) return absl::StatusOr<Recovered>(segments.status());
    Recovery recovery(store_directory, layout, options, *std::move(segments));
    auto outcome = why.ok() ? recovery.Run() : recovery.RunAnew(why, epoch);
    epoch = std::max(epoch, recovery.epoch());
    if (!outcome.ok()) recovery.LowerOwnMark();
    why = recovery.damage();
    has_begun_anew = recovery.has_begun_anew();
    return outcome;
  };
  absl::StatusOr<Recovered> recovered = run();
  // The damage was found while the index was brought up.
  if (!recovered.ok() && !why.ok() && !has_begun_anew) recovered = run();
  if (recovered.ok() || !has_begun_anew) return recovered;
  if (absl::IsResourceExhausted(recovered.status()) && RemoveUnusedIndexes(store_directory, ""))
    recovered = run();
  if (recovered.ok()) return recovered;
  return Annotate(
      recovered.status(),
      fmt::format("{}: {}; another one could not be made (nothing is lost, and the next "
                  "command that can makes it)",
                  IndexPath(store_directory), MessageOf(why)));
}

}  // namespace galley::store
