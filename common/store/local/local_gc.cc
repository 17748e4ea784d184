// The part of LocalStore that drops things: Collect.
//
// First it is found out, without holding anybody up, what is needed and what is to go. Then that
// goes in small steps, each of which asks again whether anybody was told meanwhile that it is
// there:
//   1. the loss epoch rises;
//   2. under the lock that everybody shares who tells that something is there: what was not told is
//      *condemned*. From here on it is absent, so that whoever wants it puts it again, behind what
//      follows. Files are put aside (tmp/gc.*) at once: nobody takes them for his own;
//   3. the log says that it is gone, and is synced;
//   4. the index forgets it, the files that were put aside are removed.
// After a crash between 2 and 3 the next owner finds the files put aside, and puts them back; after
// 3 the log tells it what to forget. Last, segments go in which little is left
// (local_compaction.h).
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/clock.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/record/result.h"
#include "common/store/interface/kept_roots.h"
#include "common/store/interface/named_blobs.h"
#include "common/store/local/local_compaction.h"
#include "common/store/local/local_unadopted.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/sessions.h"
#include "common/tree/tree.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

// A blob that no result names may be about to be named.
constexpr absl::Duration kUnnamedAge = absl::Hours(24);
// A dispute goes so long after it was last asked for.
constexpr absl::Duration kDisputeAge = absl::Hours(24 * 90);
// The most results with the same outputs that are kept for what they generated: each level that was
// edited has another result, and its main output may not change.
constexpr size_t kGeneratorsMax = 64;
constexpr size_t kStepMax = 4096;
constexpr size_t kFilesInStepMax = 256;
constexpr int kCollectTriesMax = 3;

// Needed: the digests that are needed, with their sizes. A digest is known by eight bytes of its
// hash: another one may be taken for it, and stays.
class Needed {
 public:
  // False: it was there.
  bool Add(const Digest& digest) {
    if (!fingerprints_.insert(DigestHash()(digest)).second) return false;
    bytes_ += digest.size_bytes();
    return true;
  }
  bool Has(const Digest& digest) const { return fingerprints_.contains(DigestHash()(digest)); }
  uint64_t bytes() const { return bytes_; }

 private:
  absl::flat_hash_set<uint64_t> fingerprints_;
  uint64_t bytes_ = 0;
};

struct CollectedResult {
  Digest key;
  RecordPlace place;
  std::optional<uint64_t> weak_key;  // its fingerprint, as in Needed; none: not known
  bool is_disputed = false;
  bool is_ours = true;
  absl::Time used;
  std::vector<Digest> named;  // the outputs first
  size_t outputs = 0;
};

void ReadOurs(const std::string& payload, CollectedResult& result) {
  const absl::StatusOr<record::Result> decoded = record::DecodeResult(payload);
  if (!decoded.ok()) return;
  AppendNamedBlobs(*decoded, result.named);
  result.outputs = decoded->outputs.size();
  result.is_disputed = decoded->is_disputed;
  result.weak_key = DigestHash()(decoded->provenance.weak_key);
  if (decoded->provenance.weak_key == Digest()) result.weak_key.reset();
}

}  // namespace

// Collector: one run.
class LocalStore::Collector {
 public:
  Collector(LocalStore& store, const GcOptions& options, const Coverage& coverage)
      : store_(store), options_(options), coverage_(coverage) {}

  absl::StatusOr<GcReport> Run() {
    RETURN_IF_ERROR(store_.CommitIfRoom());
    RETURN_IF_ERROR(FindHolders());
    RETURN_IF_ERROR(MarkRoots());
    RETURN_IF_ERROR(ReadResults());
    ChooseResults();
    RETURN_IF_ERROR(ChooseSets());
    RETURN_IF_ERROR(ChooseBlobs());
    Compactor compactor(store_, options_, coverage_, /*is_after_cook=*/false);
    RETURN_IF_ERROR(compactor.Plan(WhatGoes()));
    LeftBehind left(store_, holders_, coverage_);
    RETURN_IF_ERROR(
        left.Find([this](const Digest& digest) { return needed_.Has(digest) || IsTold(digest); }));
    if (!options_.is_dry) {
      // First, since it needs no space: on a full disk it makes some for the rest.
      RETURN_IF_ERROR(left.Remove(options_));
      RETURN_IF_ERROR(compactor.MakeRoom());
      RETURN_IF_ERROR(Sweep());
      RETURN_IF_ERROR(compactor.Run());
    }
    report_.left_files = left.files();
    report_.left_bytes = left.bytes();
    report_.freed_bytes = compactor.freed_bytes();
    report_.moved_bytes = compactor.moved_bytes();
    return std::move(report_);
  }

