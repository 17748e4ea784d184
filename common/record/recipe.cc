#include "common/record/recipe.h"

#include <fmt/format.h>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/tree/wire_fields.h"

namespace galley::record {

using tree::FieldTo;

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
    return InvalidArgumentError("recipe has {} bytes, at most {} are allowed", bytes.size(),
                                kRecipeBytesMax);
  }
  Recipe recipe;
  uint64_t schema = 0;
  RETURN_IF_ERROR(tree::ReadAllFields(
      bytes, "recipe", FieldTo(1, "schema", schema), FieldTo(2, "cooker", recipe.cooker),
      FieldTo(3, "identity", recipe.identity), FieldTo(4, "extension", recipe.extension),
      FieldTo(5, "settings", recipe.settings)));
  if (schema != kKeySchema) {
    return InvalidArgumentError("recipe has schema {}, expected {}", schema, kKeySchema);
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
