// Encoder: levels of 8-bit or half RGBA -> the bytes of a texture format. Single-threaded; the same
// input always gives the same bytes.
//
//   quality    BC1, BC3                     BC4, BC5         ASTC
//   fast       stb_dxt                      stb_dxt          astcenc -fast
//   medium     stb_dxt, two refinements     stb_dxt          astcenc -medium
//   thorough   libsquish cluster fit        libsquish        astcenc -thorough
//
// Blocks that reach over the edge repeat the last column and row. ASTC normals are encoded as (x,
// x, x, y); KTXswizzle says so.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "worker/cookers/texture/image.h"
#include "worker/cookers/texture/texture_format.h"

struct astcenc_context;

namespace galley::worker::texture {

struct EncodeOptions {
  TextureFormat format;
  Usage usage = Usage::kColor;
  Quality quality = Quality::kFast;
  bool has_alpha = false;
};

// Encodes to BC1 (alpha is taken as opaque), BC3 (with usage color the colours are weighted by
// alpha), BC4 (red) or BC5 (red, green). REQUIRES: `level` holds kUnorm8 texels.
std::string EncodeBlocks(const Level& level, const EncodeOptions& options);

// Keeps astcenc's contexts, which take long to make; at most kContextsMax.
// Threads: none.
class AstcEncoder {
 public:
  AstcEncoder();
  ~AstcEncoder();
  // INTERNAL, OUT_OF_RANGE: as astcenc reports. REQUIRES: `level` holds kUnorm8 texels.
  absl::StatusOr<std::string> Encode(const Level& level, const EncodeOptions& options);
  // Frees all contexts.
  void Trim() { contexts_.clear(); }

  // The limit on kept contexts: each takes some megabytes.
  static constexpr size_t kContextsMax = 8;
  size_t contexts_count() const { return contexts_.size(); }
  uint64_t contexts_made() const { return contexts_made_; }

 private:
  struct FreeContext {
    void operator()(astcenc_context* context) const;
  };
  using Key = std::tuple<BlockSize, Quality, bool /*is_srgb*/, unsigned /*flags*/>;
  absl::StatusOr<astcenc_context*> ContextFor(const EncodeOptions& options);
  std::map<Key, std::unique_ptr<astcenc_context, FreeContext>> contexts_;
  uint64_t contexts_made_ = 0;
};

}  // namespace galley::worker::texture
