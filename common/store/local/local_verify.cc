// The part of LocalStore for wrong bytes: quarantine, loss, Verify; and its numbers.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/clock.h"
#include "common/base/healed.h"
#include "common/base/log.h"
#include "common/base/rate.h"
#include "common/base/status_macros.h"
#include "common/store/interface/kept_roots.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/local_unadopted.h"
#include "common/store/local/quarantine.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/verify_cursor.h"
#include "common/store/local/write_anew.h"
#include "common/tree/tree.h"
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
  auto index = index_->NewBatch();
  RETURN_IF_ERROR(RaiseEpoch(*index));
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
  if (const absl::Status trimmed =
          TrimQuarantine(directory_, options_.quarantine_bytes_max, kQuarantineFilesMax);
      !trimmed.ok())
    LogWarning("store={} {}", directory_, MessageOf(trimmed));
  return index_->Flush(/*wait=*/true);
}

// Reads it, in pieces where it is large.
absl::Status LocalStore::CheckBlob(const Digest& digest, const BlobLocation& location) {
  if (location.segment == 0 && digest != Digest()) return CheckBlobFile(directory_, digest);
  return ReadBlobAt(directory_, digest, location).status();
}

absl::Status LocalStore::QuarantineIfWrong(const Digest& digest, bool& was_wrong) {
  const base::MutexLock lock(commit_mutex_);
  RETURN_IF_ERROR(broken_);
  RETURN_IF_ERROR(RestoreOwnSegments());
  ASSIGN_OR_RETURN(const auto found, Locate(std::span(&digest, 1)));
  if (!found[0].has_value()) return absl::OkStatus();
  const absl::Status status = CheckBlob(digest, *found[0]);
  if (!IsLoss(status)) return status;
  was_wrong = true;
  LogWarning("store={} digest={} quarantined: {}", directory_, digest.ToString(),
             MessageOf(status));
  RETURN_IF_ERROR(MoveToQuarantine(directory_, digest, *found[0]));
  return Lose({digest});
}

// Verifier: one run. It reads without any lock, and takes commit_mutex_ for what it has found
// wrong, when it looks again whether that still lies where it was read.
class LocalStore::Verifier {
 public:
  static constexpr absl::Duration kPauseMax = absl::Milliseconds(200);

  Verifier(LocalStore& store, const VerifyOptions& options)
      : store_(store), options_(options), clock_(store.options_.boot_time) {
    if (options.bytes_per_second != 0) {
      const auto rate = static_cast<double>(options.bytes_per_second);
      bucket_.emplace(TokenBucket::Options{.per_second = rate, .burst = rate * kBurstSeconds},
                      clock_);
    }
  }

  absl::StatusOr<VerifyReport> Run() {
    RETURN_IF_ERROR(store_.Commit({}));
    TakeUpCursor();
    if (const absl::Status status = RunPhases(); !status.ok()) {
      if (Settle().ok()) Save();
      return status;
    }
    RETURN_IF_ERROR(RemoveVerifyCursor(store_.directory_));
    VerifyReport report{
        .blobs = cursor_.blobs, .bytes = cursor_.bytes, .problems = std::move(cursor_.problems)};
    if (cursor_.problems_untold != 0)
      report.problems.push_back(fmt::format("and {} more", cursor_.problems_untold));
    if (is_resumed_) report.resumed = cursor_.begun;
    return report;
  }

 private:
  static constexpr size_t kPageKeys = 256;
  static constexpr size_t kPieceBytes = 1 << 20;
  static constexpr double kBurstSeconds = 0.25;
  static constexpr absl::Duration kTellInterval = absl::Seconds(1);
  static constexpr absl::Duration kSaveInterval = absl::Seconds(5);
  static constexpr uint64_t kSaveBytes = 256 << 20;
  static constexpr absl::Duration kCursorAgeMax = absl::Hours(24 * 30);
  static constexpr int kSalvageRoundsMax = 8;

  class BootClock final : public Clock {
   public:
    explicit BootClock(const std::function<absl::Time()>& now) : now_(now) {}
    absl::Time Now() override { return now_(); }
    absl::Time Monotonic() override { return now_(); }

