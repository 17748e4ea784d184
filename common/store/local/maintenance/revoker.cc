#include "common/store/local/maintenance/revoker.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/status_macros.h"
#include "common/record/portable_result.h"
#include "common/store/interface/named_blobs.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_reader.h"

namespace galley::store {
namespace {

constexpr size_t kKeysAtOnce = 16'384;  // in a record of the log

}  // namespace

absl::StatusOr<RevokeReport> Revoker::Run() {
  options_.what.until = store_.folder.options.now();
  RETURN_IF_ERROR(store_.commits.CommitIfRoom());
  if (!options_.is_dry) RETURN_IF_ERROR(store_.revoked.Add(options_.what));
  RETURN_IF_ERROR(Find(RecordKind::kResult));
  RETURN_IF_ERROR(Find(RecordKind::kActionResult));
  std::ranges::sort(report_.results, [](const auto& a, const auto& b) { return a.key < b.key; });
  if (!options_.is_dry) RETURN_IF_ERROR(Forget());
  return std::move(report_);
}

absl::Status Revoker::Find(RecordKind kind) {
  const auto visit = [&](const Digest& key, const ResultPlace& place) {
    return Take(kind, key, place);
  };
  return store_.index.Walk(
      kind == RecordKind::kResult ? &Index::ForEachResult : &Index::ForEachActionResult, visit);
}

absl::Status Revoker::Take(RecordKind kind, const Digest& key, const RecordPlace& place) {
  const absl::StatusOr<Record> record =
      ReadRecord(store_.folder.directory, place.segment, place.offset);
  if (absl::IsNotFound(record.status()) || absl::IsDataLoss(record.status()))
    return absl::OkStatus();
  RETURN_IF_ERROR(record.status());
  const bool is_ours = kind == RecordKind::kResult;
  absl::StatusOr<record::Result> result;
  Digest of = key;
  if (is_ours) {
    result = record::DecodeResult(record->payload);
  } else {
    const absl::StatusOr<PutActionResult> put = DecodeActionResult(record->payload);
    if (!put.ok()) return absl::OkStatus();
    of = put->action;
    result = record::DecodePortable(
        put->result, [this](const Digest& digest) { return store_.reader.GetUntold(digest); });
  }
  // Most of other programs' results are none of ours.
  if (!result.ok() || !record::IsRevoked(result->provenance, options_.what))
    return absl::OkStatus();
  const record::Provenance& made = result->provenance;
  RevokeReport::Result found{.key = of,
                             .is_ours = is_ours,
                             .worker = made.worker,
                             .machine = made.machine,
                             .taken = record::TakenAt(made),
                             .received_from = made.received_from};
  for (const record::Output& output : result->outputs) found.outputs.push_back(output.digest);
  report_.results.push_back(std::move(found));
  (is_ours ? ours_ : others_).emplace(key, place);
  return absl::OkStatus();
}

// The epoch rises in any case: other projects may remember results that the store dropped long ago.
absl::Status Revoker::Forget() {
  const base::MutexLock lock(store_.writer.mutex());
  RETURN_IF_ERROR(store_.writer.CheckWritable());
  RETURN_IF_ERROR(store_.writer.RestoreLog());
  RETURN_IF_ERROR(store_.folder.CheckSpace(4096 + 64 * (ours_.size() + others_.size())));
  IndexBatch index;
  std::vector<Digest> ours, others;
  const auto still = [](const std::map<Digest, RecordPlace>& found, const auto& places,
                        const std::vector<Digest>& keys, std::vector<Digest>& go) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (places[i].has_value() && static_cast<const RecordPlace&>(*places[i]) == found.at(keys[i]))
        go.push_back(keys[i]);
    }
  };
  std::vector<Digest> keys;
  for (const auto& [key, place] : ours_) keys.push_back(key);
  ASSIGN_OR_RETURN(const auto places, store_.index.With(&Index::Results, keys));
  still(ours_, places, keys, ours);
  keys.clear();
  for (const auto& [key, place] : others_) keys.push_back(key);
  ASSIGN_OR_RETURN(const auto other_places, store_.index.With(&Index::ActionResults, keys));
  still(others_, other_places, keys, others);
  for (const Digest& key : ours) index.RemoveResult(key);
  for (const Digest& key : others) index.RemoveActionResult(key);
  RETURN_IF_ERROR(store_.writer.RaiseEpoch(index));
  index.SetDisputed();
  {
    const base::MutexLock append_lock(store_.log.mutex());
    const auto append = [&](RecordKind kind, std::span<const Digest> gone)
                            GALLEY_REQUIRES(store_.log.mutex()) -> absl::Status {
      for (; !gone.empty(); gone = gone.subspan(std::min(kKeysAtOnce, gone.size()))) {
        const auto some = gone.first(std::min(kKeysAtOnce, gone.size()));
        RETURN_IF_ERROR(store_.log.Append(kind, Digest(), EncodeDigests(some)).status());
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(append(RecordKind::kForgotten, ours));
    RETURN_IF_ERROR(append(RecordKind::kCollected, others));
  }
  return store_.writer.SyncAndIndex(index);
}

}  // namespace galley::store
