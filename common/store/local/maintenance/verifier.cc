#include "common/store/local/maintenance/verifier.h"

#include <algorithm>
#include <span>
#include <utility>

#include "common/base/log.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/salvager.h"
#include "common/store/local/quarantine.h"
#include "common/store/local/segment_reader.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr size_t kPageKeys = 256;
constexpr absl::Duration kCursorAgeMax = absl::Hours(24 * 30);

// A link to the file that is made meanwhile changes its times.
bool IsSameFile(const std::optional<FileStat>& a, const std::optional<FileStat>& b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
  return a->inode == b->inode && a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns;
}

RecordKind KindOf(VerifyPhase phase) {
  return phase == VerifyPhase::kResults         ? RecordKind::kResult
         : phase == VerifyPhase::kActionResults ? RecordKind::kActionResult
                                                : RecordKind::kObservationSet;
}

}  // namespace

absl::StatusOr<VerifyReport> Verifier::Run() {
  RETURN_IF_ERROR(store_.commits.Commit({}));
  TakeUpCursor();
  if (const absl::Status status = RunPhases(); !status.ok()) {
    if (Settle().ok()) pace_.Save();
    return status;
  }
  RETURN_IF_ERROR(RemoveVerifyCursor(store_.folder.directory));
  VerifyReport report{
      .blobs = cursor_.blobs, .bytes = cursor_.bytes, .problems = std::move(cursor_.problems)};
  if (cursor_.problems_untold != 0)
    report.problems.push_back(fmt::format("and {} more", cursor_.problems_untold));
  if (is_resumed_) report.resumed = cursor_.begun;
  return report;
}

void Verifier::TakeUpCursor() {
  const absl::Time now = store_.folder.options.now();
  cursor_.begun = now;
  if (options_.restart) return;
  absl::StatusOr<VerifyCursor> left = ReadVerifyCursor(store_.folder.directory);
  if (!left.ok()) {
    if (!absl::IsNotFound(left.status()))
      NoteRepair(fmt::format("{}: {}; the verify began anew",
                             JoinPath(store_.folder.directory, "verify"),
                             MessageOf(left.status())));
    return;
  }
  if (left->begun + kCursorAgeMax < now) return;
  cursor_ = *std::move(left);
  is_resumed_ = true;
}

