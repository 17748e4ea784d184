#include "common/store/local/maintenance/collector.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "common/base/counted.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/record/result.h"
#include "common/store/interface/kept_roots.h"
#include "common/store/interface/named_blobs.h"
#include "common/store/local/layout.h"
#include "common/store/local/maintenance/left_behind.h"
#include "common/store/local/segment_reader.h"
#include "common/tree/linked_directory.h"
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
// Action keys that the index is asked for with one call.
constexpr size_t kResultsAtOnce = 4096;

absl::StatusOr<tree::Directory> Annotated(absl::StatusOr<tree::Directory> directory,
                                          const Digest& digest) {
  if (directory.ok()) return directory;
  // The files that the folder names cannot be guessed.
  return DataLossError("folder {} of a kept tree cannot be read: {}", digest.ToString(),
                       MessageOf(directory.status()));
}

absl::Time WrittenAt(const std::string& path) {
  const absl::StatusOr<FileStat> stat = StatFile(path);
  return stat.ok() ? absl::FromUnixNanos(stat->mtime_ns) : absl::InfinitePast();
}

}  // namespace

absl::StatusOr<GcReport> Collector::Run() {
  RETURN_IF_ERROR(store_.commits.CommitIfRoom());
  ASSIGN_OR_RETURN(holders_, FindHolders(store_));
  report_.held_by = holders_.names;
  store_.reported_present.DropBefore(holders_.since);
  RETURN_IF_ERROR(MarkRoots());
  RETURN_IF_ERROR(ReadResults());
  RETURN_IF_ERROR(FindKeptActions());
  RETURN_IF_ERROR(ChooseResults());
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
    RETURN_IF_ERROR(Sweeper(store_, options_, coverage_, holders_).Sweep(SweepPlan(), report_));
    RETURN_IF_ERROR(compactor.Run());
  }
  report_.left_files = left.files();
  report_.left_bytes = left.bytes();
  report_.freed_bytes = compactor.freed_bytes();
  report_.moved_bytes = compactor.moved_bytes();
  return std::move(report_);
}

bool Collector::IsTold(const Digest& digest) const {
  return holders_.hold_all || store_.reported_present.WasTold(digest, holders_.since);
}

absl::Status Collector::MarkRoots() {
  ASSIGN_OR_RETURN(const std::vector<PublishedRoot> roots, store_.reader.Roots(""));
  for (const PublishedRoot& root : KeptRoots(roots)) RETURN_IF_ERROR(MarkKeptTree(root.root));
  for (const RootLease& lease : store_.leases.All(store_.folder.options.now()))
    RETURN_IF_ERROR(MarkLeasedTree(lease));
  return absl::OkStatus();
}

// Cooked trees, without links.
absl::Status Collector::MarkKeptTree(const Digest& root) {
  std::vector<Digest> left = {root};
  while (!left.empty()) {
    RETURN_IF_ERROR(CheckCancelled(options_));
    const Digest digest = left.back();
    left.pop_back();
    if (!needed_.Add(digest)) continue;
    const absl::StatusOr<Blob> bytes = store_.reader.GetUntold(digest);
    if (absl::IsNotFound(bytes.status()) || absl::IsDataLoss(bytes.status())) {
      LogWarning("store={} gc: a kept tree lacks a folder: {}", store_.folder.directory,
                 MessageOf(bytes.status()));
      continue;
    }
    RETURN_IF_ERROR(bytes.status());
    ASSIGN_OR_RETURN(const tree::Directory directory,
                     Annotated(tree::DecodeDirectory(**bytes), digest));
    MarkEntries(directory, left);
  }
  return absl::OkStatus();
}

// A session is worth less than a collection: a damaged tree is said once, and never ends it. An
// error of a machine that lacks something (memory, descriptors) is no damage.
absl::Status Collector::MarkLeasedTree(const RootLease& lease) {
  std::vector<Digest> left = {lease.root};
  size_t unreadable = 0;
  std::string first;
  while (!left.empty()) {
    RETURN_IF_ERROR(CheckCancelled(options_));
    const Digest digest = left.back();
    left.pop_back();
    if (!needed_.Add(digest)) continue;
    const absl::StatusOr<Blob> bytes = store_.reader.GetUntold(digest);
    if (absl::IsResourceExhausted(bytes.status())) return bytes.status();
    const absl::StatusOr<tree::LinkedDirectory> directory =
        bytes.ok() ? tree::DecodeLinkedDirectory(**bytes) : bytes.status();
    if (directory.ok()) {
      MarkEntries(*directory, left);
    } else if (++unreadable == 1) {
      first = fmt::format("{}: {}", digest.ToString(), MessageOf(directory.status()));
    }
  }
  if (unreadable != 0) {
    LogWarning("store={} gc: {} of the tree of lease {} cannot be read; what they name may go: {}",
               store_.folder.directory, Counted(unreadable, "folder"), lease.name, first);
  }
  return absl::OkStatus();
}

