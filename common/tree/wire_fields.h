// Typed access to fields of the wire format, and the REAPI Digest message: { hash = 1 (lower-case
// hex), size_bytes = 2 }.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"

namespace galley::tree {

// INVALID_ARGUMENT "<name>: expected bytes": the field has another wire type.
absl::StatusOr<std::string_view> BytesOf(const WireReader::Field& field, std::string_view name);
absl::StatusOr<uint64_t> VarintOf(const WireReader::Field& field, std::string_view name);
// Like VarintOf; more than 1 is INVALID_ARGUMENT.
absl::StatusOr<bool> BoolOf(const WireReader::Field& field, std::string_view name);
// INVALID_ARGUMENT "<message> has no field <number>".
absl::Status UnknownField(const WireReader::Field& field, std::string_view message);

std::string EncodeDigest(const Digest& digest);
absl::StatusOr<Digest> DecodeDigest(std::string_view bytes);
absl::StatusOr<Digest> DigestOf(const WireReader::Field& field, std::string_view name);

// Calls `visit` with each field of a message; ends with the first error.
template <typename Visit>
absl::Status ForEachField(std::string_view bytes, const Visit& visit) {
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    RETURN_IF_ERROR(visit(field));
  }
  return absl::OkStatus();
}

// FieldTo: a field of a message, its name in errors, and the target of its value: text, a view of
// the bytes, a number, a flag or a digest; an optional where absence matters. If a field occurs
// several times, the last one counts.
template <typename T>
struct FieldTo {
  // Written out, because clang 14 makes no aggregate of FieldTo(...).
  FieldTo(uint32_t number_, std::string_view name_, T& value_)
      : number(number_), name(name_), value(value_) {}
  uint32_t number;
  std::string_view name;
  T& value;

  absl::Status Take(const WireReader::Field& field) const {
    using Value = decltype(ValueIn(std::declval<T>()));
    if constexpr (std::is_same_v<Value, uint64_t>) {
      ASSIGN_OR_RETURN(value, VarintOf(field, name));
    } else if constexpr (std::is_same_v<Value, bool>) {
      ASSIGN_OR_RETURN(value, BoolOf(field, name));
    } else if constexpr (std::is_same_v<Value, Digest>) {
      ASSIGN_OR_RETURN(value, DigestOf(field, name));
    } else {
      ASSIGN_OR_RETURN(value, BytesOf(field, name));
    }
    return absl::OkStatus();
  }

 private:
  template <typename V>
  static V ValueIn(const std::optional<V>&);
  template <typename V>
  static V ValueIn(const V&);
};

// Reads these fields of a message, and skips all others.
template <typename... T>
absl::Status ReadFields(std::string_view bytes, const FieldTo<T>&... fields) {
  return ForEachField(bytes, [&](const WireReader::Field& field) {
    absl::Status status;
    ((field.number == fields.number ? status.Update(fields.Take(field)) : void()), ...);
    return status;
  });
}
// ReadFields for a message that has no other fields. INVALID_ARGUMENT: another field
// (UnknownField).
template <typename... T>
absl::Status ReadAllFields(std::string_view bytes, std::string_view message,
                           const FieldTo<T>&... fields) {
  return ForEachField(bytes, [&](const WireReader::Field& field) {
    absl::Status status;
    const bool is_known =
        ((field.number == fields.number && (status.Update(fields.Take(field)), true)) || ...);
    return is_known ? status : UnknownField(field, message);
  });
}

}  // namespace galley::tree
