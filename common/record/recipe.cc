#include "common/record/recipe.h"

#include <fmt/format.h>

#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/tree/wire_fields.h"

namespace galley::record {

std::string EncodeRecipe(const Recipe& recipe) {
  WireWriter writer;
  writer.Varint(1, kKeySchema);
  writer.Bytes(2, recipe.cooker);
  writer.Bytes(3, recipe.identity);
  writer.Bytes(4, recipe.extension);
  writer.Bytes(5, recipe.settings);
  return writer.Take();
}

absl::StatusOr<Recipe> DecodeRecipe(std::string_view bytes) {
  if (bytes.size() > kRecipeBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("recipe has {} bytes, at most {} are allowed", bytes.size(), kRecipeBytesMax));
  }
  Recipe recipe;
  uint64_t schema = 0;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number == 1) {
      ASSIGN_OR_RETURN(schema, tree::VarintOf(field, "schema"));
    } else if (field.number == 2) {
      ASSIGN_OR_RETURN(recipe.cooker, tree::BytesOf(field, "cooker"));
    } else if (field.number == 3) {
      ASSIGN_OR_RETURN(recipe.identity, tree::BytesOf(field, "identity"));
    } else if (field.number == 4) {
      ASSIGN_OR_RETURN(recipe.extension, tree::BytesOf(field, "extension"));
    } else if (field.number == 5) {
      ASSIGN_OR_RETURN(recipe.settings, tree::BytesOf(field, "settings"));
    } else {
      return tree::UnknownField(field, "recipe");
    }
  }
  if (schema != kKeySchema) {
    return absl::InvalidArgumentError(
        fmt::format("recipe has schema {}, expected {}", schema, kKeySchema));
  }
  if (EncodeRecipe(recipe) != bytes)
    return absl::InvalidArgumentError("recipe is not in canonical form");
  return recipe;
}

Digest RecipeDigest(const Recipe& recipe) { return Digest::Of(EncodeRecipe(recipe)); }

std::string EncodeWeakKey(const Digest& source, const Digest& recipe,
                          std::string_view trust_domain) {
  WireWriter writer;
  writer.Varint(1, kKeySchema);
  writer.Bytes(2, source.hash());
  writer.Varint(3, source.size_bytes());
  writer.Bytes(4, recipe.hash());
  writer.Varint(5, recipe.size_bytes());
  writer.Bytes(6, trust_domain);
  return writer.Take();
}

Digest WeakKey(const Digest& source, const Digest& recipe, std::string_view trust_domain) {
  return Digest::Of(EncodeWeakKey(source, recipe, trust_domain));
}

}  // namespace galley::record
