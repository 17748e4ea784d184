// A segment of any bytes. Checksums would reject nearly every input, so the input is a list of
// edits of a valid segment, and then bytes that follow it: "<edits> { <offset, 2 bytes> <byte> }...
// <tail>".
//
// Every whole record lies inside the file and reads the same by its place; no record is visited
// twice, and the scan ends.
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_format.h"
#include "common/store/local/segment_reader.h"

namespace {

using namespace galley::store;

constexpr uint64_t kNumber = 7;

std::string RightSegment() {
  std::string bytes = EncodeSegmentHeader({.number = kNumber, .store_id = std::string(32, 'a')});
  for (const std::string_view payload :
       {std::string_view(""), std::string_view("a blob of some bytes"),
        std::string_view("12345678")}) {
    const RecordHeader header{.kind = RecordKind::kBlob,
                              .payload_bytes = payload.size(),
                              .key = galley::Digest::Of(payload),
                              .payload_checksum = Checksum(payload)};
    const size_t begin = bytes.size();
    bytes += EncodeRecordHeader(header, kNumber, begin);
    bytes += payload;
    bytes.resize(begin + RecordSpan(payload.size()));
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string& folder =
      *new std::string(galley::MakeTemporaryDirectory("/dev/shm", "galley-fuzz-").value());
  static const bool is_made =
      galley::CreateDirectories(galley::JoinPath(folder, "segments")).ok() &&
      std::atexit([] { (void)galley::RemoveAll(folder); }) == 0;
  GALLEY_CHECK(is_made);
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string bytes = RightSegment();
  if (!input.empty()) {
    size_t edits = static_cast<uint8_t>(input[0]);
    input.remove_prefix(1);
    for (; edits > 0 && input.size() >= 3; --edits, input.remove_prefix(3)) {
      const size_t offset =
          static_cast<uint8_t>(input[0]) | static_cast<size_t>(static_cast<uint8_t>(input[1])) << 8;
      if (offset < bytes.size()) bytes[offset] = input[2];
    }
    bytes += input;
  }
  GALLEY_CHECK(galley::WriteFileAtomic(SegmentPath(folder, kNumber), bytes).ok());
  (void)ReadSegmentHeader(folder, kNumber);
  uint64_t end = kSegmentHeaderBytes;
  const auto report =
      ScanSegment(folder, kNumber, kSegmentHeaderBytes,
                  [&](uint64_t offset, const RecordHeader& header, std::string_view payload) {
                    GALLEY_CHECK(offset >= end && payload.size() == header.payload_bytes);
                    end = offset + RecordSpan(payload.size());
                    GALLEY_CHECK(end <= bytes.size() + kRecordAlignment);
                    const auto record = ReadRecord(folder, kNumber, offset);
                    GALLEY_CHECK(record.ok() && record->payload == payload);
                    return absl::OkStatus();
                  });
  if (report.ok()) {
    GALLEY_CHECK(report->whole_end <= report->size_bytes + kRecordAlignment);
    for (const DamagedRange& range : report->damaged)
      GALLEY_CHECK(range.size_bytes > 0 && range.offset + range.size_bytes <= bytes.size());
  }
  return 0;
}