template <typename Tree>
void Collector::MarkEntries(const Tree& directory, std::vector<Digest>& folders) {
  for (const tree::FileNode& file : directory.files) needed_.Add(file.digest);
  for (const tree::DirectoryNode& folder : directory.directories) folders.push_back(folder.digest);
}

absl::Status Collector::ReadResults() {
  RETURN_IF_ERROR(
      store_.index.Walk(&Index::ForEachResult, [&](const Digest& key, const ResultPlace& place) {
        return Read(key, place, RecordKind::kResult);
      }));
  return store_.index.Walk(&Index::ForEachActionResult,
                           [&](const Digest& key, const ResultPlace& place) {
                             return Read(key, place, RecordKind::kActionResult);
                           });
}

absl::Status Collector::Read(const Digest& key, const ResultPlace& place, RecordKind kind) {
  RETURN_IF_ERROR(CheckCancelled(options_));
  Result result{.key = key, .place = place, .is_ours = kind == RecordKind::kResult};
  absl::StatusOr<Record> record = ReadRecord(store_.folder.directory, place.segment, place.offset);
  if (record.ok()) {
    // Written is used.
    result.used = absl::FromUnixSeconds(std::max<int64_t>(
        static_cast<int64_t>(record->header.written_s), int64_t{place.used_hours} * 3600));
    if (result.is_ours) {
      ReadOurs(record->payload, result);
    } else {
      result.named = store_.reader.NamedBy(kind, record->payload);
      result.outputs = result.named.size();
    }
  } else if (!absl::IsDataLoss(record.status()) && !absl::IsNotFound(record.status())) {
    return record.status();
  }
  results_.push_back(std::move(result));
  return absl::OkStatus();
}

void Collector::ReadOurs(const std::string& payload, Result& result) {
  const absl::StatusOr<record::Result> decoded = record::DecodeResult(payload);
  if (!decoded.ok()) return;
  AppendNamedBlobs(*decoded, result.named);
  result.outputs = decoded->outputs.size();
  result.is_disputed = decoded->is_disputed;
  result.weak_key = DigestHash()(decoded->provenance.weak_key);
  if (decoded->provenance.weak_key == Digest()) result.weak_key.reset();
}

