#include "common/store/local/local_store.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/record/result.h"
#include "common/store/interface/action_result.h"
#include "common/store/interface/complete_results.h"
#include "common/store/interface/named_blobs.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/disk.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/sessions.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr int kTakenNumbersMax = 1'000;
constexpr uint64_t kAppendBytesMax = 1 << 20;

absl::Status CheckBytes(const BlobView& blob) {
  if (Digest::Of(blob.bytes) == blob.digest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("blob {}: the {} bytes given are not those of this digest",
                  blob.digest.ToString(), blob.bytes.size()));
}

// Asks what to answer when wrong bytes are found.
class CheckedReader final : public BlobReader {
 public:
  using OnLoss = std::function<absl::Status(const absl::Status& loss)>;
  CheckedReader(std::unique_ptr<BlobReader> reader, OnLoss on_loss)
      : reader_(std::move(reader)), on_loss_(std::move(on_loss)) {}

  absl::StatusOr<std::string_view> Next(size_t bytes_max) override {
    absl::StatusOr<std::string_view> piece = reader_->Next(bytes_max);
    if (absl::IsDataLoss(piece.status())) return on_loss_(piece.status());
    return piece;
  }

 private:
  const std::unique_ptr<BlobReader> reader_;
  const OnLoss on_loss_;
};

}  // namespace

LocalStore::LocalStore(std::string directory, OpenedLayout layout, Recovered recovered,
                       LocalStoreOptions options)
    : directory_(std::move(directory)),
      options_(std::move(options)),
      store_id_(std::move(layout.store_id)),
      folder_lock_(std::move(layout.folder_lock)),
      lock_(std::move(layout.lock)),
      index_(std::make_unique<LiveIndex>(
          std::move(recovered.index),
          IndexRebuild::Deps{.directory = directory_,
                             .store_id = store_id_,
                             .free_bytes_least = options_.free_bytes_least,
                             .boot_time = options_.boot_time,
                             .now = options_.now,
                             .synced_ends = &own_ends_})),
      touches_(options_.boot_time()),
      queue_([this](std::span<const CommitBatch* const> batches) { return CommitGroup(batches); }),
      sync_mark_({.append = [this](const auto& bytes) { return AppendSyncMark(directory_, bytes); },
                  .remove = [this] { return RemoveSyncMark(directory_); }}),
      segment_to_fill_(recovered.segment_to_fill),
      segment_next_(recovered.segment_next),
      loss_epoch_(recovered.loss_epoch),
      epoch_in_segments_(recovered.epoch_in_segments),
      commits_(recovered.commits) {
  for (const auto& [number, end] : recovered.worker_ends) doubtful_.Note(number, end);
  for (const auto& [number, state] : recovered.segments) {
    if (!state.is_cut) continue;
    cut_segments_.emplace(number, state.indexed_bytes);
    doubtful_.Note(number, UINT64_MAX);  // what is said to lie there never names it again
  }
}

LocalStore::~LocalStore() {
  const base::MutexLock lock(commit_mutex_);
  if (broken_.ok()) {
    if (const absl::Status status = CommitLocked(Plan(), nullptr); !status.ok())
      LogWarning("store={} closing: {}", directory_, MessageOf(status));
  }
  // Without it the next opening reads the tail again.
  if (const absl::Status status = index_->Flush(/*wait=*/true); !status.ok())
    LogWarning("store={} closing: {}", directory_, MessageOf(status));
}

absl::Status LocalStore::RollSegment() {
  if (own_ != nullptr && own_->size_bytes() <= options_.segment_bytes_max) return LogEpoch();
  if (own_ != nullptr) full_.push_back(std::exchange(own_, nullptr));
  if (segment_to_fill_.has_value()) {
    const uint64_t number = *std::exchange(segment_to_fill_, std::nullopt);
    absl::StatusOr<std::unique_ptr<SegmentFile>> last = absl::ResourceExhaustedError("full");
    const absl::StatusOr<FileStat> stat = StatFile(SegmentPath(directory_, number));
    if (stat.ok() && stat->size_bytes <= options_.segment_bytes_max)
      last = SegmentFile::Open(directory_, number);
    if (last.ok() && (*last)->size_bytes() == stat->size_bytes) {
      own_ = *std::move(last);
      own_ends_.Set(number, own_->synced_bytes());
      logged_epoch_ = own_->loss_epoch();
      return LogEpoch();
    }
  }
  ASSIGN_OR_RETURN(own_, CreateSegment(SegmentWriterKind::kOwner));
  logged_epoch_ = own_->loss_epoch();
  return absl::OkStatus();
}

