// Readers of segments: of one record at its place, and of all records from an offset on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/store/local/segment_format.h"

namespace galley::store {

struct Record {
  RecordHeader header;
  std::string payload;
};

// Reads a segment's header, and checks its number and the store's id (unless empty). NOT_FOUND: no
// such segment.
absl::StatusOr<SegmentHeader> ReadSegmentHeader(const std::string& store_directory,
                                                uint64_t segment, std::string_view store_id = {});
// Reads a record's header, and checks that the whole record lies within the file. DATA_LOSS: no
// such record there.
absl::StatusOr<RecordHeader> ReadRecordHeader(const std::string& store_directory, uint64_t segment,
                                              uint64_t offset);
// RecordHeaders: reads many headers; opens each segment once.
// Threads: one.
class RecordHeaders {
 public:
  explicit RecordHeaders(std::string store_directory)
      : store_directory_(std::move(store_directory)) {}
  // A record that was appended after the segment was first read here may be reported as cut off.
  absl::StatusOr<RecordHeader> Read(uint64_t segment, uint64_t offset);

 private:
  struct OpenSegment {
    std::string path;
    FileDescriptor file;
    uint64_t size_bytes = 0;
  };
  static constexpr size_t kOpenMax = 64;

  const std::string store_directory_;
  std::map<uint64_t, OpenSegment> open_;
};
// Reads a record, and verifies its payload's checksum.
absl::StatusOr<Record> ReadRecord(const std::string& store_directory, uint64_t segment,
                                  uint64_t offset);

struct DamagedRange {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  auto operator<=>(const DamagedRange&) const = default;
};

struct ScanReport {
  uint64_t size_bytes = 0;  // of the file when it was scanned
  uint64_t whole_end = 0;   // end of the last whole record; a torn tail follows
  // Wrong bytes before a whole record, or in a whole record's padding; the torn tail is not
  // included.
  std::vector<DamagedRange> damaged;
};

// Called for each whole record (both checksums right), in order. An error ends the scan.
using RecordVisitor = std::function<absl::Status(uint64_t offset, const RecordHeader& header,
                                                 std::string_view payload)>;

// Reads the records from `from` (at least kSegmentHeaderBytes, where a record begins) to the end of
// the file, or to `end`, as if the file ended there. Skips bytes that are no record, up to the next
// valid header at a multiple of 8.
absl::StatusOr<ScanReport> ScanSegment(const std::string& store_directory, uint64_t segment,
                                       uint64_t from, const RecordVisitor& visit,
                                       uint64_t end = UINT64_MAX);

}  // namespace galley::store
