// Descriptions that decode are written the same after the first time.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = galley::record::DecodeDescriptions(bytes);
  if (!decoded.ok()) return 0;
  const std::string encoded = galley::record::EncodeDescriptions(*decoded);
  const auto again = galley::record::DecodeDescriptions(encoded);
  GALLEY_CHECK(again.ok());
  GALLEY_CHECK(galley::record::EncodeDescriptions(*again) == encoded);
  return 0;
}