// The index may have raised it, when it was made anew.
uint64_t LocalStore::KnownEpoch() const { return std::max(loss_epoch_, index_->epoch()); }

// Writes the epoch into a segment, for when the file `epoch` and the index are lost, or are older
// ones.
absl::Status LocalStore::LogEpoch() {
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
absl::StatusOr<std::unique_ptr<SegmentFile>> LocalStore::CreateSegment(SegmentWriterKind writer) {
  for (int tries = 0;; ++tries) {
    const SegmentHeader header{.writer = writer,
                               .number = segment_next_,
                               .store_id = store_id_,
                               .loss_epoch = KnownEpoch()};
    if (writer == SegmentWriterKind::kOwner) own_ends_.Set(header.number, 0);
    auto created = SegmentFile::Create(directory_, header);
    if (!created.ok()) own_ends_.Forget(header.number);
    if (!created.ok() && (!absl::IsAlreadyExists(created.status()) || tries == kTakenNumbersMax))
      return created.status();
    ++segment_next_;
    if (!created.ok()) continue;
    segments_folder_changed_ = true;
    return created;
  }
}

absl::Status LocalStore::Append(RecordKind kind, const Digest& key, std::string_view payload,
                                RecordPlace& place, uint64_t written_s) {
  RETURN_IF_ERROR(RollSegment());
  ASSIGN_OR_RETURN(place.offset, own_->Append(kind, key, payload, written_s));
  place.segment = own_->number();
  return absl::OkStatus();
}

// Places of blobs by the index, without those that went with the ends of segments.
absl::StatusOr<std::vector<std::optional<BlobLocation>>> LocalStore::KnownBlobs(
    std::span<const Digest> digests) {
  ASSIGN_OR_RETURN(std::vector<std::optional<BlobLocation>> found, index_->Blobs(digests));
  if (cut_segments_.empty()) return found;
  for (size_t i = 0; i < digests.size(); ++i) {
    std::optional<BlobLocation>& location = found[i];
    if (location.has_value() && IsCutOff(digests[i], *location)) location.reset();
  }
  return found;
}

bool LocalStore::IsCutOff(const Digest& digest, const BlobLocation& location) const {
  const auto cut = cut_segments_.find(location.segment);
  return cut != cut_segments_.end() &&
         location.offset + kRecordHeaderBytes + digest.size_bytes() > cut->second;
}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> LocalStore::Locate(
    std::span<const Digest> digests) {
  const base::SharedLock telling(telling_);
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> found = Look(digests);
  if (!found.ok()) return found;
  const absl::Time now = options_.boot_time();
  for (size_t i = 0; i < digests.size(); ++i) {
    std::optional<BlobLocation>& location = (*found)[i];
    if (!location.has_value()) continue;
    if (!condemned_.empty() && condemned_.contains(digests[i])) location = Pending(digests[i]);
    if (location.has_value()) touches_.Add(digests[i], now);
  }
  return found;
}

std::optional<BlobLocation> LocalStore::Pending(const Digest& digest) const {
  const base::MutexLock lock(mutex_);
  const auto at = pending_.find(digest);
  return at != pending_.end() ? std::optional(at->second) : std::nullopt;
}

// Notes that these are told to be there: they stay while anybody may rely on it.
void LocalStore::Tell(std::span<const Digest> digests) {
  const base::SharedLock telling(telling_);
  const absl::Time now = options_.boot_time();
  for (const Digest& digest : digests) touches_.Add(digest, now);
}

// Looks blobs up without telling anybody.
absl::StatusOr<std::vector<std::optional<BlobLocation>>> LocalStore::Look(
    std::span<const Digest> digests) {
  // Pending first: a commit that runs meanwhile moves blobs from there to the index, never back.
  std::vector<std::optional<BlobLocation>> pending(digests.size());
  {
    const base::MutexLock lock(mutex_);
    for (size_t i = 0; i < digests.size(); ++i) {
      const auto at = pending_.find(digests[i]);
      if (at != pending_.end()) pending[i] = at->second;
    }
  }
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> found = KnownBlobs(digests);
  if (!found.ok()) return found;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (!(*found)[i].has_value()) (*found)[i] = pending[i];
    if (digests[i] == Digest()) (*found)[i] = BlobLocation{};
  }
  return found;
}

