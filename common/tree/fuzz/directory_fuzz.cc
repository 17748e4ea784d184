// A Directory that DecodeDirectory takes is given back by EncodeDirectory byte for byte.
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/tree/tree.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto directory = galley::tree::DecodeDirectory(bytes);
  if (directory.ok()) GALLEY_CHECK(galley::tree::EncodeDirectory(*directory) == bytes);
  return 0;
}