// The results lie in the order of their keys, as the index does: where no inputs were kept, this is
// the whole cost of kept inputs.
absl::Status Collector::FindKeptActions() {
  for (size_t begin = 0; begin < results_.size(); begin += kResultsAtOnce) {
    RETURN_IF_ERROR(CheckCancelled(options_));
    const size_t end = std::min(results_.size(), begin + kResultsAtOnce);
    std::vector<Digest> keys;
    for (size_t i = begin; i < end; ++i) keys.push_back(results_[i].key);
    ASSIGN_OR_RETURN(const auto found, store_.reader.Look(keys));
    for (size_t i = begin; i < end; ++i)
      results_[i].has_inputs = results_[i].is_ours && found[i - begin].has_value();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Digest>> Collector::InputsOf(const Result& result) const {
  if (!result.has_inputs) return std::vector<Digest>();
  return store_.reader.InputsOf(result.key);
}

// Which results go, and what is needed by those that stay.
absl::Status Collector::ChooseResults() {
  KeepForTrees();
  RETURN_IF_ERROR(KeepByUse());
  for (const Result* result : dropped_results_) {
    for (const Digest& digest : result->named) named_by_dropped_.Add(digest);
  }
  report_.dropped_results = dropped_results_.size();
  return absl::OkStatus();
}

void Collector::KeepForTrees() {
  std::vector<Result*> generators;
  for (Result& result : results_) {
    // The outputs are in kept trees: it costs nothing, and they are cooked again without it. What
    // it generated is no part of a tree.
    const bool is_of_kept =
        result.outputs != 0 &&
        std::all_of(result.named.begin(),
                    result.named.begin() + static_cast<ptrdiff_t>(result.outputs),
                    [&](const Digest& digest) { return needed_.Has(digest); });
    const bool has_generated = result.outputs != result.named.size();
    // A live dispute costs next to nothing, and without it the next outcome would be believed.
    const bool is_live_dispute = result.is_disputed && result.used > DisputesSince();
    if ((is_of_kept && !has_generated) || is_live_dispute || IsTold(result.key)) {
      Keep(result);
    } else if (is_of_kept) {
      generators.push_back(&result);
    }
  }
  KeepGenerators(generators);
}

// Generators that are too many count like the other results.
void Collector::KeepGenerators(std::vector<Result*>& generators) {
  SortByUse(generators);
  absl::flat_hash_map<uint64_t, size_t> count;  // by their outputs
  for (Result* result : generators) {
    uint64_t outputs = 0;
    for (size_t i = 0; i < result->outputs; ++i)
      outputs = outputs * 31 + DigestHash()(result->named[i]);
    if (++count[outputs] <= kGeneratorsMax) Keep(*result);
  }
}

// Goes through all results, for the inputs of kept results are kept by use, too.
absl::Status Collector::KeepByUse() {
  std::vector<Result*> all;
  for (Result& result : results_) all.push_back(&result);
  SortByUse(all);
  const absl::Time oldest = store_.folder.options.now() - options_.age_max;
  bool is_full = false;
  for (Result* result : all) {
    RETURN_IF_ERROR(CheckCancelled(options_));
    if (result->is_kept && !result->has_inputs) continue;
    ASSIGN_OR_RETURN(const std::vector<Digest> inputs, InputsOf(*result));
    const uint64_t more = BytesOfNew(inputs) + (result->is_kept ? 0 : BytesOfNew(result->named));
    const bool is_old = !result->is_kept && result->used < oldest;
    // A result that goes for its age takes no room.
    is_full = is_full || (!is_old && needed_.bytes() + more > options_.bytes_max);
    if (!is_full && !is_old && !result->is_kept) Keep(*result);
    if (!result->is_kept) dropped_results_.push_back(result);
    Needed& inputs_in = is_full || is_old ? named_by_dropped_ : needed_;
    for (const Digest& digest : inputs) inputs_in.Add(digest);
  }
  return absl::OkStatus();
}

// Used last first.
void Collector::SortByUse(std::vector<Result*>& results) {
  std::ranges::sort(results, [](const Result* a, const Result* b) {
    return a->used != b->used ? a->used > b->used : a->key < b->key;
  });
}

uint64_t Collector::BytesOfNew(const std::vector<Digest>& digests) const {
  uint64_t bytes = 0;
  for (const Digest& digest : digests) bytes += needed_.Has(digest) ? 0 : digest.size_bytes();
  return bytes;
}

void Collector::Keep(Result& result) {
  result.is_kept = true;
  ++report_.results;
  for (const Digest& digest : result.named) needed_.Add(digest);
  if (result.weak_key.has_value()) weak_keys_.insert(*result.weak_key);
  some_weak_key_is_unknown_ |= result.is_ours && !result.weak_key.has_value();
}

// Chooses observation sets under which no result is left, but for young ones: their results may be
// about to come. A program before Provenance.weak_key left results that do not say where they
// belong.
absl::Status Collector::ChooseSets() {
  if (some_weak_key_is_unknown_) return absl::OkStatus();
  return store_.index.Walk(
      &Index::ForEachObservationSet,
      [&](const Digest& weak_key, const SetPlace& set) -> absl::Status {
        if (weak_keys_.contains(DigestHash()(weak_key)) || IsTold(weak_key))
          return absl::OkStatus();
        RETURN_IF_ERROR(CheckCancelled(options_));
        const auto record =
            ReadRecord(store_.folder.directory, set.place.segment, set.place.offset);
        const bool is_young =
            record.ok() &&
            absl::FromUnixSeconds(static_cast<int64_t>(record->header.written_s)) > UnnamedSince();
        if (!is_young) dropped_sets_.emplace_back(weak_key, set.place);
        return absl::OkStatus();
      });
}

absl::Status Collector::ChooseBlobs() {
  return store_.index.Walk(&Index::ForEachBlob,
                           [&](const Digest& digest, const BlobLocation& location) {
                             const LocatedBlob blob(digest, location);
                             const bool stays = needed_.Has(digest) || IsTold(digest) ||
                                                (!named_by_dropped_.Has(digest) && IsYoung(blob));
                             (stays ? report_.blobs : report_.dropped_blobs) += 1;
                             (stays ? report_.bytes : report_.dropped_bytes) += digest.size_bytes();
                             if (!stays) dropped_blobs_.push_back(blob);
                             return absl::OkStatus();
                           });
}

// Whether the blob was written lately, or lies in a segment that was.
bool Collector::IsYoung(const LocatedBlob& blob) {
  const uint64_t segment = blob.second.segment;
  if (segment == 0)
    return WrittenAt(BlobFilePath(store_.folder.directory, blob.first)) > UnnamedSince();
  const auto [at, is_new] = segment_written_.try_emplace(segment);
  if (is_new) at->second = WrittenAt(SegmentPath(store_.folder.directory, segment));
  return at->second > UnnamedSince();
}

absl::Time Collector::DisputesSince() const { return store_.folder.options.now() - kDisputeAge; }

absl::Time Collector::UnnamedSince() const { return store_.folder.options.now() - kUnnamedAge; }

Sweeper::Plan Collector::SweepPlan() const {
  Sweeper::Plan plan{.sets = dropped_sets_, .results = {}, .blobs = dropped_blobs_};
  for (const Result* result : dropped_results_)
    plan.results.push_back({.key = result->key, .is_ours = result->is_ours});
  return plan;
}

Dropped Collector::WhatGoes() const {
  Dropped dropped;
  for (const auto& [digest, location] : dropped_blobs_) dropped.blobs.insert(digest);
  for (const Result* result : dropped_results_) dropped.records.insert(result->place);
  for (const auto& [weak_key, place] : dropped_sets_) dropped.records.insert(place);
  return dropped;
}

}  // namespace galley::store