   private:
    const std::function<absl::Time()>& now_;
  };
  // A blob whose bytes were wrong when they were read from there.
  struct Suspect {
    LocatedBlob blob;
    std::optional<FileStat> file;  // before it was read; none: it was gone, or is in a segment
    std::string why;
  };
  // Entry: a record of the log, as the index has it.
  struct Entry {
    Digest key;
    RecordPlace place;
    std::string why;
  };

  void TakeUpCursor() {
    const absl::Time now = store_.options_.now();
    cursor_.begun = now;
    if (options_.restart) return;
    absl::StatusOr<VerifyCursor> left = ReadVerifyCursor(store_.directory_);
    if (!left.ok()) {
      if (!absl::IsNotFound(left.status()))
        NoteHealed(fmt::format("{}: {}; the verify began anew",
                               JoinPath(store_.directory_, "verify"), MessageOf(left.status())));
      return;
    }
    if (left->begun + kCursorAgeMax < now) return;
    cursor_ = *std::move(left);
    is_resumed_ = true;
  }

  absl::Status RunPhases() {
    RETURN_IF_ERROR(store_.index_->CheckFiles());
    saved_ = store_.options_.boot_time();
    using Phase = absl::Status (Verifier::*)();
    struct Step {
      VerifyPhase phase;
      Phase run;
    };
    constexpr Step kSteps[] = {
        {VerifyPhase::kBlobs, &Verifier::Blobs},
        {VerifyPhase::kResults, &Verifier::Log},
        {VerifyPhase::kActionResults, &Verifier::Log},
        {VerifyPhase::kObservationSets, &Verifier::Log},
        {VerifyPhase::kRoots, &Verifier::Roots},
        {VerifyPhase::kSegments, &Verifier::Segments},
        {VerifyPhase::kSalvage, &Verifier::Salvage},
    };
    for (const Step& step : kSteps) {
      if (step.phase < cursor_.phase) continue;
      if (step.phase != cursor_.phase) cursor_.EnterPhase(step.phase);
      RETURN_IF_ERROR((this->*step.run)());
    }
    return absl::OkStatus();
  }

  // So many bytes were read: waits as the rate asks, and tells how far it is.
  absl::Status Used(uint64_t bytes) {
    unsaved_bytes_ += bytes;
    absl::Duration wait = bucket_.has_value() ? bucket_->Take(bytes) : absl::ZeroDuration();
    while (wait > absl::ZeroDuration()) {
      const absl::Duration pause = std::min(wait, kPauseMax);
      store_.options_.pause(pause);
      wait -= pause;
      RETURN_IF_ERROR(Tell());
    }
    return Tell();
  }
  absl::Status Tell() {
    const absl::Time now = store_.options_.boot_time();
    if (!options_.on_progress || now - told_ < kTellInterval) return absl::OkStatus();
    told_ = now;
    const bool goes_on =
        options_.on_progress({.phase = std::string(NameOf(cursor_.phase)),
                              .blobs = cursor_.blobs,
                              .bytes = cursor_.bytes,
                              .bytes_total = store_.index_->counters().blob_bytes,
                              .problems = cursor_.problems.size() + cursor_.problems_untold});
    return goes_on ? absl::OkStatus()
                   : absl::AbortedError("the verify was stopped; the next one goes on from there");
  }

  bool IsTimeToSave() const {
    return unsaved_bytes_ >= kSaveBytes || store_.options_.boot_time() - saved_ >= kSaveInterval;
  }
  // All up to what it says is read and settled.
  void Save() {
    if (const absl::Status saved = WriteVerifyCursor(store_.directory_, cursor_); !saved.ok())
      LogWarning("store={} how far a verify came is not kept: {}", store_.directory_,
                 MessageOf(saved));
    saved_ = store_.options_.boot_time();
    unsaved_bytes_ = 0;
  }
  absl::Status SettleAndSave() {
    RETURN_IF_ERROR(Settle());
    Save();
    return absl::OkStatus();
  }

