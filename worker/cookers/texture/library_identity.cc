#include "worker/cookers/texture/library_identity.h"

#include <astcenc.h>
#include <png.h>
#include <squish.h>
#include <zstd.h>

#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include "fmt/format.h"
#include "worker/cookers/library/build_id.h"

#define GALLEY_TEXT_OF_INNER(x) #x
#define GALLEY_TEXT_OF(x) GALLEY_TEXT_OF_INNER(x)

namespace galley::worker::texture {
namespace {

std::string PngVersion() {
  const auto version = png_access_version_number();  // 10639
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace

std::string LibraryIdentity() {
  return fmt::format("libpng={};libjpeg={}-{};stb_dxt=1.12;squish={};astcenc={};zstd={}",
                     PngVersion(), GALLEY_TEXT_OF(LIBJPEG_TURBO_VERSION),
                     BuildIdOf("jpeg_start_decompress"),
                     BuildIdOf("_ZN6squish14CompressMaskedEPKhiPviPf"),
                     BuildIdOf("astcenc_compress_image"), ZSTD_versionString());
}

}  // namespace galley::worker::texture
