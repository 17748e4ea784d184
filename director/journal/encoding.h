// Encoding: the stored form of the journal's records: protobuf wire format, fields in ascending
// number, default values absent (common/base/wire_format.h). kJournalFormatVersion is one version
// for all records: unknown fields are DATA_LOSS, so a change of any field raises it.
//
//   Digest             32 bytes of hash, then the size as 8 bytes, little-endian
//   Time, Duration     nanoseconds (since the Unix epoch) as the varint of their 64-bit two's
//                      complement
//   Meta               1 project_id  2 store_id  3 loss_epoch  4 term  5 table_file
//                      6 trust_domain  7 store_commits  8 table_id
//   PlatformRecord     1 recipe  2 source  3 weak_key  4 action_key (Digests)  5 recipe_bytes
//                      6 result  7 observed (record::EncodeObserved)  8 last_cook (LastCook)
//   LastCook           1 source  2 time  3 worker  4 attempt  5 load_time  6 save_time  7 changed
//                      (repeated Changed)  8 is_first  9 cook  10 is_forced  11 request_time
//                      12 queue_time  13 in_hand_time  14 attempts
//   Changed            1 what  2 before  3 after
//   Published          the key (Digest); unless unknown the root's Digest, and its sequence as a
//                      varint
//   FailureRecord      1 cook  2 time  3 stage  4 error  5 log  6 cause  7 worker  8 attempt
//                      9 attempts  10 own_faults  11 infrastructure_faults
//   Instigators        1 repeated { 1 category  2 referencer }
//   LastPublished      1 sequence  2 loss_epoch + 1
//   Unsent             1 action_key (Digest)  2 is_dispute
//   Attempt            1 worker  2 package  3 repeated { 1 platform  2 name  3 recipe (Digest) }
//                      4 generated_source (Digest)
//   Blame              1 own_faults  2 what  3 error  4 log
//
// is_trusted and published_key of a PlatformRecord have keys of their own (keys.h), because they
// change without the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "director/journal/journal.h"

namespace galley::director {

inline constexpr uint32_t kJournalFormatVersion = 3;

std::string EncodeDigest(const Digest& digest);
absl::StatusOr<Digest> DecodeDigest(std::string_view bytes);

std::string EncodeMeta(const JournalMeta& meta);
absl::StatusOr<JournalMeta> DecodeMeta(std::string_view bytes);

// REQUIRES: record.observed is canonical (record::Canonical).
std::string EncodePlatformRecord(const PlatformRecord& record);
absl::StatusOr<PlatformRecord> DecodePlatformRecord(std::string_view bytes);

// Published: the value of a published key. Older values hold only the key's digest, without `in`.
struct Published {
  Digest key;
  std::optional<PublishedIn> in;
};
std::string EncodePublished(const Published& published);
absl::StatusOr<Published> DecodePublished(std::string_view bytes);

std::string EncodeFailure(const FailureRecord& failure);
absl::StatusOr<FailureRecord> DecodeFailure(std::string_view bytes);

std::string EncodeInstigators(const std::vector<InstigatorRecord>& instigators);
absl::StatusOr<std::vector<InstigatorRecord>> DecodeInstigators(std::string_view bytes);

// The encoding leaves out the root's digest.
std::string EncodeLastPublished(const PublishedIn& last);
absl::StatusOr<PublishedIn> DecodeLastPublished(std::string_view bytes);

// The encodings of these records leave out the parts in their keys: an UnsentResult's names, an
// AttemptRecord's attempt, a BlameRecord's package.
std::string EncodeUnsent(const UnsentResult& unsent);
absl::StatusOr<UnsentResult> DecodeUnsent(std::string_view bytes);
std::string EncodeAttempt(const AttemptRecord& attempt);
absl::StatusOr<AttemptRecord> DecodeAttempt(std::string_view bytes);

std::string EncodeBlame(const BlameRecord& blame);
absl::StatusOr<BlameRecord> DecodeBlame(std::string_view bytes);

}  // namespace galley::director
