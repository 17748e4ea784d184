// Canonical JSON of canonical JSON is itself.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto canonical = galley::record::CanonicalJson(bytes);
  if (!canonical.ok()) return 0;
  const auto again = galley::record::CanonicalJson(*canonical);
  GALLEY_CHECK(again.ok() && *again == *canonical);
  return 0;
}