absl::StatusOr<std::vector<Digest>> LocalStore::FindMissing(std::span<const Digest> digests) {
  ASSIGN_OR_RETURN(const auto found, Locate(digests));
  std::vector<Digest> missing;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (!found[i].has_value()) missing.push_back(digests[i]);
  }
  return missing;
}

absl::StatusOr<Blob> LocalStore::Get(const Digest& digest) {
  if (digest == Digest()) return MakeBlob("");
  ASSIGN_OR_RETURN(const auto found, Locate(std::span(&digest, 1)));
  if (!found[0].has_value())
    return absl::NotFoundError(
        fmt::format("blob {} is not in store {}", digest.ToString(), directory_));
  absl::StatusOr<Blob> blob = ReadBlobAt(directory_, digest, *found[0]);
  if (!absl::IsDataLoss(blob.status())) return blob;
  RETURN_IF_ERROR(GiveUp(digest, blob.status()));
  return Get(digest);  // somebody else quarantined or replaced it meanwhile
}

// Reads a blob for a collection: it does not stay because it was read.
absl::StatusOr<Blob> LocalStore::GetUntold(const Digest& digest) {
  if (digest == Digest()) return MakeBlob("");
  ASSIGN_OR_RETURN(const auto found, Look(std::span(&digest, 1)));
  if (!found[0].has_value())
    return absl::NotFoundError(
        fmt::format("blob {} is not in store {}", digest.ToString(), directory_));
  return ReadBlobAt(directory_, digest, *found[0]);
}

// The blobs that a result names, ours or another program's. A result that cannot be read names
// nothing.
std::vector<Digest> LocalStore::NamedBy(RecordKind kind, const std::string& payload) {
  std::vector<Digest> named;
  if (kind == RecordKind::kResult) {
    if (const auto decoded = record::DecodeResult(payload); decoded.ok())
      AppendNamedBlobs(*decoded, named);
    return named;
  }
  const absl::StatusOr<PutActionResult> put = DecodeActionResult(payload);
  if (!put.ok()) return named;
  return NamedBlobs(put->result, [&](const Digest& digest) { return GetUntold(digest); })
      .value_or(std::move(named));
}

// Handles wrong bytes of a blob: answers `loss`, with what was done about it. OK: the blob is right
// by now.
absl::Status LocalStore::GiveUp(const Digest& digest, const absl::Status& loss) {
  bool was_wrong = false;
  RETURN_IF_ERROR(Annotate(QuarantineIfWrong(digest, was_wrong), MessageOf(loss)));
  if (!was_wrong) return absl::OkStatus();
  return absl::DataLossError(MessageOf(loss) + "; it is quarantined: cook again what needs it");
}

absl::StatusOr<std::unique_ptr<BlobReader>> LocalStore::NewReader(const Digest& digest,
                                                                  uint64_t offset) {
  RETURN_IF_ERROR(CheckOffset(digest, offset));
  ASSIGN_OR_RETURN(const auto found, Locate(std::span(&digest, 1)));
  const bool is_file = found[0].has_value() && found[0]->segment == 0 && digest != Digest();
  if (!is_file) return BlobStore::NewReader(digest, offset);
  absl::StatusOr<std::unique_ptr<BlobReader>> reader =
      NewBlobFileReader(directory_, digest, offset);
  if (reader.ok()) {
    return std::make_unique<CheckedReader>(*std::move(reader),
                                           [this, digest](const absl::Status& loss) {
                                             const absl::Status status = GiveUp(digest, loss);
                                             return status.ok() ? loss : status;
                                           });
  }
  if (!absl::IsDataLoss(reader.status())) return reader;
  RETURN_IF_ERROR(GiveUp(digest, reader.status()));
  return NewReader(digest, offset);
}

absl::StatusOr<std::unique_ptr<BlobWriter>> LocalStore::NewWriter(const Digest& digest) {
  if (digest.size_bytes() <= kSmallBlobBytesMax) return BlobStore::NewWriter(digest);
  RETURN_IF_ERROR(CheckFreeSpace(directory_, digest.size_bytes(), options_.free_bytes_margin));
  return NewBlobFileWriter(directory_, digest, [this, digest] { return NotePendingFile(digest); });
}

absl::Status LocalStore::Put(const Digest& digest, std::string_view bytes) {
  const BlobView blob{.digest = digest, .bytes = bytes};
  return std::move(PutMany(std::span(&blob, 1)).front());
}

