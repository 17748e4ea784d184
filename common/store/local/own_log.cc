#include "common/store/local/own_log.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/write_anew.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr int kTakenNumbersMax = 1'000;
constexpr uint64_t kAppendBytesMax = 1 << 20;

// The segment ends where the index says, and the index has whole records only.
uint64_t EndOfSegmentToFill(const Recovered& recovered) {
  if (!recovered.segment_to_fill.has_value()) return kSegmentHeaderBytes;
  const auto state = recovered.segments.find(*recovered.segment_to_fill);
  return state == recovered.segments.end() ? kSegmentHeaderBytes : state->second.indexed_bytes;
}

}  // namespace

OwnLog::OwnLog(const StoreFolder& folder, const LiveIndex& index, SyncedEnds& synced_ends,
               const Recovered& recovered)
    : folder_(folder),
      index_(index),
      synced_ends_(synced_ends),
      commits_(recovered.commits),
      segment_to_fill_(recovered.segment_to_fill),
      filled_until_(EndOfSegmentToFill(recovered)),
      segment_next_(recovered.segment_next),
      loss_epoch_(recovered.loss_epoch),
      epoch_in_segments_(recovered.epoch_in_segments) {}

absl::StatusOr<RecordPlace> OwnLog::Append(RecordKind kind, const Digest& key,
                                           std::string_view payload, uint64_t written_s) {
  RETURN_IF_ERROR(RollSegment());
  ASSIGN_OR_RETURN(const uint64_t offset, own_->Append(kind, key, payload, written_s));
  return RecordPlace{.segment = own_->number(), .offset = offset};
}

absl::Status OwnLog::Append(RecordKind kind, std::span<const SegmentFile::KeyedPayload> records,
                            absl::FunctionRef<void(size_t, const RecordPlace&)> placed) {
  for (size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    uint64_t bytes = 0;
    for (; end < records.size() && bytes < kAppendBytesMax; ++end)
      bytes += records[end].payload.size();
    const auto part = records.subspan(begin, end - begin);
    RETURN_IF_ERROR(RollSegment());
    ASSIGN_OR_RETURN(uint64_t offset, own_->Append(kind, part));
    for (size_t i = begin; i < end; ++i) {
      placed(i, {.segment = own_->number(), .offset = offset});
      offset += RecordSpan(records[i].payload.size());
    }
  }
  return absl::OkStatus();
}

absl::Status OwnLog::AppendAdopted(std::span<const LocatedBlob> blobs) {
  const base::MutexLock lock(mutex_);
  for (size_t begin = 0; begin < blobs.size(); begin += kAdoptedMax) {
    const auto part = blobs.subspan(begin, std::min(kAdoptedMax, blobs.size() - begin));
    RETURN_IF_ERROR(Append(RecordKind::kAdopted, Digest(), EncodeAdopted(part)).status());
  }
  return absl::OkStatus();
}

absl::Status OwnLog::RollSegment() {
  if (own_ != nullptr && own_->size_bytes() <= folder_.options.segment_bytes_max) return SayEpoch();
  if (own_ != nullptr) full_.push_back(std::exchange(own_, nullptr));
  if (segment_to_fill_.has_value()) {
    const uint64_t number = *std::exchange(segment_to_fill_, std::nullopt);
    absl::StatusOr<std::unique_ptr<SegmentFile>> last = absl::ResourceExhaustedError("full");
    const absl::StatusOr<FileStat> stat = StatFile(SegmentPath(folder_.directory, number));
    if (stat.ok() && stat->size_bytes <= folder_.options.segment_bytes_max)
      last = SegmentFile::Open(folder_.directory, number, filled_until_);
    if (last.ok() && (*last)->size_bytes() == stat->size_bytes) {
      own_ = *std::move(last);
      synced_ends_.Set(number, own_->synced_bytes());
      logged_epoch_ = own_->loss_epoch();
      return SayEpoch();
    }
  }
  ASSIGN_OR_RETURN(own_, CreateSegment(SegmentWriterKind::kOwner));
  logged_epoch_ = own_->loss_epoch();
  return absl::OkStatus();
}

// The index may have raised it, when it was made anew.
uint64_t OwnLog::KnownEpoch() const { return std::max(loss_epoch_, index_.epoch()); }

// Writes the epoch into a segment, for when the file `epoch` and the index are lost, or are older
// ones.
absl::Status OwnLog::SayEpoch() {
  const uint64_t epoch = KnownEpoch();
  if (logged_epoch_ >= epoch) return absl::OkStatus();
  RETURN_IF_ERROR(
      own_->Append(RecordKind::kLoss, Digest(), EncodeLoss({.epoch = epoch, .blobs = {}}))
          .status());
  logged_epoch_ = epoch;
  return absl::OkStatus();
}