  absl::Status Blobs() {
    while (true) {
      std::vector<LocatedBlob> page;
      RETURN_IF_ERROR(store_.index_->ForEachBlob({cursor_.after, kPageKeys},
                                                 [&](const LocatedBlob& blob) -> absl::Status {
                                                   page.push_back(blob);
                                                   return absl::OkStatus();
                                                 }));
      if (page.empty()) return absl::OkStatus();
      for (const LocatedBlob& blob : page) {
        RETURN_IF_ERROR(Check(blob));
        ++cursor_.blobs;
        cursor_.bytes += blob.first.size_bytes();
        cursor_.after = blob.first;
        if (IsTimeToSave()) RETURN_IF_ERROR(SettleAndSave());
      }
      const bool has_found = !suspects_.empty();
      RETURN_IF_ERROR(Settle());
      if (has_found) Save();
    }
  }

  absl::Status Check(const LocatedBlob& blob) {
    const std::optional<FileStat> file = FileOf(blob);
    const absl::Status status = Read(blob);
    if (!IsLoss(status)) return status;
    suspects_.push_back({blob, file, std::string(MessageOf(status))});
    return absl::OkStatus();
  }
  std::optional<FileStat> FileOf(const LocatedBlob& blob) const {
    if (blob.second.segment != 0) return std::nullopt;
    const absl::StatusOr<FileStat> stat = StatFile(BlobFilePath(store_.directory_, blob.first));
    return stat.ok() ? std::optional(*stat) : std::nullopt;
  }
  absl::Status Read(const LocatedBlob& blob) {
    const auto& [digest, location] = blob;
    if (location.segment != 0) {
      RETURN_IF_ERROR(Used(RecordSpan(digest.size_bytes())));
      return ReadBlobAt(store_.directory_, digest, location).status();
    }
    ASSIGN_OR_RETURN(const std::unique_ptr<BlobReader> reader,
                     NewBlobFileReader(store_.directory_, digest, 0));
    while (true) {
      ASSIGN_OR_RETURN(const std::string_view piece, reader->Next(kPieceBytes));
      if (piece.empty()) return absl::OkStatus();
      RETURN_IF_ERROR(Used(piece.size()));
    }
  }

  // Takes out the blobs that were found wrong, unless they went, or were put again, since they were
  // read.
  absl::Status Settle() {
    if (suspects_.empty()) return absl::OkStatus();
    const base::MutexLock lock(store_.commit_mutex_);
    RETURN_IF_ERROR(store_.broken_);
    std::vector<Digest> digests, lost, gone;
    for (const Suspect& suspect : suspects_) digests.push_back(suspect.blob.first);
    ASSIGN_OR_RETURN(const auto found, store_.Look(digests));
    ASSIGN_OR_RETURN(const auto indexed, store_.index_->Blobs(digests));
    for (size_t i = 0; i < suspects_.size(); ++i) {
      const auto& [digest, location] = suspects_[i].blob;
      if (!found[i].has_value() && indexed[i] == location && store_.IsCutOff(digest, location))
        gone.push_back(digest);
      if (found[i] != location || !IsSameFile(suspects_[i].file, FileOf(suspects_[i].blob)))
        continue;
      LogWarning("store={} digest={} quarantined: {}", store_.directory_, digest.ToString(),
                 suspects_[i].why);
      RETURN_IF_ERROR(MoveToQuarantine(store_.directory_, digest, location));
      lost.push_back(digest);
    }
    suspects_.clear();
    if (lost.empty() && gone.empty()) return absl::OkStatus();
    std::vector<Digest> all = lost;
    all.insert(all.end(), gone.begin(), gone.end());
    RETURN_IF_ERROR(store_.Lose(all));
    for (const Digest& digest : lost)
      cursor_.AddProblem(
          fmt::format("blob {}: its bytes were wrong; quarantined, cook again what needs it",
                      digest.ToString()));
    for (const Digest& digest : gone)
      cursor_.AddProblem(
          fmt::format("blob {}: it is gone with the end of its segment; cook again what needs it",
                      digest.ToString()));
    return absl::OkStatus();
  }
  // (A link to it made meanwhile changes its times.)
  static bool IsSameFile(const std::optional<FileStat>& a, const std::optional<FileStat>& b) {
    if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
    return a->inode == b->inode && a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns;
  }

