#include "common/tree/wire_fields.h"

#include <fmt/format.h>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::tree {

absl::StatusOr<std::string_view> BytesOf(const WireReader::Field& field, std::string_view name) {
  if (field.type == WireReader::Type::kBytes) return field.bytes;
  return InvalidArgumentError("{}: expected bytes", name);
}

absl::StatusOr<uint64_t> VarintOf(const WireReader::Field& field, std::string_view name) {
  if (field.type == WireReader::Type::kVarint) return field.value;
  return InvalidArgumentError("{}: expected a number", name);
}

absl::StatusOr<bool> BoolOf(const WireReader::Field& field, std::string_view name) {
  ASSIGN_OR_RETURN(const uint64_t value, VarintOf(field, name));
  if (value > 1) return InvalidArgumentError("{}: expected 0 or 1", name);
  return value == 1;
}

absl::Status UnknownField(const WireReader::Field& field, std::string_view message) {
  return InvalidArgumentError("{} has no field {}", message, field.number);
}

std::string EncodeDigest(const Digest& digest) {
  WireWriter writer;
  writer.Bytes(1, digest.hex());
  writer.Varint(2, digest.size_bytes());
  return writer.Take();
}

absl::StatusOr<Digest> DecodeDigest(std::string_view bytes) {
  std::string_view hex;
  uint64_t size_bytes = 0;
  RETURN_IF_ERROR(ReadAllFields(bytes, "Digest", FieldTo(1, "hash", hex),
                                FieldTo(2, "size_bytes", size_bytes)));
  if (size_bytes > Digest::kSizeMax) return absl::InvalidArgumentError("size_bytes is negative");
  return Digest::FromHex(hex, static_cast<int64_t>(size_bytes));
}

absl::StatusOr<Digest> DigestOf(const WireReader::Field& field, std::string_view name) {
  ASSIGN_OR_RETURN(const std::string_view bytes, BytesOf(field, name));
  absl::StatusOr<Digest> digest = DecodeDigest(bytes);
  if (!digest.ok()) return Annotate(digest.status(), name);
  return digest;
}

}  // namespace galley::tree