// Work that costs the same for one blob and for many is done once: a question to the index, a look
// at the disk's free space, a lock.
std::vector<absl::Status> LocalStore::PutMany(std::span<const BlobView> blobs) {
  std::vector<absl::Status> outcomes(blobs.size());
  std::vector<size_t> right;  // of `blobs`
  std::vector<Digest> digests;
  for (size_t i = 0; i < blobs.size(); ++i) {
    outcomes[i] = CheckBytes(blobs[i]);
    if (!outcomes[i].ok()) continue;
    right.push_back(i);
    digests.push_back(blobs[i].digest);
  }
  const auto found = Locate(digests);
  Disk disk(directory_);
  std::vector<size_t> small;
  std::vector<BlobView> views;
  for (size_t at = 0; at < right.size(); ++at) {
    const BlobView& blob = blobs[right[at]];
    if (!found.ok()) {
      outcomes[right[at]] = found.status();
    } else if ((*found)[at].has_value() && disk.Has(blob.digest, *(*found)[at]).value_or(true)) {
      continue;
    } else if (blob.bytes.size() > kSmallBlobBytesMax) {
      outcomes[right[at]] = PutFile(blob);
    } else {
      small.push_back(right[at]);
      views.push_back(blob);
    }
  }
  if (small.empty()) return outcomes;
  const absl::Status status = PutSmall(views);
  for (const size_t i : small) outcomes[i] = status;
  return outcomes;
}

absl::Status LocalStore::PutFile(const BlobView& blob) {
  RETURN_IF_ERROR(
      CheckFreeSpace(directory_, RecordSpan(blob.bytes.size()), options_.free_bytes_margin));
  RETURN_IF_ERROR(WriteBlobFile(directory_, blob.digest, blob.bytes));
  return NotePendingFile(blob.digest);
}

// An error: some of them may be pending all the same.
absl::Status LocalStore::PutSmall(std::span<const BlobView> blobs) {
  uint64_t bytes = 0;
  std::vector<Digest> digests;
  for (const BlobView& blob : blobs) {
    bytes += RecordSpan(blob.bytes.size());
    digests.push_back(blob.digest);
  }
  RETURN_IF_ERROR(CheckFreeSpace(directory_, bytes, options_.free_bytes_margin));
  {
    const base::MutexLock lock(mutex_);
    std::vector<SegmentFile::KeyedPayload> group;
    absl::flat_hash_set<Digest> chosen;
    uint64_t group_bytes = 0;
    for (const BlobView& blob : blobs) {
      if (pending_.contains(blob.digest) || !chosen.insert(blob.digest).second) continue;
      group.push_back({.key = blob.digest, .payload = blob.bytes});
      group_bytes += blob.bytes.size();
      if (group_bytes < kAppendBytesMax) continue;
      RETURN_IF_ERROR(AppendPending(group));
      group.clear();
      group_bytes = 0;
    }
    RETURN_IF_ERROR(AppendPending(group));
  }
  Tell(digests);
  return FlushPendingIfMany();
}

