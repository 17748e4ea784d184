// Other servers write results anew, so what DecodeResult takes need not be canonical; what is
// written of it is.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = galley::record::DecodeResult(bytes);
  if (!decoded.ok()) return 0;
  const std::string encoded = galley::record::EncodeResult(*decoded);
  const auto again = galley::record::DecodeResult(encoded);
  GALLEY_CHECK(again.ok());
  GALLEY_CHECK(galley::record::SameOutcome(*decoded, *again));
  GALLEY_CHECK(galley::record::EncodeResult(*again) == encoded);
  return 0;
}
