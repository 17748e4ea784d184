// Byte ranges: which bytes of a body a Range asks for, and how they are framed.
//
//   Range: bytes=0-4           206, Content-Range: bytes 0-4/100
//   Range: bytes=0-4, 90-      206, multipart/byteranges with two parts
//   Range: bytes=100-          416, Content-Range: bytes */100
//   Range: bytes=4-0           200: the field is malformed, and ignored
//
// A server may ignore a Range, and should where it asks for floods of pieces: more ranges than
// kRangesMax, and ranges that overlap or descend, are answered with the whole body.
// Threads: none; pure functions.   Source: RFC 9110, 14 and 15.5.17; RFC 2046, 5.1.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace galley::http {

inline constexpr size_t kRangesMax = 16;

struct ByteRange {
  uint64_t first = 0;
  uint64_t last = 0;  // inclusive; first <= last
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// 200: the Range is ignored.
struct WholeBody {
  friend bool operator==(const WholeBody&, const WholeBody&) = default;
};
// 206: 1 to kRangesMax ranges, ascending, without a common byte, all below the body's size. One is
// sent by itself, several as multipart/byteranges.
struct PartialBody {
  std::vector<ByteRange> ranges;
  friend bool operator==(const PartialBody&, const PartialBody&) = default;
};
// 416: no byte of the body is in the ranges.
struct Unsatisfiable {
  friend bool operator==(const Unsatisfiable&, const Unsatisfiable&) = default;
};
using RangeAnswer = std::variant<WholeBody, PartialBody, Unsatisfiable>;

// The answer to the field `value` for a body of `size` bytes.
//
// A number that 64 bits do not hold is the largest one. Ranges after the end are left out beside
// others that are not. The last bytes of an empty body are the whole body, which a 206 cannot
// express; other ranges of an empty body are unsatisfiable.
RangeAnswer SelectRanges(std::string_view value, uint64_t size);

// "bytes 0-4/100".
std::string ContentRange(const ByteRange& range, uint64_t size);
// "bytes */100", for 416.
std::string UnsatisfiedContentRange(uint64_t size);

// A body of type "multipart/byteranges; boundary=<boundary>": for each i heads[i] and the bytes of
// ranges[i], then `end`.
struct Multipart {
  std::vector<std::string> heads;
  std::string end;
  uint64_t size_bytes = 0;  // of the whole, for Content-Length
};

// `content_type` is that of the body.
// REQUIRES: `boundary` is 1 to 70 letters and digits, and no part has "\r\n--<boundary>" in its
// bytes; `ranges` are those of a PartialBody; `size` < 2^63.
Multipart FrameParts(const std::vector<ByteRange>& ranges, uint64_t size,
                     std::string_view content_type, std::string_view boundary);

}  // namespace galley::http
