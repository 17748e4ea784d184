// Decode: bytes of a png, jpg, tga, bmp or hdr file -> Image. The bytes are foreign: nothing is
// allocated before the dimensions are known to be within the limits, and every flaw is an error in
// words.
//
// Not looked at: gAMA, cHRM, sRGB and iCCP chunks, ICC profiles in JPEG, Exif orientation. The
// setting color_space decides instead.
// Errors: INVALID_ARGUMENT: corrupt, truncated, unsupported, or above kSideMax or kDecodedBytesMax;
// a verdict. OUT_OF_RANGE: within these limits, but above the job's memory limit; no verdict, since
// the memory limit is no part of the key.
// Threads: any; no state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/texture/image.h"

namespace galley::worker::texture {

inline constexpr uint32_t kSideMax = 65'535;
// 256 million texels of RGBA8.
inline constexpr uint64_t kDecodedBytesMax = 1'024'000'000;

struct DecodeOptions {
  // The memory limit of the whole job. Cooking takes about four times the decoded bytes.
  uint64_t memory_bytes_max = UINT64_MAX;
  // The number of images of this size that are held together: the layers of a texture.
  uint32_t images_count = 1;
  // Only the header is read: `bytes` may end behind it, and the image has no texels.
  bool header_only = false;
};

struct Decoded {
  Image image;  // with `header_only`, has_alpha says whether the file has room for alpha
  std::vector<std::string> warnings;
  // From the header; only set with `header_only`.
  bool is_grey = false;
  bool has_palette = false;
};

// `extension`: png, jpg, jpeg, tga, bmp, hdr.
absl::StatusOr<Decoded> Decode(std::string_view extension, std::string_view bytes,
                               const DecodeOptions& options);

// The flaw of a file that Decode refuses, in a few words: "a JPEG under the name .png"; "": only
// the error tells the flaw.
std::string FindImageFlaw(std::string_view extension, std::string_view bytes);

// --- The codecs, for Decode.
absl::StatusOr<Decoded> DecodePng(std::string_view bytes, const DecodeOptions& options);
absl::StatusOr<Decoded> DecodeJpeg(std::string_view bytes, const DecodeOptions& options);
absl::StatusOr<Decoded> DecodeTga(std::string_view bytes, const DecodeOptions& options);
absl::StatusOr<Decoded> DecodeBmp(std::string_view bytes, const DecodeOptions& options);
absl::StatusOr<Decoded> DecodeHdr(std::string_view bytes, const DecodeOptions& options);
// Whether an image of this size may be decoded. `channel_bytes`: 1, 2 or 4; there are four
// channels.
absl::Status CheckSize(uint64_t width, uint64_t height, uint64_t channel_bytes,
                       const DecodeOptions& options);
// Makes RGBA8 texels opaque if all of them are fully transparent: such a file does not use alpha.
void MakeOpaqueWhenAllIsClear(std::vector<uint8_t>& texels);

}  // namespace galley::worker::texture