absl::Status Verifier::RunPhases() {
  RETURN_IF_ERROR(store_.index.With(&Index::CheckFiles));
  pace_.Begin();
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

absl::Status Verifier::Salvage() { return Salvager(store_, pace_, cursor_).Run(); }

absl::Status Verifier::SettleAndSave() {
  RETURN_IF_ERROR(Settle());
  pace_.Save();
  return absl::OkStatus();
}

absl::Status Verifier::Blobs() {
  while (true) {
    std::vector<LocatedBlob> page;
    RETURN_IF_ERROR(store_.index.Walk(&Index::ForEachBlob, {cursor_.after, kPageKeys},
                                      [&](const Digest& digest, const BlobLocation& location) {
                                        page.emplace_back(digest, location);
                                        return absl::OkStatus();
                                      }));
    if (page.empty()) return absl::OkStatus();
    for (const LocatedBlob& blob : page) {
      RETURN_IF_ERROR(Check(blob));
      ++cursor_.blobs;
      cursor_.bytes += blob.first.size_bytes();
      cursor_.after = blob.first;
      if (pace_.IsTimeToSave()) RETURN_IF_ERROR(SettleAndSave());
    }
    const bool has_found = !suspects_.empty();
    RETURN_IF_ERROR(Settle());
    if (has_found) pace_.Save();
  }
}

absl::Status Verifier::Check(const LocatedBlob& blob) {
  const std::optional<FileStat> file = FileOf(blob);
  const absl::Status status = pace_.Read(blob);
  if (!absl::IsDataLoss(status)) return status;
  suspects_.push_back({blob, file, std::string(MessageOf(status))});
  return absl::OkStatus();
}

std::optional<FileStat> Verifier::FileOf(const LocatedBlob& blob) const {
  if (blob.second.segment != 0) return std::nullopt;
  const absl::StatusOr<FileStat> stat = StatFile(BlobFilePath(store_.folder.directory, blob.first));
  return stat.ok() ? std::optional(*stat) : std::nullopt;
}

// Takes out the blobs that were found wrong, unless they went, or were put again, since they were
// read.
absl::Status Verifier::Settle() {
  if (suspects_.empty()) return absl::OkStatus();
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  std::vector<Digest> digests, lost, gone;
  for (const Suspect& suspect : suspects_) digests.push_back(suspect.blob.first);
  ASSIGN_OR_RETURN(const auto found, store_.reader.Look(digests));
  ASSIGN_OR_RETURN(const auto indexed, store_.index.With(&Index::Blobs, digests));
  for (size_t i = 0; i < suspects_.size(); ++i) {
    const auto& [digest, location] = suspects_[i].blob;
    if (!found[i].has_value() && indexed[i] == location && store_.reader.IsCutOff(digest, location))
      gone.push_back(digest);
    if (found[i] != location || !IsSameFile(suspects_[i].file, FileOf(suspects_[i].blob))) continue;
    LogWarning("store={} digest={} quarantined: {}", store_.folder.directory, digest.ToString(),
               suspects_[i].why);
    RETURN_IF_ERROR(MoveToQuarantine(store_.folder.directory, digest, location));
    lost.push_back(digest);
  }
  suspects_.clear();
  if (lost.empty() && gone.empty()) return absl::OkStatus();
  std::vector<Digest> all = lost;
  all.insert(all.end(), gone.begin(), gone.end());
  RETURN_IF_ERROR(store_.writer.Lose(all));
  for (const Digest& digest : lost)
    cursor_.AddProblem(fmt::format(
        "blob {}: its bytes were wrong; quarantined, cook again what needs it", digest.ToString()));
  for (const Digest& digest : gone)
    cursor_.AddProblem(
        fmt::format("blob {}: it is gone with the end of its segment; cook again what needs it",
                    digest.ToString()));
  return absl::OkStatus();
}

// Results, or observation sets: those that cannot be read are dropped.
absl::Status Verifier::Log() {
  while (true) {
    std::vector<Entry> page, wrong;
    RETURN_IF_ERROR(List({cursor_.after, kPageKeys}, page));
    if (page.empty()) return absl::OkStatus();
    for (Entry& entry : page) {
      const absl::StatusOr<std::string> bytes =
          store_.reader.ReadLogged(KindOf(cursor_.phase), entry.key, entry.place);
      RETURN_IF_ERROR(pace_.Used(kRecordHeaderBytes + (bytes.ok() ? bytes->size() : 0)));
      if (bytes.ok()) continue;
      if (!absl::IsDataLoss(bytes.status())) return bytes.status();
      entry.why = MessageOf(bytes.status());
      wrong.push_back(entry);
    }
    RETURN_IF_ERROR(Drop(wrong));
    cursor_.after = page.back().key;
    if (!wrong.empty() || pace_.IsTimeToSave()) pace_.Save();
  }
}

absl::Status Verifier::List(const KeyRange& range, std::vector<Entry>& entries) const {
  const auto add = [&](const Digest& key, const RecordPlace& place) {
    entries.push_back({.key = key, .place = place, .why = {}});
    return absl::OkStatus();
  };
  const auto add_set = [&](const Digest& key, const SetPlace& set) { return add(key, set.place); };
  switch (KindOf(cursor_.phase)) {
    case RecordKind::kResult:
      return store_.index.Walk(&Index::ForEachResult, range, add);
    case RecordKind::kActionResult:
      return store_.index.Walk(&Index::ForEachActionResult, range, add);
    default:
      return store_.index.Walk(&Index::ForEachObservationSet, range, add_set);
  }
}

absl::Status Verifier::Drop(const std::vector<Entry>& wrong) {
  if (wrong.empty()) return absl::OkStatus();
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  IndexBatch index;
  for (const Entry& entry : wrong) RETURN_IF_ERROR(DropOne(entry, index));
  return WriteAndLose(index);
}

// Drops an entry, unless another one took its place since it was read.
absl::Status Verifier::DropOne(const Entry& entry, IndexBatch& index) {
  const std::span key(&entry.key, 1);
  const auto is_there = [&](const auto& places) {
    return places->front().has_value() &&
           static_cast<const RecordPlace&>(*places->front()) == entry.place;
  };
  switch (KindOf(cursor_.phase)) {
    case RecordKind::kResult: {
      const auto places = store_.index.With(&Index::Results, key);
      RETURN_IF_ERROR(places.status());
      if (!is_there(places)) return absl::OkStatus();
      cursor_.AddProblem(fmt::format("result {}: {}; dropped, it is cooked again",
                                     entry.key.ToString(), entry.why));
      index.RemoveResult(entry.key);
      return absl::OkStatus();
    }
    case RecordKind::kActionResult: {
      const auto places = store_.index.With(&Index::ActionResults, key);
      RETURN_IF_ERROR(places.status());
      if (!is_there(places)) return absl::OkStatus();
      cursor_.AddProblem(
          fmt::format("another program's result {}: {}; dropped", entry.key.ToString(), entry.why));
      index.RemoveActionResult(entry.key);
      return absl::OkStatus();
    }
    default:
      cursor_.AddProblem(
          fmt::format("observation set of {}: {}; dropped", entry.key.ToString(), entry.why));
      index.RemoveObservationSet(entry.key, entry.place);
      return absl::OkStatus();
  }
}

absl::Status Verifier::WriteAndLose(IndexBatch& index) {
  if (index.is_empty()) return absl::OkStatus();
  RETURN_IF_ERROR(store_.writer.SyncAndIndex(index));
  return store_.writer.Lose({});
}

// A root that cannot be read is written again from the index.
absl::Status Verifier::Roots() {
  ASSIGN_OR_RETURN(const std::vector<IndexedRoot> roots, store_.index.With(&Index::AllRoots));
  std::vector<IndexedRoot> wrong;
  for (const IndexedRoot& root : roots) {
    RETURN_IF_ERROR(pace_.Used(kRecordHeaderBytes));
    const absl::Status status =
        store_.reader.ReadLogged(RecordKind::kPublished, root.root.root, root.place).status();
    if (!absl::IsDataLoss(status)) {
      RETURN_IF_ERROR(status);
      continue;
    }
    cursor_.AddProblem(
        fmt::format("root {}: {}; written again", root.root.root.ToString(), MessageOf(status)));
    wrong.push_back(root);
  }
  if (wrong.empty()) return absl::OkStatus();
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  IndexBatch index;
  for (const IndexedRoot& root : wrong) {
    const base::MutexLock append_lock(store_.log.mutex());
    ASSIGN_OR_RETURN(
        const RecordPlace place,
        store_.log.Append(RecordKind::kPublished, root.root.root, EncodePublished(root.root)));
    index.SetRoot(root.root, place);
  }
  return WriteAndLose(index);
}

absl::Status Verifier::Segments() {
  ASSIGN_OR_RETURN(const auto states, store_.index.With(&Index::Segments));
  for (auto at = states.upper_bound(cursor_.after_segment); at != states.end(); ++at) {
    RETURN_IF_ERROR(Segment(at->first, at->second));
    cursor_.after_segment = at->first;
    if (pace_.IsTimeToSave()) pace_.Save();
  }
  return absl::OkStatus();
}

absl::Status Verifier::Segment(uint64_t number, const SegmentState& state) {
  ASSIGN_OR_RETURN(std::vector<DamagedRange> damaged, NewDamage(number, state));
  if (damaged.empty()) return absl::OkStatus();
  // A record that was being written while it was read is whole when it is read again.
  ASSIGN_OR_RETURN(const std::vector<DamagedRange> again, NewDamage(number, state));
  std::erase_if(damaged, [&](const DamagedRange& range) {
    return std::ranges::find(again, range) == again.end();
  });
  if (damaged.empty()) return absl::OkStatus();
  if (state.writer == SegmentWriterKind::kOwner) RETURN_IF_ERROR(Relog());
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  IndexBatch index;
  for (const DamagedRange& range : damaged) {
    index.NoteDamage({number, range.offset});
    cursor_.AddProblem(
        fmt::format("segment {:016x} offset {}: {} bytes are wrong; noted, they are never used",
                    number, range.offset, range.size_bytes));
  }
  if (state.writer == SegmentWriterKind::kOwner) return WriteAndLose(index);
  return store_.writer.WriteIndex(index);
}

// The damage of a segment that is not noted yet.
absl::StatusOr<std::vector<DamagedRange>> Verifier::NewDamage(uint64_t number,
                                                              const SegmentState& state) {
  std::vector<DamagedRange> damaged;
  const absl::StatusCode header =
      ReadSegmentHeader(store_.folder.directory, number, store_.folder.store_id).status().code();
  if (header == absl::StatusCode::kNotFound)
    return damaged;  // its blobs are found missing; the next opening notes the rest
  if (header != absl::StatusCode::kOk)
    damaged.push_back({.offset = 0, .size_bytes = kSegmentHeaderBytes});
  const auto pass = [&](uint64_t, const RecordHeader& record, std::string_view) {
    return pace_.Used(RecordSpan(record.payload_bytes));
  };
  absl::StatusOr<ScanReport> scan =
      ScanSegment(store_.folder.directory, number, kSegmentHeaderBytes, pass);
  if (absl::IsNotFound(scan.status())) return std::vector<DamagedRange>();  // collected meanwhile
  RETURN_IF_ERROR(scan.status());
  damaged.insert(damaged.end(), scan->damaged.begin(), scan->damaged.end());
  // A worker may be writing behind what was adopted; what is before that has to be whole.
  if (scan->whole_end < state.indexed_bytes)
    damaged.push_back(
        {.offset = scan->whole_end, .size_bytes = state.indexed_bytes - scan->whole_end});
  std::vector<DamagedRange> unknown;
  for (const DamagedRange& range : damaged) {
    ASSIGN_OR_RETURN(const bool is_known,
                     store_.index.With(&Index::IsKnownDamage, RecordPlace{number, range.offset}));
    if (!is_known) unknown.push_back(range);
  }
  return unknown;
}

// Says again where the blobs lie that only adopted records tell of, after one of those was
// damaged.
absl::Status Verifier::Relog() {
  std::optional<Digest> after;
  while (true) {
    const base::MutexLock lock(store_.writer.mutex());
    RETURN_IF_ERROR(store_.writer.CheckWritable());
    std::vector<LocatedBlob> blobs;
    RETURN_IF_ERROR(store_.index.Walk(&Index::ForEachBlob, {after, kAdoptedMax},
                                      [&](const Digest& digest, const BlobLocation& location) {
                                        blobs.emplace_back(digest, location);
                                        return absl::OkStatus();
                                      }));
    if (blobs.empty()) return absl::OkStatus();
    after = blobs.back().first;
    RETURN_IF_ERROR(store_.log.AppendAdopted(blobs));
    RETURN_IF_ERROR(store_.writer.SyncLog());
  }
}

}  // namespace galley::store
