// Observations that DecodeObserved takes are given back by EncodeObserved byte for byte, and are
// those that CheckObserved takes.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/observation.h"
#include "common/record/testing/sample.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = galley::record::DecodeObserved(bytes);
  GALLEY_CHECK(galley::record::CheckObserved(bytes) == decoded.status());
  if (!decoded.ok()) return 0;
  GALLEY_CHECK(galley::record::EncodeObserved(*decoded) == bytes);
  GALLEY_CHECK(galley::record::EncodeSetOf(*decoded) ==
               galley::record::EncodeSet(galley::record::SetOf(*decoded)));
  return 0;
}
