#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/record/result.h"
#include "common/tree/plain_name.h"
#include "common/tree/wire_fields.h"

namespace galley::record {
namespace {

using tree::FieldTo;

constexpr uint64_t kDetailsSchema = 1;
enum TagKind : uint64_t { kText = 1, kNumber = 2, kFlag = 3 };

constexpr auto kByName = [](const auto& a, const auto& b) { return a.name < b.name; };

std::string EncodeReference(const Reference& reference) {
  WireWriter writer;
  writer.Bytes(1, reference.path);
  writer.Varint(2, static_cast<uint64_t>(reference.kind));
  return writer.Take();
}

std::string EncodeGenerated(const Generated& generated) {
  WireWriter writer;
  writer.Bytes(1, generated.name);
  writer.Element(2, tree::EncodeDigest(generated.source));
  writer.Bytes(3, generated.cooker);
  writer.Bytes(4, generated.settings);
  return writer.Take();
}

std::string EncodeTag(const Tag& tag) {
  WireWriter writer;
  writer.Bytes(1, tag.name);
  if (const auto* text = std::get_if<std::string>(&tag.value)) {
    writer.Varint(2, kText);
    writer.Bytes(3, *text);
  } else if (const auto* number = std::get_if<double>(&tag.value)) {
    writer.Varint(2, kNumber);
    writer.Varint(4, std::bit_cast<uint64_t>(*number == 0 ? 0.0 : *number));  // no negative zero
  } else {
    writer.Varint(2, kFlag);
    writer.Bool(5, std::get<bool>(tag.value));
  }
  return writer.Take();
}

absl::StatusOr<Reference> DecodeReference(std::string_view bytes) {
  Reference reference;
  uint64_t kind = 0;
  RETURN_IF_ERROR(tree::ReadAllFields(bytes, "Reference", FieldTo(1, "path", reference.path),
                                      FieldTo(2, "kind", kind)));
  if (kind < 1 || kind > 3) return InvalidArgumentError("kind {} of reference is not known", kind);
  reference.kind = static_cast<ReferenceKind>(kind);
  return reference;
}

absl::StatusOr<Generated> DecodeGenerated(std::string_view bytes) {
  Generated generated;
  RETURN_IF_ERROR(tree::ReadAllFields(bytes, "Generated", FieldTo(1, "name", generated.name),
                                      FieldTo(2, "source", generated.source),
                                      FieldTo(3, "cooker", generated.cooker),
                                      FieldTo(4, "settings", generated.settings)));
  RETURN_IF_ERROR(ValidateGeneratedName(generated.name));
  return generated;
}

absl::StatusOr<Tag> DecodeTag(std::string_view bytes) {
  Tag tag;
  uint64_t kind = 0, number_bits = 0;
  std::string_view text;
  bool flag = false;
  RETURN_IF_ERROR(tree::ReadAllFields(
      bytes, "Tag", FieldTo(1, "name", tag.name), FieldTo(2, "kind", kind),
      FieldTo(3, "text", text), FieldTo(4, "number_bits", number_bits), FieldTo(5, "flag", flag)));
  const double number = std::bit_cast<double>(number_bits);
  if (!std::isfinite(number)) return InvalidArgumentError("tag {} is not finite", tag.name);
  if (kind == kText) {
    tag.value = std::string(text);
  } else if (kind == kNumber) {
    tag.value = number;
  } else if (kind == kFlag) {
    tag.value = flag;
  } else {
    return InvalidArgumentError("kind {} of tag is not known", kind);
  }
  return tag;
}

// Appends an element that must come after those before.
template <typename T, typename Decode, typename Less>
absl::Status AppendInOrder(std::string_view bytes, std::string_view what, Decode decode, Less less,
                           std::vector<T>& list) {
  absl::StatusOr<T> element = decode(bytes);
  const auto place = [&] { return fmt::format("{} {}", what, list.size()); };
  if (!element.ok()) return Annotate(element.status(), place());
  if (!list.empty() && !less(list.back(), *element)) {
    return InvalidArgumentError("{}: not after the one before", place());
  }
  list.push_back(*std::move(element));
  return absl::OkStatus();
}

template <typename T>
std::vector<T> SortedByName(std::vector<T> list) {
  std::ranges::stable_sort(list, kByName);
  return list;
}

}  // namespace

absl::Status ValidateGeneratedName(std::string_view name) {
  if (name.size() <= kGeneratedNameMax && name.starts_with("_gen/") && tree::IsPlainPath(name))
    return absl::OkStatus();
  return InvalidArgumentError(
      "generated package \"{}\": expected _gen/ and a name of plain segments, at most {} bytes",
      name.substr(0, 100), kGeneratedNameMax);
}

std::string EncodeDetails(const Details& details) {
  WireWriter writer;
  writer.Varint(1, kDetailsSchema);
  for (const Reference& reference :
       std::set<Reference>(details.references.begin(), details.references.end())) {
    writer.Element(2, EncodeReference(reference));
  }
  for (const Generated& generated : SortedByName(details.generated))
    writer.Element(3, EncodeGenerated(generated));
  for (const Tag& tag : SortedByName(details.tags)) writer.Element(4, EncodeTag(tag));
  for (const std::string& warning : details.warnings) writer.Element(5, warning);
  return writer.Take();
}

absl::StatusOr<Details> DecodeDetails(std::string_view bytes) {
  if (bytes.size() > kDetailsBytesMax) {
    return InvalidArgumentError("details have {} bytes, at most {} are allowed", bytes.size(),
                                kDetailsBytesMax);
  }
  Details details;
  uint64_t schema = 0;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number == 1) {
      ASSIGN_OR_RETURN(schema, tree::VarintOf(field, "schema"));
      continue;
    }
    if (field.number > 5) return tree::UnknownField(field, "details");
    ASSIGN_OR_RETURN(const std::string_view element, tree::BytesOf(field, "an element of details"));
    if (field.number == 2) {
      RETURN_IF_ERROR(
          AppendInOrder(element, "reference", DecodeReference, std::less<>(), details.references));
    } else if (field.number == 3) {
      RETURN_IF_ERROR(
          AppendInOrder(element, "generated", DecodeGenerated, kByName, details.generated));
    } else if (field.number == 4) {
      RETURN_IF_ERROR(AppendInOrder(element, "tag", DecodeTag, kByName, details.tags));
    } else {
      details.warnings.emplace_back(element);
    }
  }
  if (schema != kDetailsSchema) {
    return InvalidArgumentError("details have schema {}, expected {}", schema, kDetailsSchema);
  }
  if (EncodeDetails(details) != bytes)
    return absl::InvalidArgumentError("details are not in canonical form");
  return details;
}

}  // namespace galley::record