  // Results, or observation sets: those that cannot be read are dropped.
  absl::Status Log() {
    while (true) {
      std::vector<Entry> page, wrong;
      RETURN_IF_ERROR(List({cursor_.after, kPageKeys}, page));
      if (page.empty()) return absl::OkStatus();
      for (Entry& entry : page) {
        const absl::StatusOr<std::string> bytes =
            store_.ReadLogged(KindOf(cursor_.phase), entry.key, entry.place);
        RETURN_IF_ERROR(Used(kRecordHeaderBytes + (bytes.ok() ? bytes->size() : 0)));
        if (bytes.ok()) continue;
        if (!IsLoss(bytes.status())) return bytes.status();
        entry.why = MessageOf(bytes.status());
        wrong.push_back(entry);
      }
      RETURN_IF_ERROR(Drop(wrong));
      cursor_.after = page.back().key;
      if (!wrong.empty() || IsTimeToSave()) Save();
    }
  }
  static RecordKind KindOf(VerifyPhase phase) {
    return phase == VerifyPhase::kResults         ? RecordKind::kResult
           : phase == VerifyPhase::kActionResults ? RecordKind::kActionResult
                                                  : RecordKind::kObservationSet;
  }
  absl::Status List(const KeyRange& range, std::vector<Entry>& entries) const {
    const auto add = [&](const Digest& key, const RecordPlace& place) {
      entries.push_back({.key = key, .place = place, .why = {}});
      return absl::OkStatus();
    };
    const auto add_set = [&](const Digest& key, const SetPlace& set) {
      return add(key, set.place);
    };
    switch (KindOf(cursor_.phase)) {
      case RecordKind::kResult:
        return store_.index_->ForEachResult(range, add);
      case RecordKind::kActionResult:
        return store_.index_->ForEachActionResult(range, add);
      default:
        return store_.index_->ForEachObservationSet(range, add_set);
    }
  }
  absl::Status Drop(const std::vector<Entry>& wrong) {
    if (wrong.empty()) return absl::OkStatus();
    const base::MutexLock lock(store_.commit_mutex_);
    RETURN_IF_ERROR(store_.broken_);
    auto index = store_.index_->NewBatch();
    for (const Entry& entry : wrong) RETURN_IF_ERROR(DropOne(entry, *index));
    return WriteAndLose(std::move(index));
  }
  // Drops an entry, unless another one took its place since it was read.
  absl::Status DropOne(const Entry& entry, IndexBatch& index) {
    const std::span key(&entry.key, 1);
    const auto is_there = [&](const auto& places) {
      return places->front().has_value() &&
             static_cast<const RecordPlace&>(*places->front()) == entry.place;
    };
    switch (KindOf(cursor_.phase)) {
      case RecordKind::kResult: {
        const auto places = store_.index_->Results(key);
        RETURN_IF_ERROR(places.status());
        if (!is_there(places)) return absl::OkStatus();
        cursor_.AddProblem(fmt::format("result {}: {}; dropped, it is cooked again",
                                       entry.key.ToString(), entry.why));
        return index.RemoveResult(entry.key);
      }
      case RecordKind::kActionResult: {
        const auto places = store_.index_->ActionResults(key);
        RETURN_IF_ERROR(places.status());
        if (!is_there(places)) return absl::OkStatus();
        cursor_.AddProblem(fmt::format("another program's result {}: {}; dropped",
                                       entry.key.ToString(), entry.why));
        return index.RemoveActionResult(entry.key);
      }
      default:
        cursor_.AddProblem(
            fmt::format("observation set of {}: {}; dropped", entry.key.ToString(), entry.why));
        return index.RemoveObservationSet(entry.key, entry.place);
    }
  }
  absl::Status WriteAndLose(std::unique_ptr<IndexBatch> index)
      GALLEY_REQUIRES(store_.commit_mutex_) {
    if (index->size() == 0) return absl::OkStatus();
    RETURN_IF_ERROR(store_.SyncOwnAlone());
    RETURN_IF_ERROR(store_.NoteSegments({}, *index));
    RETURN_IF_ERROR(store_.WriteIndex(std::move(index)));
    return store_.Lose({});
  }

