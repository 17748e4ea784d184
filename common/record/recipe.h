// Recipe: how a package is cooked for one platform. Its canonical encoding is the file `recipe` in
// an Action's input root.
//
// Encoding: protobuf wire format, canonical: schema = 1 (varint, kKeySchema), cooker = 2, identity
// = 3, extension = 4, settings = 5.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::record {

// kKeySchema is raised when the meaning of any canonical encoding in this folder changes: every key
// changes with it.
inline constexpr uint64_t kKeySchema = 1;

struct Recipe {
  std::string cooker;  // "texture"
  // "1;libpng=1.6.39;astcenc=4.2.0": revision and the codec libraries that decide the bytes.
  std::string identity;
  // The source's extension, lower case, without the dot ("png"); some cookers need it (shader
  // stage).
  std::string extension;
  // Canonical JSON (CanonicalJson): all settings with their defaults filled in.
  std::string settings;
  bool operator==(const Recipe&) const = default;
};

inline constexpr size_t kRecipeBytesMax = 16 << 20;

std::string EncodeRecipe(const Recipe& recipe);
// INVALID_ARGUMENT: another schema, or not written by EncodeRecipe.
absl::StatusOr<Recipe> DecodeRecipe(std::string_view bytes);
Digest RecipeDigest(const Recipe& recipe);

// weak key = H(schema, source digest, recipe digest, trust domain).
// Encoding hashed: schema = 1, source hash = 2, source size = 3, recipe hash = 4, recipe size = 5,
// trust domain = 6.
Digest WeakKey(const Digest& source, const Digest& recipe, std::string_view trust_domain);
// The message whose digest is the weak key.
std::string EncodeWeakKey(const Digest& source, const Digest& recipe,
                          std::string_view trust_domain);

// Canonical JSON: keys sorted by bytes, no white space, integers without a fraction, other numbers
// in shortest round-trip form, UTF-8 unescaped but for control characters, '"' and '\'. A whole
// number in the range of 64-bit integers is an integer, however it was written: 1.0 is 1.
// INVALID_ARGUMENT when `json` does not parse, repeats a key or nests deeper than 64 levels.
absl::StatusOr<std::string> CanonicalJson(std::string_view json);

}  // namespace galley::record
