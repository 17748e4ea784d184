// Encodings of the keys and values of an Index in RocksDB.
//
// Errors of decoding: DATA_LOSS: a value or key has the wrong size, or impossible contents.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/local/index.h"

namespace galley::store {

// Keys begin with one letter: b blob, r result, a another program's result, o observation sets, p
// published root, s segment, d known damage, m about the index.
inline constexpr std::string_view kMetaStore = "mstore";        // "<index version> <store id>"
inline constexpr std::string_view kMetaEpoch = "mepoch";        // fixed64
inline constexpr std::string_view kMetaDisputed = "mdisputed";  // fixed64; may be absent
inline constexpr std::string_view kMetaCounters = "mcounters";  // 7 * fixed64
inline constexpr std::string_view kIndexVersion = "1";

std::string DigestKey(char kind, const Digest& digest);
absl::StatusOr<Digest> KeyDigest(std::string_view key);
// Returns the common beginning of the keys of a project's roots.
std::string RootsPrefix(std::string_view project_id);
std::string RootKey(const PublishedRoot& root);
std::string SegmentKey(uint64_t number);
// Returns the number in a SegmentKey.
absl::StatusOr<uint64_t> KeySegment(std::string_view key);
std::string DamageKey(const RecordPlace& place);

std::string EncodePlace(uint64_t segment, uint64_t offset);
absl::StatusOr<RecordPlace> DecodePlace(std::string_view bytes);
std::string EncodeResultPlace(const ResultPlace& place);
// A place from an older program has no time of use.
absl::StatusOr<ResultPlace> DecodeResultPlace(std::string_view bytes);
std::string EncodeSets(const std::vector<SetPlace>& sets);
absl::StatusOr<std::vector<SetPlace>> DecodeSets(std::string_view bytes);
std::string EncodeRoot(const IndexedRoot& indexed);
absl::StatusOr<IndexedRoot> DecodeRoot(std::string_view bytes);
std::string EncodeSegmentState(const SegmentState& state);
absl::StatusOr<SegmentState> DecodeSegmentState(std::string_view bytes);
std::string EncodeCounters(const IndexCounters& counters);
absl::StatusOr<IndexCounters> DecodeCounters(std::string_view bytes);

// Returns the error for a value of the wrong size.
absl::Status WrongValue(std::string_view what);

}  // namespace galley::store