absl::Status LocalStore::AppendPending(std::span<const SegmentFile::KeyedPayload> blobs) {
  if (blobs.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(RollSegment());
  ASSIGN_OR_RETURN(uint64_t offset, own_->Append(RecordKind::kBlob, blobs));
  for (const SegmentFile::KeyedPayload& blob : blobs) {
    pending_[blob.key] = BlobLocation{.segment = own_->number(), .offset = offset};
    pending_bytes_ += blob.payload.size();
    offset += RecordSpan(blob.payload.size());
  }
  return absl::OkStatus();
}

// Notes a file that lies there and is not synced.
absl::Status LocalStore::NotePendingFile(const Digest& digest) {
  ASSIGN_OR_RETURN(const auto found, Locate(std::span(&digest, 1)));
  if (found[0].has_value()) return absl::OkStatus();
  {
    const base::MutexLock lock(mutex_);
    if (pending_.emplace(digest, BlobLocation{}).second) pending_bytes_ += digest.size_bytes();
  }
  Tell(std::span(&digest, 1));
  return FlushPendingIfMany();
}

absl::Status LocalStore::FlushPendingIfMany() {
  {
    const base::MutexLock lock(mutex_);
    if (pending_.size() <= options_.pending_blobs_max &&
        pending_bytes_ <= options_.pending_bytes_max)
      return absl::OkStatus();
  }
  return Commit({});
}

// The payload of a record of ours. DATA_LOSS when another lies there, or wrong bytes.
absl::StatusOr<std::string> LocalStore::ReadLogged(RecordKind kind, const Digest& key,
                                                   const RecordPlace& place) {
  absl::StatusOr<Record> record = ReadRecord(directory_, place.segment, place.offset);
  if (record.status().code() == absl::StatusCode::kNotFound)
    return absl::DataLossError(record.status().message());
  RETURN_IF_ERROR(record.status());
  if (record->header.kind != kind || record->header.key != key) {
    return absl::DataLossError(
        fmt::format("segment {:016x} offset {}: another record lies there than the index says",
                    place.segment, place.offset));
  }
  return std::move(record->payload);
}

absl::StatusOr<std::vector<std::vector<std::string>>> LocalStore::ObservationSets(
    std::span<const Digest> weak_keys) {
  ASSIGN_OR_RETURN(const auto places, index_->ObservationSets(weak_keys));
  std::vector<std::vector<std::string>> answer(weak_keys.size());
  for (size_t i = 0; i < weak_keys.size(); ++i) {
    for (const SetPlace& set : places[i]) {
      absl::StatusOr<std::string> bytes =
          ReadLogged(RecordKind::kObservationSet, weak_keys[i], set.place);
      if (absl::IsDataLoss(bytes.status())) {
        ASSIGN_OR_RETURN(const auto now, index_->ObservationSets(std::span(&weak_keys[i], 1)));
        for (const SetPlace& other : now.front()) {
          if (other.checksum == set.checksum && other.place != set.place)
            bytes = ReadLogged(RecordKind::kObservationSet, weak_keys[i], other.place);
        }
      }
      if (bytes.ok()) {
        answer[i].push_back(*std::move(bytes));
      } else if (bytes.status().code() == absl::StatusCode::kDataLoss) {
        // A lost set costs a load, never a wrong answer; Verify takes it out.
        LogWarning("store={} weak_key={} {}", directory_, weak_keys[i].hex(),
                   MessageOf(bytes.status()));
      } else {
        return bytes.status();
      }
    }
  }
  return answer;
}

absl::StatusOr<std::vector<std::optional<std::string>>> LocalStore::Results(
    std::span<const Digest> action_keys) {
  ASSIGN_OR_RETURN(std::vector<std::optional<std::string>> answer,
                   ReadTold(RecordKind::kResult, action_keys));
  ASSIGN_OR_RETURN(const std::vector<bool> complete,
                   AreComplete(answer, [this](const auto& named) { return Locate(named); }));
  for (size_t i = 0; i < answer.size(); ++i) {
    if (!complete[i]) answer[i].reset();
  }
  return answer;
}

absl::StatusOr<std::vector<std::optional<std::string>>> LocalStore::ActionResults(
    std::string_view instance, std::span<const Digest> actions) {
  std::vector<Digest> keys;
  for (const Digest& action : actions) keys.push_back(ActionResultKey(instance, action));
  ASSIGN_OR_RETURN(std::vector<std::optional<std::string>> answer,
                   ReadTold(RecordKind::kActionResult, keys));
  for (std::optional<std::string>& payload : answer) {
    if (!payload.has_value()) continue;
    absl::StatusOr<PutActionResult> put = DecodeActionResult(*payload);
    payload = put.ok() ? std::optional(std::move(put->result)) : std::nullopt;
  }
  return CompleteActionResults(*this, std::move(answer));
}

// Reads results by their keys; they count as told and as used.
absl::StatusOr<std::vector<std::optional<std::string>>> LocalStore::ReadTold(
    RecordKind kind, std::span<const Digest> keys) {
  const bool is_ours = kind == RecordKind::kResult;
  std::vector<std::optional<ResultPlace>> places;
  {
    const base::SharedLock telling(telling_);
    ASSIGN_OR_RETURN(places, is_ours ? index_->Results(keys) : index_->ActionResults(keys));
    const absl::Time now = options_.boot_time();
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!condemned_.empty() && condemned_.contains(keys[i])) places[i].reset();
      if (places[i].has_value()) touches_.Add(keys[i], now);
    }
  }
  const uint32_t hours = HoursOf(options_.now());
  {
    const base::MutexLock lock(mutex_);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (places[i].has_value() && places[i]->used_hours < hours)
        (is_ours ? used_results_ : used_action_results_).insert(keys[i]);
    }
  }
  return ReadLoggedResults(kind, keys, places);
}

