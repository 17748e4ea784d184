// A recipe that DecodeRecipe takes is given back by EncodeRecipe byte for byte.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = galley::record::DecodeRecipe(bytes);
  if (decoded.ok()) GALLEY_CHECK(galley::record::EncodeRecipe(*decoded) == bytes);
  return 0;
}
