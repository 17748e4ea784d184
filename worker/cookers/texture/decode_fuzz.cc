// Decode of foreign bytes. The first byte picks the format, the rest is the file. The memory limit
// is low, so that the fuzzer is quick.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/status_macros.h"
#include "worker/cookers/texture/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::worker::texture;
  constexpr std::string_view kExtensions[] = {"png", "jpg", "tga", "bmp", "hdr"};
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto decoded = Decode(kExtensions[data[0] % 5], bytes, {.memory_bytes_max = 16 << 20});
  if (decoded.ok()) {
    const size_t entries =
        std::visit([](const auto& texels) { return texels.size(); }, decoded->image.texels);
    GALLEY_CHECK(entries == size_t{decoded->image.width} * decoded->image.height * 4);
  }
  return 0;
}