  // One that cannot be read is written again from the index.
  absl::Status Roots() {
    std::vector<IndexedRoot> roots, wrong;
    RETURN_IF_ERROR(store_.index_->ForEachRoot([&](const IndexedRoot& root) -> absl::Status {
      roots.push_back(root);
      return absl::OkStatus();
    }));
    for (const IndexedRoot& root : roots) {
      RETURN_IF_ERROR(Used(kRecordHeaderBytes));
      const absl::Status status =
          store_.ReadLogged(RecordKind::kPublished, root.root.root, root.place).status();
      if (!IsLoss(status)) {
        RETURN_IF_ERROR(status);
        continue;
      }
      cursor_.AddProblem(
          fmt::format("root {}: {}; written again", root.root.root.ToString(), MessageOf(status)));
      wrong.push_back(root);
    }
    if (wrong.empty()) return absl::OkStatus();
    const base::MutexLock lock(store_.commit_mutex_);
    RETURN_IF_ERROR(store_.broken_);
    auto index = store_.index_->NewBatch();
    for (const IndexedRoot& root : wrong) {
      const base::MutexLock append_lock(store_.mutex_);
      RecordPlace place;
      RETURN_IF_ERROR(
          store_.Append(RecordKind::kPublished, root.root.root, EncodePublished(root.root), place));
      RETURN_IF_ERROR(index->SetRoot(root.root, place));
    }
    return WriteAndLose(std::move(index));
  }

  absl::Status Segments() {
    ASSIGN_OR_RETURN(const auto states, store_.index_->Segments());
    for (auto at = states.upper_bound(cursor_.after_segment); at != states.end(); ++at) {
      RETURN_IF_ERROR(Segment(at->first, at->second));
      cursor_.after_segment = at->first;
      if (IsTimeToSave()) Save();
    }
    return absl::OkStatus();
  }

  absl::Status Segment(uint64_t number, const SegmentState& state) {
    ASSIGN_OR_RETURN(std::vector<DamagedRange> damaged, NewDamage(number, state));
    if (damaged.empty()) return absl::OkStatus();
    // A record that was being written while it was read is whole when it is read again.
    ASSIGN_OR_RETURN(const std::vector<DamagedRange> again, NewDamage(number, state));
    std::erase_if(damaged, [&](const DamagedRange& range) {
      return std::find(again.begin(), again.end(), range) == again.end();
    });
    if (damaged.empty()) return absl::OkStatus();
    if (state.writer == SegmentWriterKind::kOwner) RETURN_IF_ERROR(Relog());
    const base::MutexLock lock(store_.commit_mutex_);
    RETURN_IF_ERROR(store_.broken_);
    auto index = store_.index_->NewBatch();
    for (const DamagedRange& range : damaged) {
      RETURN_IF_ERROR(index->NoteDamage({number, range.offset}));
      cursor_.AddProblem(
          fmt::format("segment {:016x} offset {}: {} bytes are wrong; noted, they are never used",
                      number, range.offset, range.size_bytes));
    }
    if (state.writer == SegmentWriterKind::kOwner) return WriteAndLose(std::move(index));
    return store_.WriteIndex(std::move(index));
  }

  // The damage of a segment that is not noted yet.
  absl::StatusOr<std::vector<DamagedRange>> NewDamage(uint64_t number, const SegmentState& state) {
    std::vector<DamagedRange> damaged;
    const absl::StatusCode header =
        ReadSegmentHeader(store_.directory_, number, store_.store_id_).status().code();
    if (header == absl::StatusCode::kNotFound)
      return damaged;  // its blobs are found missing; the next opening notes the rest
    if (header != absl::StatusCode::kOk)
      damaged.push_back({.offset = 0, .size_bytes = kSegmentHeaderBytes});
    const auto pass = [&](uint64_t, const RecordHeader& record, std::string_view) {
      return Used(RecordSpan(record.payload_bytes));
    };
    absl::StatusOr<ScanReport> scan =
        ScanSegment(store_.directory_, number, kSegmentHeaderBytes, pass);
    if (absl::IsNotFound(scan.status())) return std::vector<DamagedRange>();  // collected meanwhile
    RETURN_IF_ERROR(scan.status());
    damaged.insert(damaged.end(), scan->damaged.begin(), scan->damaged.end());
    // A worker may be writing behind what was adopted; what is before that has to be whole.
    if (scan->whole_end < state.indexed_bytes)
      damaged.push_back(
          {.offset = scan->whole_end, .size_bytes = state.indexed_bytes - scan->whole_end});
    std::vector<DamagedRange> unknown;
    for (const DamagedRange& range : damaged) {
      ASSIGN_OR_RETURN(const bool is_known, store_.index_->IsKnownDamage({number, range.offset}));
      if (!is_known) unknown.push_back(range);
    }
    return unknown;
  }

