// Observations that DecodeObserved takes are given back by EncodeObserved byte for byte.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/observation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = galley::record::DecodeObserved(bytes);
  if (decoded.ok()) GALLEY_CHECK(galley::record::EncodeObserved(*decoded) == bytes);
  return 0;
}
