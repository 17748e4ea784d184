// Defines: the tables `defines` and `variants` as lines of `#define`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace galley::worker {

inline constexpr size_t kVariantsMax = 1024;

struct Variant {
  std::string name;  // empty: the shader itself
  std::string preamble;
};

// The shader itself first, then its variants by name; a variant's table overrides `defines`.
// A string and a number are written as they are, true as 1, false as 0. INVALID_ARGUMENT: no
// identifier, no value, or no name for a variant ([A-Za-z0-9_-]+).
absl::StatusOr<std::vector<Variant>> ParseVariants(const nlohmann::json& defines,
                                                   const nlohmann::json& variants);

}  // namespace galley::worker
