// Details that DecodeDetails takes are given back by EncodeDetails byte for byte.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/record/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = galley::record::DecodeDetails(bytes);
  if (decoded.ok()) GALLEY_CHECK(galley::record::EncodeDetails(*decoded) == bytes);
  return 0;
}
