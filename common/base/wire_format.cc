#include "common/base/wire_format.h"

#include "common/base/status_macros.h"

namespace galley {

void WireWriter::Raw(uint64_t varint) {
  while (varint >= 0x80) {
    bytes_.push_back(static_cast<char>(varint | 0x80));
    varint >>= 7;
  }
  bytes_.push_back(static_cast<char>(varint));
}

void WireWriter::Varint(uint32_t field, uint64_t value) {
  if (value == 0) return;
  Raw(uint64_t{field} << 3);
  Raw(value);
}

void WireWriter::Bytes(uint32_t field, std::string_view value) {
  if (!value.empty()) Element(field, value);
}

void WireWriter::ElementHead(uint32_t field, size_t size) {
  Raw(uint64_t{field} << 3 | 2);
  Raw(size);
}

void WireWriter::Element(uint32_t field, std::string_view value) {
  ElementHead(field, value.size());
  bytes_.append(value);
}

absl::StatusOr<uint64_t> WireReader::Raw() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return absl::InvalidArgumentError("message ends inside a number");
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) break;
    value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return absl::InvalidArgumentError("number is longer than 64 bits");
}

// Reads the number of a tag or a length: other readers refuse longer ones, even where the further
// bytes are zeros.
absl::StatusOr<uint64_t> WireReader::Short() {
  const size_t before = rest_.size();
  ASSIGN_OR_RETURN(const uint64_t value, Raw());
  if (before - rest_.size() > kShortBytesMax)
    return absl::InvalidArgumentError("a tag or a length has more than 5 bytes");
  return value;
}

absl::StatusOr<WireReader::Field> WireReader::Next() {
  ASSIGN_OR_RETURN(const uint64_t tag, Short());
  Field field;
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
    return absl::InvalidArgumentError("field number is out of range");
  field.number = static_cast<uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0: {
      ASSIGN_OR_RETURN(field.value, Raw());
      return field;
    }
    case 1:
    case 5: {
      const size_t size = (tag & 7) == 1 ? 8 : 4;
      field.type = size == 8 ? Type::kFixed64 : Type::kFixed32;
      if (rest_.size() < size)
        return absl::InvalidArgumentError("message ends inside a fixed number");
      for (size_t i = 0; i < size; ++i)
        field.value |= uint64_t{static_cast<uint8_t>(rest_[i])} << (8 * i);
      rest_.remove_prefix(size);
      return field;
    }
    case 2: {
      ASSIGN_OR_RETURN(const uint64_t size, Short());
      if (size > rest_.size()) return absl::InvalidArgumentError("message ends inside a field");
      field.type = Type::kBytes;
      field.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return field;
    }
    default:
      return absl::InvalidArgumentError("wire type is not known");
  }
}

}  // namespace galley
