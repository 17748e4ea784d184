// StoreReader: reads a store, by its index and the pending blobs.
//
// A function that says *Told* is for callers that rely on the answer: blobs and results that the
// answer reports as present stay while anybody may rely on them (reported_present.h). An answer of
// the other functions does not make anything stay.
//
// Errors: NOT_FOUND: absent. DATA_LOSS: stored bytes are wrong; the caller handles that (losses.h).
// Threads: any. Takes ReportedPresent's lock, then OwnLog's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/store_state.h"

namespace galley::store {

class StoreReader {
 public:
  // `segments`: of recovery.
  StoreReader(StoreState& state, const std::map<uint64_t, SegmentState>& segments);

  // Returns the locations of blobs. Told.
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(std::span<const Digest> digests);
  // Returns the absent blobs, in the order given. Told: the other blobs stay.
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests);
  // Returns the results whose blobs are all present; nullopt: none. Told, and noted as used.
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys);
  // Returns the same without a look at the blobs: some may be absent. Told, and noted as used.
  absl::StatusOr<std::vector<std::optional<std::string>>> RecordedResults(
      std::span<const Digest> action_keys) {
    return ReadTold(RecordKind::kResult, action_keys);
  }
  // Returns the records of other programs' results, by ActionResultKey, without a look at their
  // blobs. Told, and noted as used.
  absl::StatusOr<std::vector<std::optional<std::string>>> ActionResultRecords(
      std::span<const Digest> keys) {
    return ReadTold(RecordKind::kActionResult, keys);
  }
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys);

  // Returns the locations of blobs, pending blobs included. Tells nobody.
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Look(std::span<const Digest> digests);
  // Returns the locations by the index alone, without blobs that were cut off (IsCutOff).
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Indexed(std::span<const Digest> digests);
  // True: the blob was lost with the end of its segment.
  bool IsCutOff(const Digest& digest, const BlobLocation& location) const;
  absl::StatusOr<Blob> GetUntold(const Digest& digest);
  // Returns the payload of a record in the owner's segments. DATA_LOSS: another record lies there,
  // or wrong bytes.
  absl::StatusOr<std::string> ReadLogged(RecordKind kind, const Digest& key,
                                         const RecordPlace& place);
  // Returns the blobs that a result's payload names, ours or another program's. An unreadable
  // result names nothing.
  std::vector<Digest> NamedBy(RecordKind kind, const std::string& payload);
  // Returns the blobs from which the outputs of a result are made again (record/kept_action.h);
  // none: they were not kept, or one that leads to the others is absent or wrong. Tells nobody.
  // Cost: one look at the index if they were not kept.
  absl::StatusOr<std::vector<Digest>> InputsOf(const Digest& action_key);
  // Returns the roots of a project, newest first. An empty id: roots of all projects.
  absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id);

 private:
  absl::StatusOr<std::vector<std::optional<std::string>>> ReadTold(RecordKind kind,
                                                                   std::span<const Digest> keys);
  absl::StatusOr<std::vector<std::optional<std::string>>> ReadLoggedResults(
      RecordKind kind, std::span<const Digest> keys,
      std::span<const std::optional<ResultPlace>> places);
  absl::StatusOr<std::string> ReadSet(const Digest& weak_key, const SetPlace& set);

  StoreState& state_;
  // Lengths of the segments that were longer once: index entries after these ends are wrong.
  const std::map<uint64_t, uint64_t> cut_segments_;
};

}  // namespace galley::store
