// ByteWriter, ByteReader: the small encoding of this folder's private files (digest cache, file
// table).
//
// File: 8 bytes magic, payload, 32 bytes SHA-256 of all before it. The magic names kind and
// version: another version is another magic, and such a file is made anew, never converted.
// Payload: varints (base 128, low bits first), signed ones zigzag, strings as length and bytes, and
// sorted paths as (bytes shared with the one before, length of the rest, rest).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::content {

class ByteWriter {
 public:
  void Varint(uint64_t value);
  void Signed(int64_t value);
  void String(std::string_view text);
  void Raw(std::string_view bytes) { bytes_.append(bytes); }
  // Writes `path` as what differs from the path that was written before it.
  void Path(std::string_view path);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::string path_;
};

// Every call is INVALID_ARGUMENT past the end or on a malformed value; nothing is allocated beyond
// the input's size.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  absl::StatusOr<uint64_t> Varint();
  // A count of things that take at least `bytes_each` bytes each.
  absl::StatusOr<size_t> Count(size_t bytes_each);
  absl::StatusOr<int64_t> Signed();
  absl::StatusOr<std::string_view> String();
  absl::StatusOr<std::string_view> Raw(size_t size);
  absl::StatusOr<std::string> Path();
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  std::string path_;
};

inline constexpr size_t kMagicSize = 8;
// Puts a payload into a file's bytes. REQUIRES: magic has 8 bytes.
std::string Seal(std::string_view magic, std::string_view payload);
// The payload; INVALID_ARGUMENT: not of this kind or version, cut, or damaged.
absl::StatusOr<std::string_view> Unseal(std::string_view magic, std::string_view file);

}  // namespace galley::content