 private:
  absl::Status FindHolders() {
    ASSIGN_OR_RETURN(holders_, store_.FindHolders());
    report_.held_by = holders_.names;
    store_.touches_.DropBefore(holders_.since);
    return absl::OkStatus();
  }

  bool IsTold(const Digest& digest) const {
    return holders_.hold_all || store_.touches_.Have(digest, holders_.since);
  }

  absl::Status MarkRoots() {
    ASSIGN_OR_RETURN(const std::vector<PublishedRoot> roots, store_.Roots(""));
    for (const PublishedRoot& root : KeptRoots(roots)) RETURN_IF_ERROR(MarkTree(root.root));
    return absl::OkStatus();
  }

  absl::Status MarkTree(const Digest& root) {
    std::vector<Digest> left = {root};
    while (!left.empty()) {
      RETURN_IF_ERROR(CheckCancelled(options_));
      const Digest digest = left.back();
      left.pop_back();
      if (!needed_.Add(digest)) continue;
      const absl::StatusOr<Blob> bytes = store_.GetUntold(digest);
      if (absl::IsNotFound(bytes.status()) || absl::IsDataLoss(bytes.status())) {
        LogWarning("store={} gc: a kept tree lacks a folder: {}", store_.directory_,
                   MessageOf(bytes.status()));
        continue;
      }
      RETURN_IF_ERROR(bytes.status());
      ASSIGN_OR_RETURN(const tree::Directory directory,
                       Annotated(tree::DecodeDirectory(**bytes), digest));
      for (const auto& file : directory.files) needed_.Add(file.digest);
      for (const auto& folder : directory.directories) left.push_back(folder.digest);
    }
    return absl::OkStatus();
  }
  static absl::StatusOr<tree::Directory> Annotated(absl::StatusOr<tree::Directory> directory,
                                                   const Digest& digest) {
    if (directory.ok()) return directory;
    // The files that the folder names cannot be guessed.
    return absl::DataLossError(fmt::format("folder {} of a kept tree cannot be read: {}",
                                           digest.ToString(), MessageOf(directory.status())));
  }

  absl::Status ReadResults() {
    RETURN_IF_ERROR(store_.index_->ForEachResult([&](const Digest& key, const ResultPlace& place) {
      return Read(key, place, RecordKind::kResult);
    }));
    return store_.index_->ForEachActionResult([&](const Digest& key, const ResultPlace& place) {
      return Read(key, place, RecordKind::kActionResult);
    });
  }

  absl::Status Read(const Digest& key, const ResultPlace& place, RecordKind kind) {
    RETURN_IF_ERROR(CheckCancelled(options_));
    CollectedResult result{.key = key, .place = place, .is_ours = kind == RecordKind::kResult};
    absl::StatusOr<Record> record = ReadRecord(store_.directory_, place.segment, place.offset);
    if (record.ok()) {
      // Written is used.
      result.used = absl::FromUnixSeconds(std::max<int64_t>(
          static_cast<int64_t>(record->header.written_s), int64_t{place.used_hours} * 3600));
      if (result.is_ours) {
        ReadOurs(record->payload, result);
      } else {
        result.named = store_.NamedBy(kind, record->payload);
        result.outputs = result.named.size();
      }
    } else if (!absl::IsDataLoss(record.status()) && !absl::IsNotFound(record.status())) {
      return record.status();
    }
    results_.push_back(std::move(result));
    return absl::OkStatus();
  }

  // Which results go, and what is needed by those that stay.
  void ChooseResults() {
    std::vector<CollectedResult*> generators, others;
    for (CollectedResult& result : results_) {
      // Its outputs are in kept trees: it costs nothing, and they are cooked again without it. What
      // it generated is no part of a tree.
      const bool is_of_kept =
          result.outputs != 0 &&
          std::all_of(result.named.begin(),
                      result.named.begin() + static_cast<ptrdiff_t>(result.outputs),
                      [&](const Digest& digest) { return needed_.Has(digest); });
      const bool has_generated = result.outputs != result.named.size();
      // It costs next to nothing, and without it the next outcome would be believed.
      const bool is_live_dispute = result.is_disputed && result.used > DisputesSince();
      if ((is_of_kept && !has_generated) || is_live_dispute || IsTold(result.key)) {
        Keep(result);
      } else {
        (is_of_kept ? generators : others).push_back(&result);
      }
    }
    KeepGenerators(generators, others);
    SortByUse(others);
    const absl::Time oldest = store_.options_.now() - options_.age_max;
    bool is_full = false;
    for (CollectedResult* result : others) {
      uint64_t more = 0;
      for (const Digest& digest : result->named)
        more += needed_.Has(digest) ? 0 : digest.size_bytes();
      is_full = is_full || needed_.bytes() + more > options_.bytes_max;
      if (is_full || result->used < oldest) {
        dropped_results_.push_back(result);
      } else {
        Keep(*result);
      }
    }
    for (const CollectedResult* result : dropped_results_) {
      for (const Digest& digest : result->named) named_by_dropped_.Add(digest);
    }
    report_.dropped_results = dropped_results_.size();
  }

