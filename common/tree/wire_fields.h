// Typed access to fields of the wire format, and the REAPI Digest message: { hash = 1 (lower-case
// hex), size_bytes = 2 }.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/wire_format.h"

namespace galley::tree {

// INVALID_ARGUMENT "<name>: expected bytes" when the field has another wire type.
absl::StatusOr<std::string_view> BytesOf(const WireReader::Field& field, std::string_view name);
absl::StatusOr<uint64_t> VarintOf(const WireReader::Field& field, std::string_view name);
// Like VarintOf; more than 1 is INVALID_ARGUMENT.
absl::StatusOr<bool> BoolOf(const WireReader::Field& field, std::string_view name);
// INVALID_ARGUMENT "<message> has no field <number>".
absl::Status UnknownField(const WireReader::Field& field, std::string_view message);

std::string EncodeDigest(const Digest& digest);
absl::StatusOr<Digest> DecodeDigest(std::string_view bytes);
absl::StatusOr<Digest> DigestOf(const WireReader::Field& field, std::string_view name);

}  // namespace galley::tree
