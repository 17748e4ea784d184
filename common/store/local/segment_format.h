// The format of a segment: one header, then records. docs/store.md specifies it with a worked
// example; only this file encodes and decodes segments. Integers are little-endian; checksums are
// XXH3 (64 bits), whose values are fixed since xxHash 0.8.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::store {

inline constexpr uint32_t kSegmentVersion = 1;
inline constexpr uint64_t kSegmentHeaderBytes = 64;
inline constexpr uint64_t kRecordHeaderBytes = 80;
inline constexpr uint64_t kRecordAlignment = 8;
inline constexpr uint64_t kRecordPayloadBytesMax = 1ull << 30;
// No segment ever grows larger: the segment's number and the offset of a record are packed into
// one 64-bit number, the seed of the record header's checksum.
inline constexpr uint64_t kSegmentBytesLimit = 1ull << 40;
// Returns StoreInfo::commits, made of the number and the size of the owner's newest segment. The
// result rises with every commit, even if segments are removed meanwhile.
constexpr uint64_t CommitNumber(uint64_t segment, uint64_t bytes) { return segment << 40 | bytes; }

enum class SegmentWriterKind : uint32_t { kOwner = 1, kWorker = 2 };

struct SegmentHeader {
  SegmentWriterKind writer = SegmentWriterKind::kOwner;
  uint64_t number = 0;
  std::string store_id;  // 32 hex digits
  // Loss epoch of the store when the segment was made; 0: an older program made the segment.
  uint64_t loss_epoch = 0;
  bool operator==(const SegmentHeader&) const = default;
};

// The numbers are stored, so a number never gets another meaning; 8 and 9 are free. Readers skip
// unknown kinds.
enum class RecordKind : uint8_t {
  kBlob = 1,  // key: the blob's digest; payload: its bytes
  // Payload: locations of blobs that workers wrote or that are files; makes them blobs of the
  // store.
  kAdopted = 2,
  kObservationSet = 3,  // key: weak key; payload: the encoded set
  kResult = 4,          // key: action key; payload: the encoded result
  kPublished = 5,       // key: root; payload: EncodePublished
  kForgotten = 6,       // payload: action keys whose results are dropped
  kLoss = 7,            // payload: loss epoch, and blobs that are dropped
  kActionResult = 10,   // other program's result; key: ActionResultKey; payload: EncodeActionResult
  kCollected = 11,      // payload: keys of other programs' results that are dropped
};

struct RecordHeader {
  RecordKind kind = RecordKind::kBlob;
  uint64_t payload_bytes = 0;
  uint64_t written_s = 0;  // seconds since 1970; 0: unknown (an older program)
  Digest key;              // digest of the empty blob: no key
  uint64_t payload_checksum = 0;
  bool operator==(const RecordHeader&) const = default;
};

uint64_t Checksum(std::string_view bytes);

std::string EncodeSegmentHeader(const SegmentHeader& header);
// DATA_LOSS: `bytes` are not the 64 bytes of the header of segment `number`. FAILED_PRECONDITION: a
// newer version.
absl::StatusOr<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, uint64_t number);

// The checksum of a record's header covers its place, so that a record is valid only where it was
// written.
std::string EncodeRecordHeader(const RecordHeader& header, uint64_t segment, uint64_t offset);
// DATA_LOSS names the fault.
absl::StatusOr<RecordHeader> DecodeRecordHeader(std::string_view bytes, uint64_t segment,
                                                uint64_t offset);

// Returns the size of a record with its header and the zeros up to the next multiple of
// kRecordAlignment.
constexpr uint64_t RecordSpan(uint64_t payload_bytes) {
  return kRecordHeaderBytes +
         (payload_bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

}  // namespace galley::store