  // Generators that are too many join the other results.
  void KeepGenerators(std::vector<CollectedResult*>& generators,
                      std::vector<CollectedResult*>& others) {
    SortByUse(generators);
    absl::flat_hash_map<uint64_t, size_t> count;  // by their outputs
    for (CollectedResult* result : generators) {
      uint64_t outputs = 0;
      for (size_t i = 0; i < result->outputs; ++i)
        outputs = outputs * 31 + DigestHash()(result->named[i]);
      if (++count[outputs] > kGeneratorsMax) {
        others.push_back(result);
      } else {
        Keep(*result);
      }
    }
  }

  // Used last first.
  static void SortByUse(std::vector<CollectedResult*>& results) {
    std::sort(results.begin(), results.end(),
              [](const CollectedResult* a, const CollectedResult* b) {
                return a->used != b->used ? a->used > b->used : a->key < b->key;
              });
  }

  void Keep(const CollectedResult& result) {
    ++report_.results;
    for (const Digest& digest : result.named) needed_.Add(digest);
    if (result.weak_key.has_value()) weak_keys_.insert(*result.weak_key);
    some_weak_key_is_unknown_ |= result.is_ours && !result.weak_key.has_value();
  }

  // Chooses observation sets under which no result is left, but for young ones: their results may
  // be about to come.
  // (A program before Provenance.weak_key left results that do not say where they belong.)
  absl::Status ChooseSets() {
    if (some_weak_key_is_unknown_) return absl::OkStatus();
    return store_.index_->ForEachObservationSet([&](const Digest& weak_key,
                                                    const SetPlace& set) -> absl::Status {
      if (weak_keys_.contains(DigestHash()(weak_key)) || IsTold(weak_key)) return absl::OkStatus();
      RETURN_IF_ERROR(CheckCancelled(options_));
      const auto record = ReadRecord(store_.directory_, set.place.segment, set.place.offset);
      const bool is_young =
          record.ok() &&
          absl::FromUnixSeconds(static_cast<int64_t>(record->header.written_s)) > UnnamedSince();
      if (!is_young) dropped_sets_.emplace_back(weak_key, set.place);
      return absl::OkStatus();
    });
  }

  absl::Status ChooseBlobs() {
    return store_.index_->ForEachBlob([&](const LocatedBlob& blob) -> absl::Status {
      const auto& [digest, location] = blob;
      const bool stays = needed_.Has(digest) || IsTold(digest) ||
                         (!named_by_dropped_.Has(digest) && IsYoung(blob));
      (stays ? report_.blobs : report_.dropped_blobs) += 1;
      (stays ? report_.bytes : report_.dropped_bytes) += digest.size_bytes();
      if (!stays) dropped_blobs_.push_back(blob);
      return absl::OkStatus();
    });
  }

  // Whether the blob was written lately, or lies in a segment that was.
  bool IsYoung(const LocatedBlob& blob) {
    const uint64_t segment = blob.second.segment;
    if (segment == 0)
      return WrittenAt(BlobFilePath(store_.directory_, blob.first)) > UnnamedSince();
    const auto [at, is_new] = segment_written_.try_emplace(segment);
    if (is_new) at->second = WrittenAt(SegmentPath(store_.directory_, segment));
    return at->second > UnnamedSince();
  }
  absl::Time DisputesSince() const { return store_.options_.now() - kDisputeAge; }
  absl::Time UnnamedSince() const { return store_.options_.now() - kUnnamedAge; }
  static absl::Time WrittenAt(const std::string& path) {
    const absl::StatusOr<FileStat> stat = StatFile(path);
    return stat.ok() ? absl::FromUnixNanos(stat->mtime_ns) : absl::InfinitePast();
  }

