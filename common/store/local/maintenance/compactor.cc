#include "common/store/local/maintenance/compactor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/sweeper.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/segment_writer.h"

namespace galley::store {
namespace {

// A smaller segment goes whatever is live in it: workers leave many.
constexpr uint64_t kSmallSegmentBytes = 4 << 20;
// The most records that are moved in one step, while commits wait.
constexpr size_t kStepRecordsMax = 1024;
constexpr uint64_t kStepBytesMax = 16 << 20;
// The size of a record whose size the index does not say. A guess: the segments are read before any
// goes.
constexpr uint64_t kRecordBytesGuess = 128;
// A segment of which less than this part is dead stays; of the log's, it is not read either.
constexpr uint64_t kReadShare = 8;
constexpr uint64_t kLittleBytes = 64 << 10;
// After a cook, a larger segment of the log is judged by a sample until it is chosen. To read all
// of it, and to ask the index for each of its records, took 5 % of a cook of small jobs.
constexpr uint64_t kSampledBytesMin = 4 << 20;

}  // namespace

// Leaves a segment in place where there is no room to write its live records again: the segments
// that go make room for the next collection.
absl::Status Compactor::UnlessFull(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  LogWarning("store={} gc: {}", store_.folder.directory, MessageOf(status));
  return absl::OkStatus();
}

absl::Status Compactor::Plan(const Dropped& dropped) {
  ASSIGN_OR_RETURN(const Holders holders, FindHolders(store_));
  RETURN_IF_ERROR(List(dropped, holders));
  for (Weighed& segment : log_) {
    if (is_after_cook_ && !HasTooMuchDead()) return absl::OkStatus();
    if (segment.dead_bytes() < segment.segment.size_bytes / kReadShare) continue;
    RETURN_IF_ERROR(is_after_cook_ && segment.segment.size_bytes > kSampledBytesMin
                        ? Estimate(segment, dropped)
                        : Read(segment, dropped));
  }
  if (is_after_cook_ && !HasTooMuchDead()) return absl::OkStatus();
  // Segments that are half dead go anyway, and so do workers' small ones; others only while without
  // them too much would stay dead.
  std::ranges::stable_sort(workers_, &IsWorse);
  const auto is_half_dead = [this](const Weighed& one) {
    const bool is_small = one.segment.size_bytes < kSmallSegmentBytes &&
                          (!is_after_cook_ || one.dead_bytes() > kSegmentHeaderBytes);
    return 2 * one.live_bytes < one.segment.size_bytes || is_small;
  };
  const auto is_one_of_too_many = [this](const Weighed& one) {
    return one.dead_bytes() >= one.segment.size_bytes / kReadShare && HasTooMuchDead();
  };
  ChooseWorkers(is_half_dead, /*than=*/LogBegin(LogEnd(1)));
  chosen_log_ = LogEnd(1);
  ChooseWorkers(is_half_dead);
  ChooseWorkers(is_one_of_too_many, /*than=*/LogBegin(LogEnd(kDeadShare)));
  if (HasTooMuchDead()) chosen_log_ = LogEnd(kDeadShare);
  ChooseWorkers(is_one_of_too_many);
  for (size_t i = 0; i < chosen_log_; ++i) {
    if (!log_[i].is_exact) RETURN_IF_ERROR(Read(log_[i], dropped));
  }
  Foretell(holders);
  return absl::OkStatus();
}

// Lists the segments with the live bytes of each.
absl::Status Compactor::List(const Dropped& dropped, const Holders& holders) {
  ASSIGN_OR_RETURN(const auto live, Weigh(dropped));
  ASSIGN_OR_RETURN(const auto states, store_.index.With(&Index::Segments));
  ASSIGN_OR_RETURN(const std::vector<SegmentListing> listed, ListSegments(store_.folder.directory));
  for (const SegmentListing& segment : listed) {
    const auto state = states.find(segment.number);
    if (state != states.end() && state->second.is_dropped) continue;
    const auto at = live.find(segment.number);
    const Weighed weighed{.segment = segment, .live_bytes = at == live.end() ? 0 : at->second};
    highest_ = segment.number;
    const absl::StatusOr<bool> is_owners = IsOwners(segment.number, states);
    const bool keeps_number = segment.number == listed.back().number;
    if (is_owners.ok() && !*is_owners && keeps_number &&
        segment.size_bytes <= kSegmentHeaderBytes) {
      others_.push_back(weighed);
    } else if (!is_owners.ok()) {
      LogWarning("store={} gc: {}", store_.folder.directory, MessageOf(is_owners.status()));
      others_.push_back(weighed);
    } else if (*is_owners) {
      log_.push_back(weighed);
    } else {
      (IsLeft(segment.number, holders) ? workers_ : others_).push_back(weighed);
    }
  }
  return absl::OkStatus();
}

// The records in the segment that are live.
absl::StatusOr<std::vector<LiveRecord>> Compactor::LiveIn(uint64_t segment,
                                                          const Dropped& dropped) {
  RETURN_IF_ERROR(CheckCancelled(options_));
  return LiveOf(store_, segment, dropped);
}

absl::Status Compactor::Estimate(Weighed& segment, const Dropped& dropped) {
  RETURN_IF_ERROR(CheckCancelled(options_));
  ASSIGN_OR_RETURN(const std::optional<uint64_t> live_bytes,
                   EstimateLiveBytes(store_, segment.segment.number, dropped));
  if (!live_bytes.has_value()) return Read(segment, dropped);
  // The live bytes of blobs were known before, and not by a sample.
  segment.live_bytes = std::max(segment.live_bytes, *live_bytes);
  return absl::OkStatus();
}

absl::Status Compactor::Read(Weighed& segment, const Dropped& dropped) {
  ASSIGN_OR_RETURN(const std::vector<LiveRecord> records, LiveIn(segment.segment.number, dropped));
  segment.live_bytes = 0;
  for (const LiveRecord& record : records) segment.live_bytes += record.span;
  segment.is_exact = true;
  return absl::OkStatus();
}

// The index knows only those workers' segments from which something was adopted.
absl::StatusOr<bool> Compactor::IsOwners(uint64_t segment,
                                         const std::map<uint64_t, SegmentState>& states) const {
  const auto state = states.find(segment);
  if (state != states.end()) return state->second.writer == SegmentWriterKind::kOwner;
  ASSIGN_OR_RETURN(const SegmentHeader header, ReadSegmentHeader(store_.folder.directory, segment));
  return header.writer == SegmentWriterKind::kOwner;
}

// No worker appends to it, and none is about to. What a live session's worker wrote, the session
// may yet report.
bool Compactor::IsLeft(uint64_t segment, const Holders& holders) const {
  const std::string path = SegmentPath(store_.folder.directory, segment);
  if (holders.hold_all || WrittenAt(path) >= holders.oldest_write) return false;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

uint64_t Compactor::LiveBytes() const {
  uint64_t bytes = file_bytes_;
  for (const auto* segments : {&workers_, &log_, &others_, &chosen_}) {
    for (const Weighed& one : *segments) bytes += one.live_bytes;
  }
  return bytes;
}

// The dead bytes of segments that are not chosen.
uint64_t Compactor::DeadBytes() const {
  uint64_t bytes = 0;
  for (const auto* segments : {&workers_, &others_}) {
    for (const Weighed& one : *segments) bytes += one.dead_bytes();
  }
  for (size_t i = chosen_log_; i < log_.size(); ++i) bytes += log_[i].dead_bytes();
  return bytes;
}

bool Compactor::HasTooMuchDead() const { return kDeadShare * DeadBytes() > LiveBytes(); }

// Whether less of the first segment is live.
bool Compactor::IsWorse(const Weighed& one, const Weighed& other) {
  return one.live_bytes * other.segment.size_bytes < other.live_bytes * one.segment.size_bytes;
}

// After a cook what is moved has one bound, for workers' segments and the log.
bool Compactor::HasRoomFor(uint64_t worker_bytes, uint64_t log_bytes) const {
  return !is_after_cook_ || worker_bytes + log_bytes <= store_.folder.options.moved_bytes_max;
}

// Chooses the worst segments first; with `than` only those that are worse than that one.
void Compactor::ChooseWorkers(absl::FunctionRef<bool(const Weighed&)> is_worth,
                              const std::optional<Weighed>& than) {
  const uint64_t log_bytes = LogBegin(chosen_log_).live_bytes;
  for (auto at = workers_.begin(); at != workers_.end();) {
    const bool goes = HasRoomFor(chosen_bytes_ + at->live_bytes, log_bytes) &&
                      (!than.has_value() || IsWorse(*at, *than)) && is_worth(*at);
    if (!goes) {
      ++at;
      continue;
    }
    chosen_bytes_ += at->live_bytes;
    chosen_.push_back(*at);
    at = workers_.erase(at);
  }
}

// The longest begin of the log in which the dead bytes are more than this part of the live ones;
// not less than is chosen.
size_t Compactor::LogEnd(uint64_t dead_share) {
  const uint64_t filled = store_.log.FilledSegment();
  uint64_t dead_bytes = 0, live_bytes = 0;
  size_t end = chosen_log_;
  for (size_t i = 0; i < log_.size(); ++i) {
    dead_bytes += log_[i].dead_bytes();
    live_bytes += log_[i].live_bytes;
    // The segment that is being filled is not left for next to nothing.
    const bool is_little = log_[i].segment.number == filled && dead_bytes < kLittleBytes;
    if (dead_share * dead_bytes > live_bytes && !is_little && HasRoomFor(chosen_bytes_, live_bytes))
      end = std::max(end, i + 1);
  }
  return end;
}

// The log up to `end`, as if it were one segment.
Compactor::Weighed Compactor::LogBegin(size_t end) const {
  Weighed begin{.segment = {}, .live_bytes = 0};
  for (size_t i = 0; i < end; ++i) {
    begin.segment.size_bytes += log_[i].segment.size_bytes;
    begin.live_bytes += log_[i].live_bytes;
  }
  return begin;
}

// Foretells what Run will come to.
void Compactor::Foretell(const Holders& holders) {
  const absl::Time now = store_.folder.options.boot_time();
  const auto tell = [&](const Weighed& one) {
    moved_bytes_ += one.live_bytes;
    const bool is_held =
        IsHeld(one.segment, one.live_bytes == 0 ? absl::InfinitePast() : now, holders);
    if (!is_held) freed_bytes_ += one.segment.size_bytes;
    return !is_held;
  };
  for (const Weighed& one : chosen_) tell(one);
  bool goes = true;
  for (size_t i = 0; i < chosen_log_; ++i) {
    const uint64_t freed_bytes = freed_bytes_;
    goes = tell(log_[i]) && goes;
    if (!goes) freed_bytes_ = freed_bytes;
  }
}

// Somebody may read there what was live in it until `since`, or report what lies there.
bool Compactor::IsHeld(const SegmentListing& segment, absl::Time since,
                       const Holders& holders) const {
  if (holders.names.empty()) return false;
  return holders.hold_all || holders.since <= since ||
         (since == absl::InfinitePast() &&
          WrittenAt(SegmentPath(store_.folder.directory, segment.number)) >= holders.oldest_write);
}

bool Compactor::IsChosen(uint64_t number) const {
  const auto is_it = [&](const Weighed& one) { return one.segment.number == number; };
  return std::ranges::any_of(chosen_, is_it) ||
         std::any_of(log_.begin(), log_.begin() + static_cast<ptrdiff_t>(chosen_log_), is_it);
}

absl::Status Compactor::MakeRoom() {
  const bool is_filled_chosen = IsChosen(store_.log.FilledSegment());
  if (!is_filled_chosen && !IsChosen(highest_)) return absl::OkStatus();
  const base::MutexLock commit_lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  if (is_filled_chosen) {
    RETURN_IF_ERROR(store_.log.BeginSegment());
  } else {
    // Numbers are given from the highest on, and never twice: a worker's that none writes to keeps
    // it.
    RETURN_IF_ERROR(store_.log.AllocateSegment().status());
  }
  IndexBatch index;
  return store_.writer.SyncAndIndex(index);
}

absl::Status Compactor::Run() {
  freed_bytes_ = moved_bytes_ = 0;
  for (const Weighed& one : chosen_) RETURN_IF_ERROR(UnlessFull(LeaveWorkers(one.segment)));
  RETURN_IF_ERROR(UnlessFull(LeaveLog()));
  if (left_.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(GiveUpDamaged());
  return Remove();
}

// About how many bytes of each segment are live.
absl::StatusOr<std::map<uint64_t, uint64_t>> Compactor::Weigh(const Dropped& dropped) {
  std::map<uint64_t, uint64_t> live;
  const auto count_blob = [&](const Digest& digest, const BlobLocation& location) {
    if (dropped.blobs.contains(digest)) return absl::OkStatus();
    if (location.segment == 0) {
      file_bytes_ += digest.size_bytes();
    } else {
      live[location.segment] += RecordSpan(digest.size_bytes());
    }
    return CheckCancelled(options_);
  };
  RETURN_IF_ERROR(store_.index.Walk(&Index::ForEachBlob, count_blob));
  const auto count = [&](const RecordPlace& place) {
    if (!dropped.records.contains(place)) live[place.segment] += kRecordBytesGuess;
    return absl::OkStatus();
  };
  const auto count_result = [&](const Digest&, const ResultPlace& place) { return count(place); };
  RETURN_IF_ERROR(store_.index.Walk(&Index::ForEachResult, count_result));
  RETURN_IF_ERROR(store_.index.Walk(&Index::ForEachActionResult, count_result));
  RETURN_IF_ERROR(
      store_.index.Walk(&Index::ForEachObservationSet,
                        [&](const Digest&, const SetPlace& set) { return count(set.place); }));
  ASSIGN_OR_RETURN(const std::vector<IndexedRoot> roots, store_.index.With(&Index::AllRoots));
  for (const IndexedRoot& root : roots) RETURN_IF_ERROR(count(root.place));
  return live;
}

// From here on nothing in the segment becomes live: a blob that is reported to be there is copied.
// Workers report the owner's segments, too, since they ask the owner where a blob is.
void Compactor::CopyWhatIsReported(uint64_t segment) {
  const base::MutexLock lock(store_.writer.mutex());
  store_.writer.Doubt(segment);
}

absl::Status Compactor::LeaveWorkers(const SegmentListing& segment) {
  const std::string path = SegmentPath(store_.folder.directory, segment.number);
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return absl::OkStatus();
  CopyWhatIsReported(segment.number);
  ASSIGN_OR_RETURN(const std::vector<LiveRecord> records, LiveIn(segment.number, {}));
  return Leave(segment, std::move(file), records);
}

absl::Status Compactor::LeaveLog() {
  for (size_t i = 0; i < chosen_log_; ++i) {
    const SegmentListing& segment = log_[i].segment;
    if (!IsClosed(segment.number)) return absl::OkStatus();
    FileDescriptor file(
        ::open(SegmentPath(store_.folder.directory, segment.number).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return absl::OkStatus();
    CopyWhatIsReported(segment.number);
    ASSIGN_OR_RETURN(const std::vector<LiveRecord> records, LiveIn(segment.number, {}));
    RETURN_IF_ERROR(Leave(segment, std::move(file), records));
  }
  return absl::OkStatus();
}

// Whether nobody appends to the segment any more, and all that was put there is in the index.
bool Compactor::IsClosed(uint64_t number) {
  const base::MutexLock lock(store_.writer.mutex());
  return !store_.log.IsInUse(number);
}

absl::Status Compactor::Leave(const SegmentListing& segment, FileDescriptor file,
                              std::span<const LiveRecord> records) {
  Left left{.segment = segment, .file = std::move(file)};
  size_t begin = 0;
  while (begin < records.size()) {
    size_t end = begin;
    uint64_t bytes = 0;
    for (; end < records.size() && end - begin < kStepRecordsMax && bytes < kStepBytesMax; ++end)
      bytes += records[end].span;
    RETURN_IF_ERROR(Move(segment.number, records.subspan(begin, end - begin)));
    begin = end;
  }
  if (!records.empty()) {
    // Since when nobody is told that anything lies there: also for the collections that follow.
    left.since = store_.folder.options.boot_time();
    const timespec now = absl::ToTimespec(store_.folder.options.now());
    const timespec times[] = {now, now};
    if (::futimens(left.file.get(), times) != 0)
      return ErrnoStatus(errno, "set the time of",
                         SegmentPath(store_.folder.directory, segment.number));
  }
  left_.push_back(std::move(left));
  return absl::OkStatus();
}

absl::Status Compactor::Move(uint64_t segment, std::span<const LiveRecord> given) {
  RETURN_IF_ERROR(CheckCancelled(options_));
  std::vector<Digest> wrong;
  {
    const base::MutexLock lock(store_.writer.mutex());
    RETURN_IF_ERROR(store_.writer.CheckWritable());
    ASSIGN_OR_RETURN(const std::vector<LiveRecord> records,
                     StillLive(store_, segment, {given.begin(), given.end()}, {}));
    uint64_t bytes = 0;
    for (const LiveRecord& record : records) bytes += record.span;
    RETURN_IF_ERROR(
        CheckFreeSpace(store_.folder.directory, bytes, store_.folder.options.free_bytes_least));
    IndexBatch index;
    for (const LiveRecord& record : records) {
      const absl::Status status = MoveOne(segment, record, index);
      if (absl::IsDataLoss(status)) {
        LogWarning("store={} gc: {}", store_.folder.directory, MessageOf(status));
        if (record.kind == RecordKind::kBlob) wrong.push_back(record.key);
      } else {
        RETURN_IF_ERROR(status);
      }
    }
    RETURN_IF_ERROR(store_.writer.SyncAndIndex(index));
    moved_bytes_ += bytes;
  }
  for (const Digest& digest : wrong)
    RETURN_IF_ERROR(store_.losses.QuarantineIfWrong(digest).status());
  return absl::OkStatus();
}

// DATA_LOSS: its bytes are wrong. What is cooked again without it is forgotten.
absl::Status Compactor::MoveOne(uint64_t segment, const LiveRecord& record, IndexBatch& index) {
  const RecordPlace from{.segment = segment, .offset = record.offset};
  const Digest& key = record.key;
  if (record.kind == RecordKind::kAdopted) return store_.log.AppendAdopted(record.adopted);
  std::string payload;
  if (record.kind == RecordKind::kBlob) {
    ASSIGN_OR_RETURN(const Blob blob,
                     ReadBlobAt(store_.folder.directory, key, {segment, record.offset}));
    payload = *blob;
  } else {
    absl::StatusOr<std::string> read = store_.reader.ReadLogged(record.kind, key, from);
    if (absl::IsDataLoss(read.status())) {
      if (record.kind == RecordKind::kResult) index.RemoveResult(key);
      if (record.kind == RecordKind::kActionResult) index.RemoveActionResult(key);
      if (record.kind == RecordKind::kObservationSet) index.RemoveObservationSet(key, from);
    }
    RETURN_IF_ERROR(read.status());
    payload = *std::move(read);
  }
  RecordPlace to;
  {
    const base::MutexLock lock(store_.log.mutex());
    ASSIGN_OR_RETURN(to, store_.log.Append(record.kind, key, payload, record.written_s));
  }
  switch (record.kind) {
    case RecordKind::kBlob:
      index.SetBlob(key, {.segment = to.segment, .offset = to.offset});
      break;
    case RecordKind::kResult:
      index.SetResult(key, to);
      index.StampResult(key, record.used_hours);
      break;
    case RecordKind::kActionResult:
      index.SetActionResult(key, to);
      index.StampActionResult(key, record.used_hours);
      break;
    case RecordKind::kObservationSet:
      index.MoveObservationSet(key, from, to);
      break;
    default: {
      ASSIGN_OR_RETURN(const PublishedRoot root, DecodePublished(payload));
      index.SetRoot(root, to);
    }
  }
  return absl::OkStatus();
}

// Drops records that the index still says to lie in segments that were left: they could not be read
// there.
absl::Status Compactor::GiveUpDamaged() {
  std::set<uint64_t> numbers;
  for (const Left& left : left_) numbers.insert(left.segment.number);
  std::vector<Digest> blobs;
  RETURN_IF_ERROR(store_.index.Walk(&Index::ForEachBlob,
                                    [&](const Digest& digest, const BlobLocation& location) {
                                      if (numbers.contains(location.segment))
                                        blobs.push_back(digest);
                                      return absl::OkStatus();
                                    }));
  for (const Digest& digest : blobs) {
    ASSIGN_OR_RETURN(const bool was_wrong, store_.losses.QuarantineIfWrong(digest));
    if (!was_wrong) {
      return UnavailableError(
          "blob {} could not be read a moment ago and can be now: nothing is lost; see to the "
          "disk, and collect again",
          digest.ToString());
    }
  }
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  IndexBatch index;
  RETURN_IF_ERROR(
      store_.index.Walk(&Index::ForEachResult, [&](const Digest& key, const ResultPlace& place) {
        if (numbers.contains(place.segment)) index.RemoveResult(key);
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(store_.index.Walk(&Index::ForEachActionResult,
                                    [&](const Digest& key, const ResultPlace& place) {
                                      if (numbers.contains(place.segment))
                                        index.RemoveActionResult(key);
                                      return absl::OkStatus();
                                    }));
  RETURN_IF_ERROR(
      store_.index.Walk(&Index::ForEachObservationSet, [&](const Digest& key, const SetPlace& set) {
        if (numbers.contains(set.place.segment)) index.RemoveObservationSet(key, set.place);
        return absl::OkStatus();
      }));
  ASSIGN_OR_RETURN(const std::vector<IndexedRoot> roots, store_.index.With(&Index::AllRoots));
  for (const IndexedRoot& root : roots) {
    if (!numbers.contains(root.place.segment)) continue;
    const base::MutexLock append_lock(store_.log.mutex());
    ASSIGN_OR_RETURN(
        const RecordPlace place,
        store_.log.Append(RecordKind::kPublished, root.root.root, EncodePublished(root.root)));
    index.SetRoot(root.root, place);
  }
  if (index.size() == 0) return absl::OkStatus();
  LogWarning("store={} gc: {} damaged results, sets and roots are dropped or written again",
             store_.folder.directory, index.size());
  return store_.writer.SyncAndIndex(index);
}

absl::Status Compactor::Remove() {
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  RETURN_IF_ERROR(store_.index.StillCovers(coverage_));
  ASSIGN_OR_RETURN(const Holders holders, FindHolders(store_));
  ASSIGN_OR_RETURN(const auto states, store_.index.With(&Index::Segments));
  IndexBatch index;
  std::vector<const Left*> workers, log;
  bool is_log_held = false;
  for (const Left& left : left_) {
    const uint64_t number = left.segment.number;
    const auto known = states.find(number);
    SegmentState state =
        known == states.end() ? SegmentState{.writer = SegmentWriterKind::kWorker} : known->second;
    const bool is_log = state.writer == SegmentWriterKind::kOwner;
    const bool is_held = IsHeld(left.segment, left.since, holders);
    if (is_held || (is_log && is_log_held)) {
      is_log_held |= is_log;
      continue;
    }
    state.is_dropped = true;
    if (is_log) {
      index.SetSegment(number, state);
    } else {
      index.RemoveSegment(number);
    }
    (is_log ? log : workers).push_back(&left);
  }
  if (log.empty() && workers.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(store_.writer.WriteIndex(index));
  // Before they go: an index that knows them would take them for lost, and one that does not would
  // read the log's begin anew.
  RETURN_IF_ERROR(store_.index.With(&Index::Flush, /*wait=*/true));
  // An index that was made meanwhile does not say that they go.
  RETURN_IF_ERROR(store_.index.StillCovers(coverage_));
  const auto remove = [&](const Left& left) {
    const std::string path = SegmentPath(store_.folder.directory, left.segment.number);
    if (::unlink(path.c_str()) != 0) return ErrnoStatus(errno, "remove", path);
    freed_bytes_ += left.segment.size_bytes;
    return absl::OkStatus();
  };
  for (const Left* left : workers) RETURN_IF_ERROR(remove(*left));
  index = IndexBatch();
  for (const Left* left : log) {
    RETURN_IF_ERROR(remove(*left));
    // The segments go one after the other: those that are left are the log's end, whatever comes.
    RETURN_IF_ERROR(SyncDirectory(JoinPath(store_.folder.directory, "segments")));
    index.RemoveSegment(left->segment.number);
  }
  return store_.writer.WriteIndex(index);
}

absl::Time Compactor::WrittenAt(const std::string& path) {
  const absl::StatusOr<FileStat> stat = StatFile(path);
  return stat.ok() ? absl::FromUnixNanos(stat->mtime_ns) : absl::InfinitePast();
}

}  // namespace galley::store
