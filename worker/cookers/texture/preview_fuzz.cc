// DecodePreview of foreign bytes. The first byte picks level and image, the rest is the file. Large
// textures are skipped, so that the fuzzer is quick.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/status_macros.h"
#include "worker/cookers/texture/ktx2_reader.h"
#include "worker/cookers/texture/preview.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::worker::texture;
  constexpr uint64_t kTexelsMax = 1 << 16;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto contents = ParseKtx2(bytes);
  if (!contents.ok() || uint64_t{contents->width} * contents->height > kTexelsMax ||
      contents->images_count() > 12)
    return 0;
  const auto image =
      DecodePreview(bytes, {.level = data[0] % 16u, .image = static_cast<uint32_t>(data[0] / 16)});
  if (image.ok()) {
    GALLEY_CHECK(std::get<std::vector<uint8_t>>(image->texels).size() ==
                 size_t{image->width} * image->height * 4);
  }
  return 0;
}