  // Says again where the blobs lie that only adopted records tell of, after one of those was
  // damaged.
  absl::Status Relog() {
    std::optional<Digest> after;
    while (true) {
      const base::MutexLock lock(store_.commit_mutex_);
      RETURN_IF_ERROR(store_.broken_);
      std::vector<LocatedBlob> blobs;
      RETURN_IF_ERROR(store_.index_->ForEachBlob({after, kAdoptedMax},
                                                 [&](const LocatedBlob& blob) -> absl::Status {
                                                   blobs.push_back(blob);
                                                   return absl::OkStatus();
                                                 }));
      if (blobs.empty()) return absl::OkStatus();
      after = blobs.back().first;
      RETURN_IF_ERROR(store_.AppendAdopted(blobs));
      RETURN_IF_ERROR(store_.SyncOwnAlone());
    }
  }

  // Blobs that results or kept trees name and the index does not know, though they lie there
  // whole: after a part of the log was lost, or one of two copies. They are put as if they came
  // anew: nobody knows whether the disk has them.
  absl::Status Salvage() {
    // A folder that was found may name more.
    for (int round = 0; round < kSalvageRoundsMax; ++round) {
      absl::flat_hash_set<Digest> wanted;
      RETURN_IF_ERROR(WantedByResults(wanted));
      RETURN_IF_ERROR(WantedByTrees(wanted));
      if (wanted.empty()) return absl::OkStatus();
      const size_t before = wanted.size();
      RETURN_IF_ERROR(SalvageFiles(wanted));
      RETURN_IF_ERROR(SalvageRecords(wanted));
      RETURN_IF_ERROR(store_.Commit({}));
      if (wanted.size() == before) return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status WantedByResults(absl::flat_hash_set<Digest>& wanted) {
    for (const VerifyPhase phase : {VerifyPhase::kResults, VerifyPhase::kActionResults}) {
      KeyRange range{.after = std::nullopt, .keys_max = kPageKeys};
      while (true) {
        std::vector<Entry> page;
        std::vector<Digest> named;
        const auto add = [&](const Digest& key, const RecordPlace& place) {
          page.push_back({.key = key, .place = place, .why = {}});
          return absl::OkStatus();
        };
        RETURN_IF_ERROR(phase == VerifyPhase::kResults
                            ? store_.index_->ForEachResult(range, add)
                            : store_.index_->ForEachActionResult(range, add));
        if (page.empty()) break;
        for (const Entry& entry : page) {
          const absl::StatusOr<std::string> bytes =
              store_.ReadLogged(KindOf(phase), entry.key, entry.place);
          RETURN_IF_ERROR(Used(kRecordHeaderBytes + (bytes.ok() ? bytes->size() : 0)));
          if (!bytes.ok()) continue;
          const std::vector<Digest> of_one = store_.NamedBy(KindOf(phase), *bytes);
          named.insert(named.end(), of_one.begin(), of_one.end());
        }
        RETURN_IF_ERROR(AddMissing(named, wanted));
        range.after = page.back().key;
      }
    }
    return absl::OkStatus();
  }
  absl::Status AddMissing(const std::vector<Digest>& digests, absl::flat_hash_set<Digest>& wanted) {
    ASSIGN_OR_RETURN(const auto found, store_.Look(digests));
    for (size_t i = 0; i < digests.size(); ++i) {
      if (!found[i].has_value()) wanted.insert(digests[i]);
    }
    return absl::OkStatus();
  }

  // The blobs of the trees that are never collected.
  absl::Status WantedByTrees(absl::flat_hash_set<Digest>& wanted) {
    ASSIGN_OR_RETURN(const std::vector<PublishedRoot> roots, store_.Roots(""));
    absl::flat_hash_set<Digest> visited;
    std::vector<Digest> left;
    for (const PublishedRoot& root : KeptRoots(roots)) left.push_back(root.root);
    while (!left.empty()) {
      const Digest folder = left.back();
      left.pop_back();
      if (!visited.insert(folder).second) continue;
      const absl::StatusOr<Blob> bytes = store_.GetUntold(folder);
      std::vector<Digest> named = {folder};
      if (bytes.ok()) {
        RETURN_IF_ERROR(Used((*bytes)->size()));
        const absl::StatusOr<tree::Directory> directory = tree::DecodeDirectory(**bytes);
        if (!directory.ok()) continue;  // no tree of ours
        for (const auto& file : directory->files) named.push_back(file.digest);
        for (const auto& inner : directory->directories) left.push_back(inner.digest);
      }
      RETURN_IF_ERROR(AddMissing(named, wanted));
    }
    return absl::OkStatus();
  }

  absl::Status SalvageFiles(absl::flat_hash_set<Digest>& wanted) {
    std::vector<Digest> found;
    for (const Digest& digest : wanted) {
      const std::string path = BlobFilePath(store_.directory_, digest);
      if (!FileExists(path) || !Read({digest, BlobLocation{}}).ok()) continue;
      RETURN_IF_ERROR(WriteAnew(store_.directory_, path, store_.options_.sync,
                                store_.options_.free_bytes_margin));
      RETURN_IF_ERROR(store_.NotePendingFile(digest));
      found.push_back(digest);
    }
    for (const Digest& digest : found) NoteSalvaged(digest, wanted);
    return absl::OkStatus();
  }
  absl::Status SalvageRecords(absl::flat_hash_set<Digest>& wanted) {
    if (wanted.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::vector<SegmentListing> segments, ListSegments(store_.directory_));
    for (const SegmentListing& segment : segments) {
      const RecordVisitor visit = [&](uint64_t, const RecordHeader& header,
                                      std::string_view payload) -> absl::Status {
        RETURN_IF_ERROR(Used(RecordSpan(payload.size())));
        if (header.kind != RecordKind::kBlob || !wanted.contains(header.key) ||
            Digest::Of(payload) != header.key)
          return absl::OkStatus();
        RETURN_IF_ERROR(store_.Put(header.key, payload));
        NoteSalvaged(header.key, wanted);
        return absl::OkStatus();
      };
      const absl::Status scanned =
          ScanSegment(store_.directory_, segment.number, kSegmentHeaderBytes, visit).status();
      if (!absl::IsNotFound(scanned)) RETURN_IF_ERROR(scanned);
    }
    return absl::OkStatus();
  }
  void NoteSalvaged(Digest digest, absl::flat_hash_set<Digest>& wanted) {
    wanted.erase(digest);
    cursor_.AddProblem(fmt::format(
        "blob {}: it was not known, though it lies there and is needed; it is known again",
        digest.ToString()));
  }

  LocalStore& store_;
  const VerifyOptions& options_;
  BootClock clock_;
  std::optional<TokenBucket> bucket_;  // none: no limit
  VerifyCursor cursor_;
  bool is_resumed_ = false;
  std::vector<Suspect> suspects_;
  absl::Time told_ = absl::InfinitePast(), saved_;
  uint64_t unsaved_bytes_ = 0;  // read since it was saved
};

absl::StatusOr<VerifyReport> LocalStore::Verify(const VerifyOptions& options) {
  // One whose caller went away ends soon.
  constexpr int kLooksMax = 25;
  for (int looks = 0; is_verifying_.exchange(true); ++looks) {
    if (looks == kLooksMax)
      return absl::FailedPreconditionError(
          fmt::format("another verify of store {} runs", directory_));
    options_.pause(Verifier::kPauseMax);
  }
  absl::StatusOr<VerifyReport> report = Verifier(*this, options).Run();
  is_verifying_ = false;
  return report;
}

absl::StatusOr<StoreStats> LocalStore::Sizes() {
  RETURN_IF_ERROR(CommitIfRoom());
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

absl::StatusOr<StoreStats> LocalStore::Stats(const StatsOptions& options) {
  ASSIGN_OR_RETURN(StoreStats stats, Sizes());
  if (!options.counts_unadopted) return stats;
  ASSIGN_OR_RETURN(const std::vector<LargeFile> unadopted, UnadoptedFiles());
  for (const LargeFile& file : unadopted) {
    ++stats.unadopted_files;
    stats.unadopted_bytes += file.size_bytes;
  }
  for (const TemporaryLeft& one : TemporaryFiles()) {
    ++stats.temporary_files;
    stats.temporary_bytes += one.size_bytes;
  }
  return stats;
}

}  // namespace galley::store
