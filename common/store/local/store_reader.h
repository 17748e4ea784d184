// StoreReader: reads what lies in a store, by its index and what is pending.
//
// Whoever asks for something on behalf of others is *told*: what the answer says is there stays
// while anybody may rely on it (told.h). Functions that tell nobody are for those who look after
// the store: what they read does not stay because of it.
//
// Errors: NOT_FOUND: absent. DATA_LOSS: stored bytes are wrong; nothing is done about it here
// (losses.h).
// Threads: any. Takes Told's lock, then OwnLog's.
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
  // `segments`: as recovery found them.
  StoreReader(StoreState& state, const std::map<uint64_t, SegmentState>& segments);

  // Places of blobs. Told.
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(std::span<const Digest> digests);
  // The blobs that are absent, in the order given. Told of the others.
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests);
  // Results whose blobs are all there; nullopt: none. Told, and noted as used.
  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys);
  // The records of results of other programs, by ActionResultKey. Whether their blobs are there is
  // not looked at. Told, and noted as used.
  absl::StatusOr<std::vector<std::optional<std::string>>> ActionResultRecords(
      std::span<const Digest> keys) {
    return ReadTold(RecordKind::kActionResult, keys);
  }
  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys);

  // Places of blobs, those that are pending included. Tells nobody.
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Look(std::span<const Digest> digests);
  // Places by the index alone, without blobs that went with the ends of their segments.
  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Indexed(std::span<const Digest> digests);
  // Whether the blob went with the end of its segment.
  bool IsCutOff(const Digest& digest, const BlobLocation& location) const;
  absl::StatusOr<Blob> GetUntold(const Digest& digest);
  // The payload of a record of the owner's. DATA_LOSS: another record lies there, or wrong bytes.
  absl::StatusOr<std::string> ReadLogged(RecordKind kind, const Digest& key,
                                         const RecordPlace& place);
  // The blobs that the payload of a result names, ours or another program's. A result that cannot
  // be read names nothing.
  std::vector<Digest> NamedBy(RecordKind kind, const std::string& payload);
  // Newest first. An empty id: those of every project.
  absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id);

 private:
  absl::StatusOr<std::vector<std::optional<std::string>>> ReadTold(RecordKind kind,
                                                                   std::span<const Digest> keys);
  absl::StatusOr<std::vector<std::optional<std::string>>> ReadLoggedResults(
      RecordKind kind, std::span<const Digest> keys,
      std::span<const std::optional<ResultPlace>> places);
  absl::StatusOr<std::string> ReadSet(const Digest& weak_key, const SetPlace& set);

  StoreState& state_;
  // Segments that were longer once, and how long they are: what the index says of the rest is
  // wrong.
  const std::map<uint64_t, uint64_t> cut_segments_;
};

}  // namespace galley::store
