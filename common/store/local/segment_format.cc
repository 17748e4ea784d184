#include "common/store/local/segment_format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>

#include "common/base/errors.h"
#include "common/base/hex.h"
#include "common/base/status_macros.h"
#include "common/store/local/fixed_fields.h"

namespace galley::store {
namespace {

constexpr std::string_view kSegmentMagic = "GALLEYSG";
constexpr std::string_view kRecordMagic = "GREC";
constexpr size_t kIdFieldBytes = 16;

uint64_t PlaceSeed(uint64_t segment, uint64_t offset) {
  return segment * kSegmentBytesLimit + offset;
}

uint64_t HeaderChecksum(std::string_view bytes, uint64_t segment, uint64_t offset) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), PlaceSeed(segment, offset));
}

}  // namespace

uint64_t Checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string EncodeSegmentHeader(const SegmentHeader& header) {
  std::string bytes(kSegmentMagic);
  PutFixed32(bytes, kSegmentVersion);
  PutFixed32(bytes, static_cast<uint32_t>(header.writer));
  PutFixed64(bytes, header.number);
  bytes += HexDecode(header.store_id).value_or(std::string(kIdFieldBytes, '\0'));
  PutFixed64(bytes, header.loss_epoch);
  bytes.resize(kSegmentHeaderBytes - 8, '\0');
  PutFixed64(bytes, Checksum(bytes));
  return bytes;
}

absl::StatusOr<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, uint64_t number) {
  if (bytes.size() < kSegmentHeaderBytes)
    return DataLossError("segment {:016x}: the header is cut off", number);
  bytes = bytes.substr(0, kSegmentHeaderBytes);
  if (!bytes.starts_with(kSegmentMagic))
    return DataLossError("segment {:016x}: does not begin with {}", number, kSegmentMagic);
  if (GetFixed64(bytes, 56) != Checksum(bytes.substr(0, 56))) {
    return DataLossError("segment {:016x}: the header's checksum is wrong", number);
  }
  const uint32_t version = GetFixed32(bytes, 8);
  if (version != kSegmentVersion) {
    return FailedPreconditionError("segment {:016x}: version {}, this program reads {}", number,
                                   version, kSegmentVersion);
  }
  SegmentHeader header;
  header.writer = static_cast<SegmentWriterKind>(GetFixed32(bytes, 12));
  header.number = GetFixed64(bytes, 16);
  header.store_id = HexEncode(bytes.substr(24, kIdFieldBytes));
  header.loss_epoch = GetFixed64(bytes, 40);
  if (header.writer != SegmentWriterKind::kOwner && header.writer != SegmentWriterKind::kWorker) {
    return DataLossError("segment {:016x}: unknown writer {}", number, GetFixed32(bytes, 12));
  }
  if (header.number != number)
    return DataLossError("segment {:016x}: the header is that of {:016x}", number, header.number);
  return header;
}

std::string EncodeRecordHeader(const RecordHeader& header, uint64_t segment, uint64_t offset) {
  std::string bytes(kRecordMagic);
  bytes.push_back(static_cast<char>(header.kind));
  bytes.append(3, '\0');  // encoding of the payload (0: as it is), reserved
  PutFixed64(bytes, header.payload_bytes);
  PutFixed64(bytes, header.written_s);
  PutDigest(bytes, header.key);
  PutFixed64(bytes, header.payload_checksum);
  PutFixed64(bytes, HeaderChecksum(bytes, segment, offset));
  return bytes;
}

absl::StatusOr<RecordHeader> DecodeRecordHeader(std::string_view bytes, uint64_t segment,
                                                uint64_t offset) {
  const auto wrong = [&](std::string_view what) {
    return DataLossError("segment {:016x} offset {}: {}", segment, offset, what);
  };
  if (bytes.size() < kRecordHeaderBytes) return wrong("the record's header is cut off");
  bytes = bytes.substr(0, kRecordHeaderBytes);
  if (!bytes.starts_with(kRecordMagic)) return wrong("no record begins here");
  if (GetFixed64(bytes, 72) != HeaderChecksum(bytes.substr(0, 72), segment, offset))
    return wrong("the checksum of the record's header is wrong");
  if (bytes[5] != 0) return wrong("the payload's encoding is unknown");
  RecordHeader header;
  header.kind = static_cast<RecordKind>(bytes[4]);
  header.payload_bytes = GetFixed64(bytes, 8);
  header.written_s = GetFixed64(bytes, 16);
  header.payload_checksum = GetFixed64(bytes, 64);
  if (header.payload_bytes > kRecordPayloadBytesMax)
    return wrong("the record is longer than any may be");
  absl::StatusOr<Digest> key = GetDigest(bytes, 24);
  if (!key.ok()) return wrong("the record's key is no digest");
  header.key = *std::move(key);
  return header;
}

}  // namespace galley::store
