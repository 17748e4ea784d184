// Reading segments: one record at its place, or all of them from an offset on.
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

// The segment's header, checked against its number and the store's id (unless empty). NOT_FOUND: no
// such segment.
absl::StatusOr<SegmentHeader> ReadSegmentHeader(const std::string& store_directory,
                                                uint64_t segment, std::string_view store_id = {});
// Header only; checks that the whole record lies within the file. DATA_LOSS: no such record there.
absl::StatusOr<RecordHeader> ReadRecordHeader(const std::string& store_directory, uint64_t segment,
                                              uint64_t offset);
// The same for many: each segment is opened once.
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
// The payload's checksum is verified.
absl::StatusOr<Record> ReadRecord(const std::string& store_directory, uint64_t segment,
                                  uint64_t offset);

struct DamagedRange {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  auto operator<=>(const DamagedRange&) const = default;
};

struct ScanReport {
  uint64_t size_bytes = 0;  // of the file when it was scanned
  uint64_t whole_end = 0;   // where the last whole record ends: what follows is a torn tail
  // Wrong bytes that whole records follow, or that are a whole record's padding; a torn tail is not
  // among them.
  std::vector<DamagedRange> damaged;
};

// Called for each whole record (both checksums right), in order. An error ends the scan.
using RecordVisitor = std::function<absl::Status(uint64_t offset, const RecordHeader& header,
                                                 std::string_view payload)>;

// Reads the records from `from` (at least kSegmentHeaderBytes, where a record begins) to the end of
// the file, or to `end`, as if the file ended there. Bytes which are no record are stepped over:
// the next valid header at a multiple of 8 goes on.
absl::StatusOr<ScanReport> ScanSegment(const std::string& store_directory, uint64_t segment,
                                       uint64_t from, const RecordVisitor& visit,
                                       uint64_t end = UINT64_MAX);

}  // namespace galley::store