  Dropped WhatGoes() const {
    Dropped dropped;
    for (const auto& [digest, location] : dropped_blobs_) dropped.blobs.insert(digest);
    for (const CollectedResult* result : dropped_results_) dropped.records.insert(result->place);
    for (const auto& [weak_key, place] : dropped_sets_) dropped.records.insert(place);
    return dropped;
  }

  // Nothing of the log says so: an index that is made anew has them again, and the next collection
  // drops them again.
  absl::Status SweepSets() {
    for (size_t begin = 0; begin < dropped_sets_.size(); begin += kStepMax) {
      RETURN_IF_ERROR(CheckCancelled(options_));
      const base::MutexLock lock(store_.commit_mutex_);
      RETURN_IF_ERROR(store_.broken_);
      RETURN_IF_ERROR(store_.index_->StillCovers(coverage_));
      auto index = store_.index_->NewBatch();
      for (size_t i = begin; i < std::min(begin + kStepMax, dropped_sets_.size()); ++i) {
        const auto& [weak_key, place] = dropped_sets_[i];
        if (!IsTold(weak_key)) RETURN_IF_ERROR(index->RemoveObservationSet(weak_key, place));
      }
      RETURN_IF_ERROR(store_.WriteIndex(std::move(index)));
    }
    return absl::OkStatus();
  }

  absl::Status Sweep() {
    RETURN_IF_ERROR(SweepSets());
    if (dropped_results_.empty() && dropped_blobs_.empty()) return absl::OkStatus();
    {
      const base::MutexLock lock(store_.commit_mutex_);
      RETURN_IF_ERROR(store_.broken_);
      auto index = store_.index_->NewBatch();
      RETURN_IF_ERROR(store_.RaiseEpoch(*index));
      RETURN_IF_ERROR(store_.WriteIndex(std::move(index)));
      epoch_ = store_.index_->epoch();
    }
    report_.dropped_results = report_.dropped_blobs = report_.dropped_bytes = 0;
    size_t result = 0, blob = 0;
    // Results first: one that names what is gone is of no use to anybody.
    while (result < dropped_results_.size() || blob < dropped_blobs_.size()) {
      Step step;
      for (; result < dropped_results_.size() && step.size() < kStepMax; ++result) {
        const CollectedResult& dropped = *dropped_results_[result];
        (dropped.is_ours ? step.results : step.action_results).push_back(dropped.key);
      }
      size_t files = 0;
      for (; blob < dropped_blobs_.size() && step.size() < kStepMax && files < kFilesInStepMax;
           ++blob) {
        step.blobs.push_back(dropped_blobs_[blob]);
        files += dropped_blobs_[blob].second.segment == 0;
      }
      RETURN_IF_ERROR(Drop(step));
    }
    return absl::OkStatus();
  }

  struct Step {
    std::vector<Digest> results, action_results;
    std::vector<LocatedBlob> blobs;
    size_t size() const { return results.size() + action_results.size() + blobs.size(); }
  };

  absl::Status Drop(Step& step) {
    RETURN_IF_ERROR(CheckCancelled(options_));
    const base::MutexLock lock(store_.commit_mutex_);
    RETURN_IF_ERROR(store_.broken_);
    RETURN_IF_ERROR(store_.index_->StillCovers(coverage_));
    absl::Status logged = Condemn(step);
    if (logged.ok()) logged = store_.SyncOwnAlone();
    if (!logged.ok()) {
      Pardon(step);
      return logged;
    }
    auto index = store_.index_->NewBatch();
    const absl::Status noted = Note(step, *index);
    // The log says that it is gone: an index that says otherwise is behind it for good.
    if (!noted.ok()) store_.Break(noted);
    RETURN_IF_ERROR(noted);
    RETURN_IF_ERROR(store_.WriteIndex(std::move(index)));
    {
      const base::ExclusiveLock telling(store_.telling_);
      store_.condemned_.clear();
    }
    report_.dropped_results += step.results.size() + step.action_results.size();
    for (const auto& [digest, location] : step.blobs) {
      ++report_.dropped_blobs;
      report_.dropped_bytes += digest.size_bytes();
      if (location.segment == 0) ::unlink(CollectedFilePath(store_.directory_, digest).c_str());
    }
    return absl::OkStatus();
  }

  absl::Status Note(const Step& step, IndexBatch& index) GALLEY_REQUIRES(store_.commit_mutex_) {
    for (const Digest& key : step.results) RETURN_IF_ERROR(index.RemoveResult(key));
    for (const Digest& key : step.action_results) RETURN_IF_ERROR(index.RemoveActionResult(key));
    for (const auto& [digest, location] : step.blobs) RETURN_IF_ERROR(index.RemoveBlob(digest));
    return store_.NoteSegments({}, index);
  }

