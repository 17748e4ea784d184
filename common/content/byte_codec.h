// ByteWriter, ByteReader: the encoding of this folder's private files (digest cache, file table).
//
// Sealed file: 8 bytes magic, payload, 32 bytes SHA-256 of both. The magic names kind and version;
// a file of another version is made anew, never converted.
// Payload: varints (base 128, low bits first), zigzag for signed numbers; strings as length and
// bytes; sorted paths as the number of bytes shared with the path before, the length of the rest,
// and the rest.
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
  // Writes `path` as its difference from the path written before.
  void Path(std::string_view path);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::string path_;
};

// INVALID_ARGUMENT, from every call: a malformed value, or the input is at its end. Nothing larger
// than the input is allocated.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  absl::StatusOr<uint64_t> Varint();
  // A number of elements, each of at least `bytes_each` bytes.
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
// The bytes of a sealed file. REQUIRES: `magic` has 8 bytes.
std::string Seal(std::string_view magic, std::string_view payload);
// The payload of a sealed file. INVALID_ARGUMENT: of another kind or version, cut, or damaged.
absl::StatusOr<std::string_view> Unseal(std::string_view magic, std::string_view file);

}  // namespace galley::content
