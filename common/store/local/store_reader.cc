#include "common/store/local/store_reader.h"

#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/record/kept_action.h"
#include "common/record/result.h"
#include "common/store/interface/action_result.h"
#include "common/store/interface/named_blobs.h"
#include "common/store/local/segment_reader.h"
#include "common/store/local/segment_writer.h"

namespace galley::store {
namespace {

std::map<uint64_t, uint64_t> CutOnes(const std::map<uint64_t, SegmentState>& segments) {
  std::map<uint64_t, uint64_t> cut;
  for (const auto& [number, state] : segments) {
    if (state.is_cut) cut.emplace(number, state.indexed_bytes);
  }
  return cut;
}

}  // namespace

StoreReader::StoreReader(StoreState& state, const std::map<uint64_t, SegmentState>& segments)
    : state_(state), cut_segments_(CutOnes(segments)) {}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> StoreReader::Indexed(
    std::span<const Digest> digests) {
  ASSIGN_OR_RETURN(std::vector<std::optional<BlobLocation>> found,
                   state_.index.With(&Index::Blobs, digests));
  if (cut_segments_.empty()) return found;
  for (size_t i = 0; i < digests.size(); ++i) {
    std::optional<BlobLocation>& location = found[i];
    if (location.has_value() && IsCutOff(digests[i], *location)) location.reset();
  }
  return found;
}

bool StoreReader::IsCutOff(const Digest& digest, const BlobLocation& location) const {
  const auto cut = cut_segments_.find(location.segment);
  return cut != cut_segments_.end() &&
         location.offset + kRecordHeaderBytes + digest.size_bytes() > cut->second;
}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> StoreReader::Locate(
    std::span<const Digest> digests) {
  const base::SharedLock telling(state_.reported_present.mutex());
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> found = Look(digests);
  if (!found.ok()) return found;
  const absl::Time now = state_.reported_present.Now();
  for (size_t i = 0; i < digests.size(); ++i) {
    std::optional<BlobLocation>& location = (*found)[i];
    if (!location.has_value()) continue;
    if (state_.reported_present.IsCondemned(digests[i])) location = state_.log.Pending(digests[i]);
    if (location.has_value()) state_.reported_present.Add(digests[i], now);
  }
  return found;
}

absl::StatusOr<std::vector<Digest>> StoreReader::FindMissing(std::span<const Digest> digests) {
  ASSIGN_OR_RETURN(const auto found, Locate(digests));
  std::vector<Digest> missing;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (!found[i].has_value()) missing.push_back(digests[i]);
  }
  return missing;
}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> StoreReader::Look(
    std::span<const Digest> digests) {
  // Pending first: a commit that runs meanwhile moves blobs from there to the index, never back.
  const std::vector<std::optional<BlobLocation>> pending = state_.log.Pending(digests);
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> found = Indexed(digests);
  if (!found.ok()) return found;
  for (size_t i = 0; i < digests.size(); ++i) {
    if (!(*found)[i].has_value()) (*found)[i] = pending[i];
    if (digests[i] == Digest()) (*found)[i] = BlobLocation{};
  }
  return found;
}

absl::StatusOr<Blob> StoreReader::GetUntold(const Digest& digest) {
  if (digest == Digest()) return MakeBlob("");
  ASSIGN_OR_RETURN(const auto found, Look(std::span(&digest, 1)));
  if (!found[0].has_value())
    return NotFoundError("blob {} is not in store {}", digest.ToString(), state_.folder.directory);
  return ReadBlobAt(state_.folder.directory, digest, *found[0]);
}

