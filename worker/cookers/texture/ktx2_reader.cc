#include "worker/cookers/texture/ktx2_reader.h"

#include <zstd.h>

#include "common/base/status_macros.h"
#include "worker/cookers/texture/byte_reader.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/texture/image.h"
#include "worker/cookers/texture/ktx2_format.h"
#include "worker/cookers/texture/texture_settings.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

absl::Status TruncatedFile() { return VerdictError("the KTX2 file is truncated"); }

absl::Status UnsupportedFile(std::string_view what, uint64_t value) {
  return VerdictError("the KTX2 file is corrupt or of an unsupported kind: {} {}", what, value);
}

bool IsWithin(std::string_view file, uint64_t offset, uint64_t size) {
  return offset <= file.size() && size <= file.size() - offset;
}

// Finds the value of KTXswizzle, empty if it is absent. An entry: length, key, NUL, value, NUL,
// padding to 4.
absl::StatusOr<std::string_view> FindSwizzle(std::string_view data) {
  constexpr std::string_view kKey("KTXswizzle\0", 11);
  while (data.size() >= 4) {
    const uint64_t size = ByteReader(data).Get32();
    if (!IsWithin(data, 4, size)) return TruncatedFile();
    const std::string_view pair = data.substr(4, size);
    if (pair.starts_with(kKey)) return pair.substr(kKey.size(), 4);
    data.remove_prefix(std::min<size_t>(4 + (size + 3) / 4 * 4, data.size()));
  }
  return std::string_view();
}

uint64_t LevelBytes(const Ktx2Contents& contents, uint32_t level) {
  return contents.format.LevelBytes(contents.level_width(level), contents.level_height(level)) *
         contents.images_count();
}

absl::Status CheckCounts(const Ktx2Contents& contents, uint32_t levels_count) {
  RETURN_IF_ERROR(CheckSize(contents.width, contents.height, 1, {}));
  if (contents.faces_count != 1 && contents.faces_count != kCubeFaces)
    return UnsupportedFile("faces:", contents.faces_count);
  if (contents.layers_count > kImagesMax) return UnsupportedFile("layers:", contents.layers_count);
  const uint32_t side = std::max(contents.width, contents.height);
  if (levels_count == 0 || levels_count > 16 || side >> (levels_count - 1) == 0)
    return UnsupportedFile("levels:", levels_count);
  if (LevelBytes(contents, 0) > 2 * kDecodedBytesMax)
    return UnsupportedFile("bytes of the first level:", LevelBytes(contents, 0));
  return absl::OkStatus();
}

absl::Status ReadLevelIndex(std::string_view file, ByteReader& reader, uint32_t levels_count,
                            Ktx2Contents& contents) {
  for (uint32_t level = 0; level < levels_count; ++level) {
    const uint64_t offset = reader.Get64();
    const uint64_t stored = reader.Get64();
    const uint64_t inflated = reader.Get64();
    if (reader.is_truncated() || !IsWithin(file, offset, stored)) return TruncatedFile();
    if (inflated != LevelBytes(contents, level) || (!contents.is_zstd && stored != inflated)) {
      return VerdictError("the KTX2 file is corrupt: level {} should have {} bytes and has {}",
                          level, LevelBytes(contents, level), contents.is_zstd ? inflated : stored);
    }
    contents.levels.push_back(file.substr(offset, stored));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Ktx2Contents> ParseKtx2(std::string_view file) {
  if (!file.starts_with(kKtx2Identifier)) return VerdictError("this is no KTX2 file");
  ByteReader reader(file.substr(kKtx2Identifier.size()));
  Ktx2Contents contents;
  const uint32_t vk_format = reader.Get32();
  reader.Skip(4);  // type size
  contents.width = reader.Get32();
  contents.height = reader.Get32();
  const uint32_t depth = reader.Get32();
  contents.layers_count = reader.Get32();
  contents.faces_count = reader.Get32();
  const uint32_t levels_count = reader.Get32();
  const uint32_t scheme = reader.Get32();
  reader.Skip(8);  // descriptor
  const uint32_t pairs_offset = reader.Get32();
  const uint32_t pairs_bytes = reader.Get32();
  reader.Skip(16);  // supercompression global data
  if (reader.is_truncated() || !IsWithin(file, pairs_offset, pairs_bytes)) return TruncatedFile();

  const std::optional<TextureFormat> format = FormatOfVk(vk_format);
  if (!format) return UnsupportedFile("VkFormat", vk_format);
  if (depth != 0) return UnsupportedFile("depth", depth);
  if (scheme != 0 && scheme != kKtx2SchemeZstd)
    return UnsupportedFile("supercompression scheme", scheme);
  contents.format = *format;
  contents.is_zstd = scheme == kKtx2SchemeZstd;
  RETURN_IF_ERROR(CheckCounts(contents, levels_count));
  ASSIGN_OR_RETURN(contents.swizzle, FindSwizzle(file.substr(pairs_offset, pairs_bytes)));
  RETURN_IF_ERROR(ReadLevelIndex(file, reader, levels_count, contents));
  return contents;
}

absl::StatusOr<std::string> ReadKtx2Image(const Ktx2Contents& contents, uint32_t level,
                                          uint32_t image) {
  GALLEY_CHECK(level < contents.levels.size() && image < contents.images_count());
  const std::string_view stored = contents.levels[level];
  const uint64_t level_bytes = LevelBytes(contents, level);
  const uint64_t image_bytes = level_bytes / contents.images_count();
  if (!contents.is_zstd) return std::string(stored.substr(image * image_bytes, image_bytes));
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != level_bytes) {
    return VerdictError("the KTX2 file is corrupt: level {} is not {} bytes of zstd", level,
                        level_bytes);
  }
  std::string inflated(level_bytes, '\0');
  const size_t size =
      ZSTD_decompress(inflated.data(), inflated.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != level_bytes)
    return VerdictError("the KTX2 file is corrupt: level {}: {}", level, ZSTD_getErrorName(size));
  return inflated.substr(image * image_bytes, image_bytes);
}

}  // namespace galley::worker::texture
