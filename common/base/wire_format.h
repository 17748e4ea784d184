// A writer and a bounded reader of the protobuf wire format, for messages whose bytes are hashed.
//
// Canonical form (REAPI v2): fields in tag order, default values absent, no unknown fields.
// protobuf's own serialiser does not promise this form across versions, so messages whose digest
// matters are written by hand here, and compared with protobuf in tests.
// Source: https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley {

// WireWriter appends fields to a string. REQUIRES: fields are written in ascending number.
class WireWriter {
 public:
  // Absent when 0.
  void Varint(uint32_t field, uint64_t value);
  void Bool(uint32_t field, bool value) { Varint(field, value ? 1 : 0); }
  // Absent when empty.
  void Bytes(uint32_t field, std::string_view value);
  // Present even when empty: elements of a repeated field, and sub-messages that are set.
  void Element(uint32_t field, std::string_view value);
  // The head of an element of `size` bytes, which the caller writes next, field by field.
  void ElementHead(uint32_t field, size_t size);
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }

  // The encoded sizes of fields.
  static size_t SizeOfNumber(uint64_t value) {  // the varint alone
    return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
  }
  static size_t SizeOfVarint(uint32_t field, uint64_t value) {
    return value == 0 ? 0 : SizeOfNumber(uint64_t{field} << 3) + SizeOfNumber(value);
  }
  static size_t SizeOfBytes(uint32_t field, std::string_view value) {
    return value.empty() ? 0 : SizeOfElement(field, value.size());
  }
  static size_t SizeOfElement(uint32_t field, size_t size) {
    return SizeOfNumber(uint64_t{field} << 3) + SizeOfNumber(size) + size;
  }

  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  void Raw(uint64_t varint);
  std::string bytes_;
};

// WireReader reads fields one by one, and never past the end of its input.
//
//   WireReader reader(bytes);
//   while (!reader.AtEnd()) {
//     ASSIGN_OR_RETURN(WireReader::Field field, reader.Next());
//     switch (field.number) { case 1: name = field.bytes; ... }
//   }
class WireReader {
 public:
  enum class Type { kVarint, kFixed64, kBytes, kFixed32 };
  struct Field {
    uint32_t number = 0;
    Type type = Type::kVarint;
    uint64_t value = 0;      // kVarint, kFixed64, kFixed32
    std::string_view bytes;  // kBytes: points into the input
  };

  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  bool AtEnd() const { return rest_.empty(); }
  // INVALID_ARGUMENT: malformed, or a group.
  absl::StatusOr<Field> Next();

 private:
  static constexpr size_t kShortBytesMax = 5;
  absl::StatusOr<uint64_t> Raw();
  absl::StatusOr<uint64_t> Short();
  std::string_view rest_;
};

}  // namespace galley