std::vector<Digest> StoreReader::NamedBy(RecordKind kind, const std::string& payload) {
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

absl::StatusOr<std::vector<Digest>> StoreReader::InputsOf(const Digest& action_key) {
  const auto read = [this](std::string_view, const Digest& digest) { return GetUntold(digest); };
  const absl::StatusOr<record::KeptAction> kept = record::ReadKeptAction(action_key, read);
  if (kept.ok()) return record::BlobsOf(*kept);
  const bool is_unkept = absl::IsNotFound(kept.status()) || absl::IsDataLoss(kept.status()) ||
                         absl::IsInvalidArgument(kept.status());
  if (!is_unkept) return kept.status();
  return std::vector<Digest>();
}

absl::StatusOr<std::string> StoreReader::ReadLogged(RecordKind kind, const Digest& key,
                                                    const RecordPlace& place) {
  absl::StatusOr<Record> record = ReadRecord(state_.folder.directory, place.segment, place.offset);
  if (record.status().code() == absl::StatusCode::kNotFound)
    return absl::DataLossError(record.status().message());
  RETURN_IF_ERROR(record.status());
  if (record->header.kind != kind || record->header.key != key) {
    return DataLossError("segment {:016x} offset {}: another record lies there than the index says",
                         place.segment, place.offset);
  }
  return std::move(record->payload);
}

absl::StatusOr<std::vector<PublishedRoot>> StoreReader::Roots(std::string_view project_id) {
  ASSIGN_OR_RETURN(const std::vector<IndexedRoot> indexed,
                   state_.index.With(&Index::Roots, project_id));
  std::vector<PublishedRoot> roots;
  for (const IndexedRoot& root : indexed) roots.push_back(root.root);
  return roots;
}

absl::StatusOr<std::vector<std::vector<std::string>>> StoreReader::ObservationSets(
    std::span<const Digest> weak_keys) {
  ASSIGN_OR_RETURN(const auto places, state_.index.With(&Index::ObservationSets, weak_keys));
  std::vector<std::vector<std::string>> answer(weak_keys.size());
  for (size_t i = 0; i < weak_keys.size(); ++i) {
    for (const SetPlace& set : places[i]) {
      absl::StatusOr<std::string> bytes = ReadSet(weak_keys[i], set);
      if (bytes.ok()) {
        answer[i].push_back(*std::move(bytes));
      } else if (absl::IsDataLoss(bytes.status())) {
        // A lost set costs a load, never a wrong answer; Verify takes it out.
        LogWarning("store={} weak_key={} {}", state_.folder.directory, weak_keys[i].hex(),
                   MessageOf(bytes.status()));
      } else {
        return bytes.status();
      }
    }
  }
  return answer;
}

// Reads a set where it lies now: a collection may have moved it since it was looked up.
absl::StatusOr<std::string> StoreReader::ReadSet(const Digest& weak_key, const SetPlace& set) {
  absl::StatusOr<std::string> bytes = ReadLogged(RecordKind::kObservationSet, weak_key, set.place);
  if (!absl::IsDataLoss(bytes.status())) return bytes;
  ASSIGN_OR_RETURN(const auto now,
                   state_.index.With(&Index::ObservationSets, std::span(&weak_key, 1)));
  for (const SetPlace& other : now.front()) {
    if (other.checksum == set.checksum && other.place != set.place)
      bytes = ReadLogged(RecordKind::kObservationSet, weak_key, other.place);
  }
  return bytes;
}

absl::StatusOr<std::vector<std::optional<std::string>>> StoreReader::Results(
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

absl::StatusOr<std::vector<std::optional<std::string>>> StoreReader::ReadTold(
    RecordKind kind, std::span<const Digest> keys) {
  std::vector<std::optional<ResultPlace>> places;
  {
    const base::SharedLock telling(state_.reported_present.mutex());
    ASSIGN_OR_RETURN(
        places, state_.index.With(
                    kind == RecordKind::kResult ? &Index::Results : &Index::ActionResults, keys));
    const absl::Time now = state_.reported_present.Now();
    for (size_t i = 0; i < keys.size(); ++i) {
      if (state_.reported_present.IsCondemned(keys[i])) places[i].reset();
      if (places[i].has_value()) state_.reported_present.Add(keys[i], now);
    }
  }
  const uint32_t hours = HoursOf(state_.folder.options.now());
  std::vector<Digest> used;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (places[i].has_value() && places[i]->used_hours < hours) used.push_back(keys[i]);
  }
  state_.used.Note(kind, used);
  return ReadLoggedResults(kind, keys, places);
}

// A result that is lost is answered as none, and the log says so; Verify takes it out.
absl::StatusOr<std::vector<std::optional<std::string>>> StoreReader::ReadLoggedResults(
    RecordKind kind, std::span<const Digest> keys,
    std::span<const std::optional<ResultPlace>> places) {
  std::vector<std::optional<std::string>> answer(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!places[i].has_value()) continue;
    absl::StatusOr<std::string> bytes = ReadLogged(kind, keys[i], *places[i]);
    if (absl::IsDataLoss(bytes.status())) {
      // A collection may have moved it meanwhile.
      const std::span key(&keys[i], 1);
      ASSIGN_OR_RETURN(
          const auto now,
          state_.index.With(kind == RecordKind::kResult ? &Index::Results : &Index::ActionResults,
                            key));
      const std::optional<ResultPlace>& place = now.front();
      if (place.has_value() && RecordPlace(*place) != RecordPlace(*places[i]))
        bytes = ReadLogged(kind, keys[i], *place);
    }
    if (bytes.ok()) {
      answer[i] = *std::move(bytes);
    } else if (absl::IsDataLoss(bytes.status())) {
      LogWarning("store={} action_key={} {}", state_.folder.directory, keys[i].hex(),
                 MessageOf(bytes.status()));
    } else {
      return bytes.status();
    }
  }
  return answer;
}

}  // namespace galley::store