// A result that is lost is answered as none, and the log says so; Verify takes it out.
absl::StatusOr<std::vector<std::optional<std::string>>> LocalStore::ReadLoggedResults(
    RecordKind kind, std::span<const Digest> keys,
    std::span<const std::optional<ResultPlace>> places) {
  std::vector<std::optional<std::string>> answer(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!places[i].has_value()) continue;
    absl::StatusOr<std::string> bytes = ReadLogged(kind, keys[i], *places[i]);
    if (absl::IsDataLoss(bytes.status())) {
      // A collection may have moved it meanwhile.
      const std::span key(&keys[i], 1);
      ASSIGN_OR_RETURN(const auto now, kind == RecordKind::kResult ? index_->Results(key)
                                                                   : index_->ActionResults(key));
      const std::optional<ResultPlace>& place = now.front();
      if (place.has_value() && RecordPlace(*place) != RecordPlace(*places[i]))
        bytes = ReadLogged(kind, keys[i], *place);
    }
    if (bytes.ok()) {
      answer[i] = *std::move(bytes);
    } else if (bytes.status().code() == absl::StatusCode::kDataLoss) {
      LogWarning("store={} action_key={} {}", directory_, keys[i].hex(), MessageOf(bytes.status()));
    } else {
      return bytes.status();
    }
  }
  return answer;
}

// So that no number is given twice: what was told is in a segment first, whatever becomes of the
// file `epoch` and of the index.
absl::Status LocalStore::LogEpochThatIsTold() {
  {
    const base::MutexLock lock(mutex_);
    if (epoch_in_segments_ >= KnownEpoch()) return absl::OkStatus();
  }
  const base::MutexLock commit_lock(commit_mutex_);
  RETURN_IF_ERROR(broken_);
  {
    const base::MutexLock lock(mutex_);
    RETURN_IF_ERROR(RollSegment());
    epoch_in_segments_ = logged_epoch_;
  }
  return SyncOwnAlone();
}

absl::StatusOr<StoreInfo> LocalStore::Info() {
  // Not an error: a full disk keeps nobody from reading.
  if (const absl::Status logged = LogEpochThatIsTold(); !logged.ok())
    LogWarning("store={} the loss epoch is in no segment yet: {}", directory_, MessageOf(logged));
  return StoreInfo{.directory = directory_,
                   .store_id = store_id_,
                   .loss_epoch = index_->epoch(),
                   .commits = commits_};
}

absl::StatusOr<uint64_t> LocalStore::AllocateSegment() {
  RETURN_IF_ERROR(CheckFreeSpace(directory_, kSegmentHeaderBytes, options_.free_bytes_margin));
  const base::MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const auto created, CreateSegment(SegmentWriterKind::kWorker));
  return created->number();
}

absl::StatusOr<std::vector<PublishedRoot>> LocalStore::Roots(std::string_view project_id) {
  ASSIGN_OR_RETURN(const std::vector<IndexedRoot> indexed, index_->Roots(project_id));
  std::vector<PublishedRoot> roots;
  for (const IndexedRoot& root : indexed) roots.push_back(root.root);
  return roots;
}

absl::StatusOr<std::unique_ptr<Store>> OpenLocalStore(const std::string& directory) {
  return OpenLocalStore(directory, LocalStoreOptions());
}

absl::StatusOr<std::unique_ptr<Store>> OpenLocalStore(const std::string& directory,
                                                      const LocalStoreOptions& options) {
  const std::string absolute = AbsolutePath(directory);
  ASSIGN_OR_RETURN(OpenedLayout layout, OpenLayout(absolute));
  if (const absl::Status room = CheckFreeSpace(absolute, 0, options.free_bytes_least);
      absl::IsResourceExhausted(room)) {
    return absl::ResourceExhaustedError(
        fmt::format("{}. It is opened, and `galley store gc` makes more room, with {} bytes free",
                    MessageOf(room), options.free_bytes_least));
  } else {
    RETURN_IF_ERROR(room);
  }
  LocalStoreOptions complete = options;
  if (!complete.sync) complete.sync = [](int fd) { return ::fdatasync(fd); };
  if (!complete.boot_time) complete.boot_time = BootTime;
  if (!complete.now) complete.now = absl::Now;
  if (!complete.pause) complete.pause = absl::SleepFor;
  absl::StatusOr<Recovered> recovered = Recover(absolute, layout, complete);
  RETURN_IF_ERROR(Annotate(recovered.status(), "opening store " + absolute));
  auto store = std::make_unique<LocalStore>(absolute, std::move(layout), *std::move(recovered),
                                            std::move(complete));
  store->RemoveOldWriterNotes();
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace galley::store
