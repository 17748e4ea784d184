// TGA, BMP and HDR by stb_image. It reads zeros past the end of the file, so that is watched here:
// ByteFeed notes when bytes are asked for that are not there, and the size of an uncompressed TGA
// is computed.
#include <cstring>
#include <memory>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/texture/stb.h"

namespace galley::worker::texture {
namespace {

struct StbFree {
  void operator()(void* pointer) const { stbi_image_free(pointer); }
};

// stb asks either for exactly what it needs next, or for as much as its buffer takes.
constexpr size_t kStbBufferBytes = 128;

struct ByteFeed {
  std::string_view bytes;
  size_t offset = 0;
  bool is_truncated = false;

  static int Read(void* user, char* out, int size) {
    ByteFeed& feed = *static_cast<ByteFeed*>(user);
    const size_t wanted = static_cast<size_t>(size);
    const size_t count = std::min(wanted, feed.bytes.size() - feed.offset);
    feed.is_truncated |= count == 0 || (count < wanted && wanted != kStbBufferBytes);
    std::memcpy(out, feed.bytes.data() + feed.offset, count);
    feed.offset += count;
    return static_cast<int>(count);
  }
  static void Skip(void* user, int size) {
    ByteFeed& feed = *static_cast<ByteFeed*>(user);
    if (size < 0) {
      const size_t back = static_cast<size_t>(-static_cast<int64_t>(size));
      feed.offset = back > feed.offset ? 0 : feed.offset - back;
      return;
    }
    const size_t left = feed.bytes.size() - feed.offset;
    feed.is_truncated |= static_cast<size_t>(size) > left;
    feed.offset += std::min(static_cast<size_t>(size), left);
  }
  static int IsAtEnd(void* user) {
    const ByteFeed& feed = *static_cast<ByteFeed*>(user);
    return feed.offset >= feed.bytes.size() ? 1 : 0;
  }
};

constexpr stbi_io_callbacks kCallbacks = {
    .read = &ByteFeed::Read, .skip = &ByteFeed::Skip, .eof = &ByteFeed::IsAtEnd};

absl::Status StbFailure(const ByteFeed& feed) {
  if (feed.is_truncated) return absl::InvalidArgumentError("the file is truncated");
  const char* reason = stbi_failure_reason();
  // Its words are all that stb gives.
  if (reason != nullptr && std::string_view(reason) == "Out of memory")
    return absl::ResourceExhaustedError("not enough memory to decode the file");
  return absl::InvalidArgumentError(
      fmt::format("the file is corrupt or of an unsupported kind ({})",
                  reason != nullptr ? reason : "no reason given"));
}

// Also gives the vector's size: stb's own idea of the dimensions must not change between the header
// and the image.
template <typename T, typename LoadFunction>
absl::StatusOr<Decoded> DecodeWith(LoadFunction load, std::string_view bytes,
                                   const DecodeOptions& options) {
  int width = 0;
  int height = 0;
  int channels = 0;
  ByteFeed header{.bytes = bytes};
  if (stbi_info_from_callbacks(&kCallbacks, &header, &width, &height, &channels) == 0)
    return StbFailure(header);
  RETURN_IF_ERROR(CheckSize(static_cast<uint64_t>(std::max(width, 0)),
                            static_cast<uint64_t>(std::max(height, 0)), sizeof(T), options));
  ByteFeed feed{.bytes = bytes};
  int loaded_width = 0;
  int loaded_height = 0;
  const std::unique_ptr<T, StbFree> texels(
      load(&kCallbacks, &feed, &loaded_width, &loaded_height, &channels, 4));
  if (texels == nullptr || feed.is_truncated) return StbFailure(feed);
  if (width != loaded_width || height != loaded_height)
    return absl::InvalidArgumentError("the header contradicts itself");
  Decoded decoded;
  decoded.image.width = static_cast<uint32_t>(width);
  decoded.image.height = static_cast<uint32_t>(height);
  decoded.image.texels = std::vector<T>(
      texels.get(), texels.get() + size_t{decoded.image.width} * decoded.image.height * 4);
  return decoded;
}

// Header: id length, has colour map, kind, map first (2), map length (2), map entry bits, x, y (4),
// width, height (4), bits, flags.
absl::Status CheckTgaSize(std::string_view bytes) {
  constexpr size_t kHeaderBytes = 18;
  const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const auto at16 = [&](size_t i) {
    return static_cast<uint64_t>(at(i)) | static_cast<uint64_t>(at(i + 1)) << 8;
  };
  if (bytes.size() < kHeaderBytes) return absl::InvalidArgumentError("the file is truncated");
  const bool is_run_length = at(2) >= 8;
  const uint64_t map_bytes = at(1) != 0 ? at16(5) * ((uint64_t{at(7)} + 7) / 8) : 0;
  const uint64_t texel_bytes =
      is_run_length ? 0 : at16(12) * at16(14) * ((uint64_t{at(16)} + 7) / 8);
  if (kHeaderBytes + at(0) + map_bytes + texel_bytes <= bytes.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("the file is truncated: it should have {} bytes and has {}",
                  kHeaderBytes + at(0) + map_bytes + texel_bytes, bytes.size()));
}

}  // namespace

absl::StatusOr<Decoded> DecodeTga(std::string_view bytes, const DecodeOptions& options) {
  RETURN_IF_ERROR(CheckTgaSize(bytes));
  return DecodeWith<uint8_t>(&stbi_load_from_callbacks, bytes, options);
}

absl::StatusOr<Decoded> DecodeBmp(std::string_view bytes, const DecodeOptions& options) {
  return DecodeWith<uint8_t>(&stbi_load_from_callbacks, bytes, options);
}

absl::StatusOr<Decoded> DecodeHdr(std::string_view bytes, const DecodeOptions& options) {
  return DecodeWith<float>(&stbi_loadf_from_callbacks, bytes, options);
}

}  // namespace galley::worker::texture
