#include <astcenc.h>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/texture/encoder.h"

namespace galley::worker::texture {
namespace {

absl::Status AstcFailure(std::string_view what, astcenc_error error) {
  const std::string text = fmt::format("astcenc: {}: {}", what, astcenc_get_error_string(error));
  return error == ASTCENC_ERR_OUT_OF_MEM ? OutOfMemoryError("{}", text) : absl::InternalError(text);
}

float Preset(Quality quality) {
  switch (quality) {
    case Quality::kFast:
      return ASTCENC_PRE_FAST;
    case Quality::kMedium:
      return ASTCENC_PRE_MEDIUM;
    case Quality::kThorough:
      return ASTCENC_PRE_THOROUGH;
  }
  return ASTCENC_PRE_FAST;
}

unsigned FlagsOf(const EncodeOptions& options) {
  switch (options.usage) {
    case Usage::kNormal:
      return ASTCENC_FLG_MAP_NORMAL;
    case Usage::kMask:
      return ASTCENC_FLG_MAP_MASK;
    case Usage::kColor:
      return options.has_alpha ? ASTCENC_FLG_USE_ALPHA_WEIGHT : 0;
  }
  return 0;
}

}  // namespace

AstcEncoder::AstcEncoder() = default;
AstcEncoder::~AstcEncoder() = default;

void AstcEncoder::FreeContext::operator()(astcenc_context* context) const {
  astcenc_context_free(context);
}

absl::StatusOr<astcenc_context*> AstcEncoder::ContextFor(const EncodeOptions& options) {
  const BlockSize block = options.format.block();
  const unsigned flags = FlagsOf(options);
  const Key key(block, options.quality, options.format.is_srgb, flags);
  if (const auto found = contexts_.find(key); found != contexts_.end()) return found->second.get();
  if (contexts_.size() >= kContextsMax) contexts_.clear();
  astcenc_config config{};
  const astcenc_profile profile = options.format.is_srgb ? ASTCENC_PRF_LDR_SRGB : ASTCENC_PRF_LDR;
  astcenc_error error = astcenc_config_init(profile, block.width, block.height, 1,
                                            Preset(options.quality), flags, &config);
  if (error != ASTCENC_SUCCESS) return AstcFailure("configuration", error);
  // Bilinear filters also read the texels beside visible texels.
  if ((flags & ASTCENC_FLG_USE_ALPHA_WEIGHT) != 0) config.a_scale_radius = 1;
  astcenc_context* context = nullptr;
  error = astcenc_context_alloc(&config, 1, &context);
  if (error != ASTCENC_SUCCESS) return AstcFailure("context", error);
  contexts_[key].reset(context);
  ++contexts_made_;
  return context;
}

absl::StatusOr<std::string> AstcEncoder::Encode(const Level& level, const EncodeOptions& options) {
  ASSIGN_OR_RETURN(astcenc_context* const context, ContextFor(options));
  constexpr astcenc_swizzle kAsIs = {ASTCENC_SWZ_R, ASTCENC_SWZ_G, ASTCENC_SWZ_B, ASTCENC_SWZ_A};
  constexpr astcenc_swizzle kNormal = {ASTCENC_SWZ_R, ASTCENC_SWZ_R, ASTCENC_SWZ_R, ASTCENC_SWZ_G};
  // astcenc only reads the texels; its interface has no const.
  void* slice = const_cast<uint8_t*>(level.texels.data());
  astcenc_image image{.dim_x = level.width,
                      .dim_y = level.height,
                      .dim_z = 1,
                      .data_type = ASTCENC_TYPE_U8,
                      .data = &slice};
  std::string out(options.format.LevelBytes(level.width, level.height), '\0');
  const astcenc_error error =
      astcenc_compress_image(context, &image, options.usage == Usage::kNormal ? &kNormal : &kAsIs,
                             reinterpret_cast<uint8_t*>(out.data()), out.size(), 0);
  astcenc_compress_reset(context);
  if (error != ASTCENC_SUCCESS) return AstcFailure("compression", error);
  return out;
}

}  // namespace galley::worker::texture
