// Decode of foreign bytes. The first byte picks the format, the rest is the file. For format 3, an
// ogg, the pages first get correct checksums: a fuzzer never finds checksums, and would not reach
// the codecs. The memory limit is low, so that the fuzzer is quick.
#include <ogg/ogg.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>

#include "common/base/status_macros.h"
#include "worker/cookers/audio/decode.h"

namespace {

constexpr size_t kPageHeaderSize = 27;  // the sizes of the page's segments follow

void PutSumsRight(std::string& file) {
  for (size_t at = file.find("OggS"); at != std::string::npos; at = file.find("OggS", at)) {
    auto* const page = reinterpret_cast<unsigned char*>(file.data() + at);
    const size_t left = file.size() - at;
    if (left < kPageHeaderSize) return;
    const size_t header_size = kPageHeaderSize + page[26];
    if (left < header_size) return;
    const size_t body_size = std::accumulate(page + kPageHeaderSize, page + header_size, size_t{0});
    if (left < header_size + body_size) return;
    ogg_page parts{.header = page,
                   .header_len = static_cast<long>(header_size),
                   .body = page + header_size,
                   .body_len = static_cast<long>(body_size)};
    ogg_page_checksum_set(&parts);
    at += header_size + body_size;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::worker::audio;
  constexpr std::string_view kExtensions[] = {"wav", "flac", "ogg", "ogg"};
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 4 == 3) PutSumsRight(bytes);
  const auto decoded = Decode(kExtensions[data[0] % 4], bytes, {.memory_bytes_max = 8 << 20});
  if (!decoded.ok()) return 0;
  const Sound& sound = decoded->sound;
  GALLEY_CHECK(sound.frames() > 0 && sound.frames() * sound.channels == sound.samples.size());
  for (const float sample : sound.samples) GALLEY_CHECK(std::abs(sample) <= kPeakMax);
  if (sound.loop) {
    GALLEY_CHECK(sound.loop->length > 0 && sound.loop->start < sound.frames() &&
                 sound.loop->length <= sound.frames() - sound.loop->start);
  }
  return 0;
}