// A number may be taken though it is not ours: by an owner that was stopped, while its store was
// moved away and this one made in its place, and that goes on by the name that it knew.
absl::StatusOr<std::unique_ptr<SegmentFile>> OwnLog::CreateSegment(SegmentWriterKind writer) {
  for (int tries = 0;; ++tries) {
    const SegmentHeader header{.writer = writer,
                               .number = segment_next_,
                               .store_id = folder_.store_id,
                               .loss_epoch = KnownEpoch()};
    if (writer == SegmentWriterKind::kOwner) synced_ends_.Set(header.number, 0);
    auto created = SegmentFile::Create(folder_.directory, header);
    if (!created.ok()) synced_ends_.Forget(header.number);
    if (!created.ok() && (!absl::IsAlreadyExists(created.status()) || tries == kTakenNumbersMax))
      return created.status();
    ++segment_next_;
    if (!created.ok()) continue;
    segments_folder_changed_ = true;
    return created;
  }
}

absl::StatusOr<uint64_t> OwnLog::AllocateSegment() {
  const base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const auto created, CreateSegment(SegmentWriterKind::kWorker));
  return created->number();
}

absl::Status OwnLog::BeginSegment() {
  const base::MutexLock lock(mutex_);
  if (own_ != nullptr) full_.push_back(std::exchange(own_, nullptr));
  segment_to_fill_.reset();
  ASSIGN_OR_RETURN(own_, CreateSegment(SegmentWriterKind::kOwner));
  return absl::OkStatus();
}

uint64_t OwnLog::FilledSegment() const {
  const base::MutexLock lock(mutex_);
  return own_ != nullptr ? own_->number() : segment_to_fill_.value_or(0);
}

bool OwnLog::IsInUse(uint64_t segment) const {
  const base::MutexLock lock(mutex_);
  const auto is_it = [&](const auto& file) { return file != nullptr && file->number() == segment; };
  return is_it(own_) || segment_to_fill_ == segment || std::ranges::any_of(full_, is_it) ||
         unindexed_ends_.contains(segment) ||
         std::ranges::any_of(pending_.places(),
                             [&](const auto& blob) { return blob.second.segment == segment; });
}

absl::Status OwnLog::PutBlobs(std::span<const BlobView> blobs) {
  const base::MutexLock lock(mutex_);
  std::vector<SegmentFile::KeyedPayload> records;
  absl::flat_hash_set<Digest> chosen;
  for (const BlobView& blob : blobs) {
    if (pending_.Has(blob.digest) || !chosen.insert(blob.digest).second) continue;
    records.push_back({.key = blob.digest, .payload = blob.bytes});
  }
  return Append(RecordKind::kBlob, records, [&](size_t i, const RecordPlace& place) {
    pending_.Add(records[i].key, {.segment = place.segment, .offset = place.offset});
  });
}

void OwnLog::PutFile(const Digest& digest) {
  const base::MutexLock lock(mutex_);
  pending_.Add(digest, BlobLocation{});
}

std::optional<BlobLocation> OwnLog::Pending(const Digest& digest) const {
  const base::MutexLock lock(mutex_);
  return pending_.Find(digest);
}

std::vector<std::optional<BlobLocation>> OwnLog::Pending(std::span<const Digest> digests) const {
  std::vector<std::optional<BlobLocation>> places(digests.size());
  const base::MutexLock lock(mutex_);
  for (size_t i = 0; i < digests.size(); ++i) places[i] = pending_.Find(digests[i]);
  return places;
}

bool OwnLog::IsPending(const Digest& digest) const { return pending_.Has(digest); }

std::vector<LocatedBlob> OwnLog::AllPending() const {
  const base::MutexLock lock(mutex_);
  return {pending_.places().begin(), pending_.places().end()};
}

bool OwnLog::HasTooManyPending() const {
  const base::MutexLock lock(mutex_);
  return pending_.size() > folder_.options.pending_blobs_max ||
         pending_.bytes() > folder_.options.pending_bytes_max;
}

void OwnLog::RemovePending(std::span<const LocatedBlob> blobs) {
  const base::MutexLock lock(mutex_);
  for (const auto& [digest, location] : blobs) pending_.Remove(digest);
}

void OwnLog::RemovePending(std::span<const Digest> digests) {
  for (const Digest& digest : digests) pending_.Remove(digest);
}

absl::Status OwnLog::SyncFolder() {
  {
    const base::MutexLock lock(mutex_);
    if (!std::exchange(segments_folder_changed_, false)) return absl::OkStatus();
  }
  const absl::Status status = SyncDirectory(JoinPath(folder_.directory, "segments"));
  if (!status.ok()) {
    const base::MutexLock lock(mutex_);
    segments_folder_changed_ = true;
  }
  return status;
}

absl::Status OwnLog::Sync(absl::Status& lost) {
  std::vector<std::shared_ptr<SegmentFile>> files;
  {
    const base::MutexLock lock(mutex_);
    files = full_;
    if (own_ != nullptr && own_->size_bytes() != own_->synced_bytes()) files.push_back(own_);
  }
  RETURN_IF_ERROR(SyncFolder());
  for (const std::shared_ptr<SegmentFile>& file : files) {
    const uint64_t end = file->size_bytes();
    const int error = folder_.options.sync(file->descriptor()) == 0 ? 0 : errno;
    const base::MutexLock lock(mutex_);
    std::erase(full_, file);
    if (error != 0) {
      lost = GiveUp(*file);
      return ErrnoStatus(error, "sync", file->path());
    }
    bytes_since_flush_ += end - file->synced_bytes();
    commits_ = std::max(commits_.load(), CommitNumber(file->number(), end));
    file->set_synced_bytes(end);
    synced_ends_.Set(file->number(), end);
    unindexed_ends_[file->number()] = end;
  }
  return absl::OkStatus();
}