  // Leaves in `step` what nobody was told of meanwhile. The log says that it is gone before anybody
  // can put it again.
  absl::Status Condemn(Step& step) GALLEY_REQUIRES(store_.commit_mutex_) {
    const base::ExclusiveLock telling(store_.telling_);
    const base::MutexLock lock(store_.mutex_);
    const auto is_told = [&](const Digest& digest) { return IsTold(digest); };
    std::erase_if(step.results, is_told);
    std::erase_if(step.action_results, is_told);
    std::vector<LocatedBlob> untold;
    for (const LocatedBlob& blob : step.blobs) {
      if (!is_told(blob.first) && !store_.pending_.contains(blob.first)) untold.push_back(blob);
    }
    step.blobs = std::move(untold);
    std::erase_if(step.blobs, [&](const LocatedBlob& blob) {
      const auto& [digest, location] = blob;
      return location.segment == 0 && !PutAside(digest);
    });
    for (const auto* keys : {&step.results, &step.action_results})
      store_.condemned_.insert(keys->begin(), keys->end());
    for (const auto& [digest, location] : step.blobs) store_.condemned_.insert(digest);
    return Append(step);
  }
  bool PutAside(const Digest& digest) {
    const std::string from = BlobFilePath(store_.directory_, digest);
    if (::rename(from.c_str(), CollectedFilePath(store_.directory_, digest).c_str()) == 0)
      return true;
    if (errno == ENOENT) return true;  // gone already: the index need not know it
    LogWarning("store={} gc: {}", store_.directory_, MessageOf(ErrnoStatus(errno, "move", from)));
    return false;
  }

  absl::Status Append(const Step& step) GALLEY_REQUIRES(store_.mutex_) {
    std::vector<Digest> blobs;
    for (const auto& [digest, location] : step.blobs) blobs.push_back(digest);
    RecordPlace place;
    if (!step.results.empty())
      RETURN_IF_ERROR(
          store_.Append(RecordKind::kForgotten, Digest(), EncodeDigests(step.results), place));
    if (!step.action_results.empty())
      RETURN_IF_ERROR(store_.Append(RecordKind::kCollected, Digest(),
                                    EncodeDigests(step.action_results), place));
    return store_.Append(RecordKind::kLoss, Digest(), EncodeLoss({.epoch = epoch_, .blobs = blobs}),
                         place);
  }

  void Pardon(const Step& step) {
    const base::ExclusiveLock telling(store_.telling_);
    for (const auto& [digest, location] : step.blobs) {
      if (location.segment == 0) static_cast<void>(RestoreCollectedFile(store_.directory_, digest));
    }
    store_.condemned_.clear();
  }

  LocalStore& store_;
  const GcOptions options_;
  const Coverage coverage_;  // of what it is known by what may go
  GcReport report_;
  Holders holders_;
  Needed needed_, named_by_dropped_;
  std::vector<CollectedResult> results_;
  std::vector<const CollectedResult*> dropped_results_;
  std::vector<LocatedBlob> dropped_blobs_;
  absl::flat_hash_set<uint64_t> weak_keys_;  // of results that stay
  bool some_weak_key_is_unknown_ = false;
  std::vector<std::pair<Digest, RecordPlace>> dropped_sets_;
  std::map<uint64_t, absl::Time> segment_written_;
  uint64_t epoch_ = 0;
};

absl::StatusOr<LocalStore::Holders> LocalStore::FindHolders() {
  ASSIGN_OR_RETURN(const std::vector<SessionInfo> sessions, LiveSessions(directory_));
  const absl::Time now = options_.boot_time();
  Holders holders{.since = now};
  for (const SessionInfo& session : sessions) {
    holders.since = std::min(holders.since, session.begun);
    holders.names.push_back(DescribeSession(session, now));
  }
  holders.hold_all = holders.since < touches_.begun();
  holders.oldest_write = options_.now() - (now - holders.since);
  return holders;
}

absl::StatusOr<GcReport> LocalStore::Collect(const GcOptions& options) {
  const base::MutexLock lock(collect_mutex_);
  absl::StatusOr<GcReport> report;
  // The needed digests are found out again when the index was made again meanwhile.
  for (int tries = 0; tries < kCollectTriesMax; ++tries) {
    ASSIGN_OR_RETURN(const Coverage coverage, index_->Cover());
    report = Collector(*this, options, coverage).Run();
    if (report.ok() || index_->StillCovers(coverage).ok()) break;
  }
  return report;
}

}  // namespace galley::store
