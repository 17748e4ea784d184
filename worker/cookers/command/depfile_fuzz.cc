// Any bytes as a depfile give an error or a list, never a crash or a loop.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "worker/cookers/command/depfile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = galley::worker::ParseDepfile({reinterpret_cast<const char*>(data), size});
  if (parsed.ok() && parsed->size() > size) __builtin_trap();
  return 0;
}
