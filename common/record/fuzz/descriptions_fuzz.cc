// Descriptions that decode are written the same after the first time, and name outputs that results
// can have.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"
#include "common/record/output_names.h"
#include "common/record/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = galley::record::DecodeDescriptions(bytes);
  if (!decoded.ok()) return 0;
  const std::string encoded = galley::record::EncodeDescriptions(*decoded);
  const auto again = galley::record::DecodeDescriptions(encoded);
  GALLEY_CHECK(again.ok());
  GALLEY_CHECK(galley::record::EncodeDescriptions(*again) == encoded);
  for (const galley::record::CookerDescription& cooker : *decoded) {
    const auto settings = galley::record::ResolveSettings(cooker, "{}");
    const auto names = galley::record::OutputNamesOf(cooker, settings.ok() ? *settings : "",
                                                     {{"shader", "spirv-1.5"}});
    for (const std::string& suffix : names.always) {
      GALLEY_CHECK(galley::record::ValidateSuffix(suffix).ok());
      GALLEY_CHECK(galley::record::MayHaveOutput(names, suffix));
    }
  }
  return 0;
}
