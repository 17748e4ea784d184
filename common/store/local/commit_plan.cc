#include "common/store/local/commit_plan.h"

#include <algorithm>
#include <optional>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/record/dispute.h"
#include "common/store/interface/action_result.h"
#include "common/store/local/disk.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_writer.h"

namespace galley::store {

bool CommitPlan::is_empty() const {
  return adopted.empty() && pending.empty() && sets.empty() && sets_known.empty() &&
         results.empty() && action_results.empty();
}

std::vector<Digest> CommitPlan::Files() const {
  std::vector<Digest> files;
  for (const auto* blobs : {&adopted, &pending}) {
    for (const auto& [digest, location] : *blobs) {
      if (location.segment == 0) files.push_back(digest);
    }
  }
  return files;
}

absl::Status CommitPlanner::Add(const CommitBatch& batch, StoreWriter& writer) {
  std::vector<record::Result> results;
  for (const PutResult& put : batch.results) {
    absl::StatusOr<record::Result> result = record::DecodeResult(put.result);
    if (!result.ok()) {
      return InvalidArgumentError("result of action key {}: {}", put.action_key.ToString(),
                                  MessageOf(result.status()));
    }
    results.push_back(*std::move(result));
  }
  for (const PutActionResult& put : batch.action_results) {
    const absl::Status valid = ValidateActionResult(put.result);
    if (!valid.ok())
      return InvalidArgumentError("result of action {}: {}", put.action.ToString(),
                                  MessageOf(valid));
  }
  RETURN_IF_ERROR(AddBlobs(batch, writer));
  AddActionResults(batch);
  RETURN_IF_ERROR(AddSets(batch));
  return AddResults(batch, std::move(results));
}

absl::Status CommitPlanner::AddBlobs(const CommitBatch& batch, StoreWriter& writer) {
  std::vector<Digest> digests;
  for (const auto& [digest, location] : batch.blobs) digests.push_back(digest);
  ASSIGN_OR_RETURN(const auto known, reader_.Indexed(digests));
  std::vector<LocatedBlob> adopted;
  RecordHeaders headers(state_.folder.directory);
  Disk disk(state_.folder.directory);
  for (size_t i = 0; i < batch.blobs.size(); ++i) {
    const auto& [digest, location] = batch.blobs[i];
    if (digest == Digest()) continue;
    // A known blob stays where it is, wherever another copy was put, unless somebody deleted it.
    if (const std::optional<BlobLocation>& place = known[i]; place.has_value()) {
      if (*place == location) continue;
      ASSIGN_OR_RETURN(const bool is_there, disk.Has(digest, *place));
      if (is_there) continue;
    }
    RETURN_IF_ERROR(CheckLocation(digest, location, headers));
    if (writer.IsDoubtful(location)) {
      RETURN_IF_ERROR(CopyIn(digest, location));
    } else {
      adopted.push_back(batch.blobs[i]);
    }
  }
  for (const LocatedBlob& blob : adopted) {
    if (adopted_digests_.insert(blob.first).second) plan_.adopted.push_back(blob);
  }
  state_.reported_present.Tell(digests);
  return absl::OkStatus();
}

absl::Status CommitPlanner::CheckLocation(const Digest& digest, const BlobLocation& location,
                                          RecordHeaders& headers) const {
  const auto refuse = [&](std::string_view why) {
    return InvalidArgumentError("blob {} is not at segment {:016x} offset {}: {}",
                                digest.ToString(), location.segment, location.offset, why);
  };
  if (location.segment == 0) {
    const absl::StatusOr<FileStat> stat = StatFile(BlobFilePath(state_.folder.directory, digest));
    if (!stat.ok())
      return absl::IsNotFound(stat.status()) ? refuse(MessageOf(stat.status())) : stat.status();
    return stat->size_bytes == digest.size_bytes() ? absl::OkStatus()
                                                   : refuse("the file has another size");
  }
  const absl::StatusOr<RecordHeader> header = headers.Read(location.segment, location.offset);
  if (absl::IsNotFound(header.status()) || absl::IsDataLoss(header.status()))
    return refuse(MessageOf(header.status()));
  RETURN_IF_ERROR(header.status());
  if (header->kind != RecordKind::kBlob || header->key != digest ||
      header->payload_bytes != digest.size_bytes()) {
    return refuse("another record lies there");
  }
  return absl::OkStatus();
}

// Copies a blob in, as if it had been put.
absl::Status CommitPlanner::CopyIn(const Digest& digest, const BlobLocation& location) {
  const absl::StatusOr<Blob> blob = ReadBlobAt(state_.folder.directory, digest, location);
  if (absl::IsDataLoss(blob.status())) return absl::InvalidArgumentError(MessageOf(blob.status()));
  RETURN_IF_ERROR(blob.status());
  RETURN_IF_ERROR(state_.folder.CheckSpace(RecordSpan((*blob)->size())));
  const BlobView view{.digest = digest, .bytes = **blob};
  return state_.log.PutBlobs(std::span(&view, 1));
}

void CommitPlanner::AddActionResults(const CommitBatch& batch) {
  for (const PutActionResult& put : batch.action_results) {
    plan_.action_results.emplace_back(ActionResultKey(put.instance, put.action),
                                      EncodeActionResult(put));
    const auto& [key, payload] = plan_.action_results.back();
    plan_.bytes += RecordSpan(payload.size());
    state_.reported_present.Tell(std::span(&key, 1));
  }
}

absl::Status CommitPlanner::AddSets(const CommitBatch& batch) {
  std::vector<CommitPlan::SetView> given;
  for (const PutResult& put : batch.results) {
    if (put.weak_key != Digest()) given.push_back({put.weak_key, put.observation_set});
  }
  for (const PutSet& put : batch.sets) given.push_back({put.weak_key, put.observation_set});
  std::vector<Digest> weak_keys;
  for (const CommitPlan::SetView& set : given) weak_keys.push_back(set.weak_key);
  state_.reported_present.Tell(weak_keys);
  ASSIGN_OR_RETURN(const auto known, state_.index.With(&Index::ObservationSets, weak_keys));
  for (size_t i = 0; i < given.size(); ++i) {
    const uint64_t checksum = Checksum(given[i].bytes);
    if (!set_checksums_.emplace(given[i].weak_key, checksum).second) continue;
    const auto& sets = known[i];
    const auto same =
        std::ranges::find_if(sets, [&](const SetPlace& set) { return set.checksum == checksum; });
    if (same == sets.end()) {
      plan_.sets.push_back(given[i]);
      plan_.bytes += RecordSpan(given[i].bytes.size());
    } else if (same != sets.begin()) {
      plan_.sets_known.emplace_back(given[i].weak_key, *same);
    }
  }
  return absl::OkStatus();
}

absl::Status CommitPlanner::AddResults(const CommitBatch& batch,
                                       std::vector<record::Result> given) {
  std::vector<Digest> keys;
  for (const PutResult& put : batch.results) keys.push_back(put.action_key);
  // Results that are there and whole. A result that names blobs that are gone is replaced.
  ASSIGN_OR_RETURN(const auto stored, reader_.Results(keys));
  std::string conflicts;
  outcomes_.reserve(outcomes_.size() + keys.size());
  for (size_t i = 0; i < batch.results.size(); ++i) {
    const PutResult& put = batch.results[i];
    auto at = outcomes_.find(put.action_key);
    if (at == outcomes_.end() && stored[i].has_value()) {
      ASSIGN_OR_RETURN(record::Result old, record::DecodeResult(*stored[i]));
      results_.push_back(std::move(old));
      at = outcomes_.emplace(put.action_key, &results_.back()).first;
    }
    const record::Standing standing = at == outcomes_.end()
                                          ? record::Standing::kGiven
                                          : record::JudgeDispute(*at->second, given[i]);
    if (standing == record::Standing::kDispute) {
      given[i] = record::DisputeOf(*at->second, given[i]);
      plan_.disputes.push_back(
          {.action_key = put.action_key, .result = record::EncodeResult(given[i])});
    }
    if (standing != record::Standing::kStored) {
      plan_.results.push_back(standing == record::Standing::kGiven ? &put : &plan_.disputes.back());
      plan_.bytes += RecordSpan(plan_.results.back()->result.size());
      plan_.is_disputing |= given[i].is_disputed;
      results_.push_back(std::move(given[i]));
      outcomes_.insert_or_assign(put.action_key, &results_.back());
    }
    const bool is_another =
        standing == record::Standing::kDispute ||
        (standing == record::Standing::kStored && !record::SameOutcome(*at->second, given[i]));
    if (is_another) conflicts += " " + put.action_key.ToString();
  }
  state_.reported_present.Tell(keys);
  if (conflicts.empty()) return absl::OkStatus();
  return absl::AlreadyExistsError("another outcome is stored for action key" + conflicts);
}

}  // namespace galley::store