// Gives a segment up whose sync failed. Blobs that others put there must not be lost by this
// commit: they rely on a later one.
absl::Status OwnLog::GiveUp(SegmentFile& file) {
  if (own_.get() == &file) own_ = nullptr;
  std::vector<LocatedBlob> there;
  for (const auto& [digest, location] : pending_.places()) {
    if (location.segment == file.number() && location.offset >= file.synced_bytes())
      there.emplace_back(digest, location);
  }
  absl::Status lost;
  for (const auto& [digest, location] : there) {
    const absl::StatusOr<BlobLocation> again = AppendAgain(digest, location);
    if (again.ok()) {
      pending_.Move(digest, *again);
    } else {
      lost.Update(again.status());
      pending_.Remove(digest);
    }
  }
  file.CutToSynced();
  return lost;
}

// Writes a pending blob to another segment: its bytes can be read as long as the file is not cut.
absl::StatusOr<BlobLocation> OwnLog::AppendAgain(const Digest& digest, const BlobLocation& from) {
  ASSIGN_OR_RETURN(const Blob blob, ReadBlobAt(folder_.directory, digest, from));
  RETURN_IF_ERROR(folder_.CheckSpace(RecordSpan(blob->size())));
  ASSIGN_OR_RETURN(const RecordPlace place, Append(RecordKind::kBlob, digest, *blob));
  return BlobLocation{.segment = place.segment, .offset = place.offset};
}

absl::Status OwnLog::Restore() {
  const base::MutexLock lock(mutex_);
  absl::Status status = RestoreOne(own_);
  for (std::shared_ptr<SegmentFile>& file : full_) status.Update(RestoreOne(file));
  return Annotate(status, "a segment was deleted while it was written to");
}

// Nobody ever reads what is appended to a file without a name. This process has the bytes still:
// they get their name again, and nothing is lost.
absl::Status OwnLog::RestoreOne(std::shared_ptr<SegmentFile>& file) {
  if (file == nullptr || file->is_linked()) return absl::OkStatus();
  const std::string held = fmt::format("/proc/self/fd/{}", file->descriptor());
  RETURN_IF_ERROR(WriteAnewFrom(folder_.directory, held, file->path(), folder_.options.sync,
                                folder_.options.free_bytes_margin));
  ASSIGN_OR_RETURN(std::unique_ptr<SegmentFile> again,
                   SegmentFile::Open(folder_.directory, file->number()));
  if (again->size_bytes() != file->size_bytes())
    return DataLossError("{}: its end is wrong", file->path());
  again->set_synced_bytes(file->synced_bytes());
  file = std::move(again);
  segments_folder_changed_ = true;
  NoteRepair(
      fmt::format("{} was deleted while it was written to; it is there again, and nothing is lost",
                  file->path()));
  return absl::OkStatus();
}

void OwnLog::NoteIndexed(std::span<const LocatedBlob> indexed,
                         std::map<uint64_t, SegmentState>& states) {
  const base::MutexLock lock(mutex_);
  for (const auto& [number, end] : unindexed_ends_)
    states[number] = {.writer = SegmentWriterKind::kOwner, .indexed_bytes = end};
  // Blobs that were put meanwhile are synced but not in this batch: an opener after a crash has to
  // begin before them. Both lists are in the order of digests.
  auto next = indexed.begin();
  for (const auto& [digest, location] : pending_.places()) {
    while (next != indexed.end() && next->first < digest) ++next;
    const bool is_indexed =
        next != indexed.end() && next->first == digest && next->second == location;
    const auto at = states.find(location.segment);
    if (at != states.end() && !is_indexed)
      at->second.indexed_bytes = std::min(at->second.indexed_bytes, location.offset);
  }
  std::erase_if(unindexed_ends_, [&](const auto& segment) {
    return states[segment.first].indexed_bytes == segment.second;
  });
}

bool OwnLog::IsFlushDue() {
  const base::MutexLock lock(mutex_);
  if (bytes_since_flush_ <= folder_.options.checkpoint_bytes) return false;
  bytes_since_flush_ = 0;
  return true;
}

void OwnLog::SetLossEpoch(uint64_t epoch) {
  const base::MutexLock lock(mutex_);
  loss_epoch_ = epoch;
}

bool OwnLog::IsEpochLogged() const {
  const base::MutexLock lock(mutex_);
  return epoch_in_segments_ >= KnownEpoch();
}

absl::Status OwnLog::LogEpoch() {
  const base::MutexLock lock(mutex_);
  RETURN_IF_ERROR(RollSegment());
  epoch_in_segments_ = logged_epoch_;
  return absl::OkStatus();
}

}  // namespace galley::store
