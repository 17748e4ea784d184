// A set that DecodeSet takes is given back by EncodeSet byte for byte.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/observation.h"
#include "common/record/testing/sample.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = galley::record::DecodeSet(bytes);
  if (decoded.ok()) GALLEY_CHECK(galley::record::EncodeSet(*decoded) == bytes);
  return 0;
}
