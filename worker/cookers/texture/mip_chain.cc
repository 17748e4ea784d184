#include "worker/cookers/texture/mip_chain.h"

#include <array>
#include <cmath>
#include <cstring>

#include "common/base/status_macros.h"
#include "worker/cookers/texture/transfer.h"

namespace galley::worker::texture {
namespace {

// Added to alpha as a weight: where all texels are transparent, the mean is plain; elsewhere the
// weight is far below what 8 bits show.
constexpr float kWeightFloor = 0x1p-20f;

// A level in floats: colour in linear light, normals as vectors.
struct FloatLevel {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<float> texels;
  const float* row(uint32_t y) const { return texels.data() + size_t{y} * width * 4; }
};

// The source texels, at most three, that a result texel covers on an axis, and their shares.
struct Taps {
  uint32_t first = 0;
  uint32_t count = 1;
  std::array<float, 3> weights{1.0f, 0.0f, 0.0f};
};

Taps TapsOf(uint32_t index, uint32_t source_size) {
  if (source_size == 1) return {};
  const uint32_t size = source_size / 2;
  if (source_size % 2 == 0) return {.first = index * 2, .count = 2, .weights = {0.5f, 0.5f, 0.0f}};
  const float whole = static_cast<float>(source_size);
  return {.first = index * 2,
          .count = 3,
          .weights = {static_cast<float>(size - index) / whole, static_cast<float>(size) / whole,
                      static_cast<float>(index + 1) / whole}};
}

class Chain {
 public:
  Chain(const Image& image, const MipOptions& options)
      : image_(image),
        options_(options),
        is_weighted_(options.usage == Usage::kColor && image.has_alpha) {}

  std::vector<Level> Make();

 private:
  // Loads row `y` of the source as floats.
  void LoadRow(uint32_t y, float* out) const;
  void Load8(const uint8_t* in, float* out) const;
  void Load16(const uint16_t* in, float* out) const;
  // Row `y` of the image to be halved: of `previous`, or of the source when `previous` is null.
  const float* RowOf(const FloatLevel* previous, uint32_t y);
  void AddRow(const float* row, float weight, bool is_first);
  void HalveRow(float* out, uint32_t width) const;
  void Finish(float* texel) const;
  FloatLevel Halve(const FloatLevel* previous);
  Level FirstLevel() const;
  Level Store(const FloatLevel& level) const;
  void StoreRow(const float* in, uint32_t width, uint8_t* out) const;
  void StoreHalfRow(const float* in, uint32_t width, uint8_t* out) const;

  const Image& image_;
  const MipOptions& options_;
  const bool is_weighted_;
  std::vector<float> row_;   // a source row
  std::vector<float> sums_;  // the sum of rows
};

void Chain::Load8(const uint8_t* in, float* out) const {
  const auto& color = options_.color_space == ColorSpace::kSrgb ? SrgbToLinear8() : UnormToFloat8();
  const auto& alpha = UnormToFloat8();
  for (size_t i = 0; i < size_t{image_.width} * 4; i += 4) {
    for (size_t c = 0; c < 3; ++c) out[i + c] = color[in[i + c]];
    out[i + 3] = alpha[in[i + 3]];
  }
}

void Chain::Load16(const uint16_t* in, float* out) const {
  const bool is_srgb = options_.color_space == ColorSpace::kSrgb;
  const float* table = is_srgb ? SrgbToLinear16().data() : nullptr;
  for (size_t i = 0; i < size_t{image_.width} * 4; ++i) {
    out[i] = table != nullptr && i % 4 != 3 ? table[in[i]] : static_cast<float>(in[i]) / 65535.0f;
  }
}

void Chain::LoadRow(uint32_t y, float* out) const {
  const size_t offset = size_t{y} * image_.width * 4;
  if (const auto* bytes = std::get_if<std::vector<uint8_t>>(&image_.texels)) {
    Load8(bytes->data() + offset, out);
  } else if (const auto* words = std::get_if<std::vector<uint16_t>>(&image_.texels)) {
    Load16(words->data() + offset, out);
  } else {
    const auto& floats = std::get<std::vector<float>>(image_.texels);
    std::memcpy(out, floats.data() + offset, size_t{image_.width} * 4 * sizeof(float));
  }
  if (options_.usage != Usage::kNormal) return;
  for (size_t i = 0; i < size_t{image_.width} * 4; ++i)
    out[i] = i % 4 == 3 ? out[i] : out[i] * 2.0f - 1.0f;
}

const float* Chain::RowOf(const FloatLevel* previous, uint32_t y) {
  if (previous != nullptr) return previous->row(y);
  row_.resize(size_t{image_.width} * 4);
  LoadRow(y, row_.data());
  return row_.data();
}

void Chain::AddRow(const float* row, float weight, bool is_first) {
  if (is_first) std::ranges::fill(sums_, 0.0f);
  float* sums = sums_.data();
  const size_t size = sums_.size();
  if (!is_weighted_) {
    for (size_t i = 0; i < size; ++i) sums[i] += row[i] * weight;
    return;
  }
  for (size_t i = 0; i < size; i += 4) {
    const float share = (row[i + 3] + kWeightFloor) * weight;
    for (size_t c = 0; c < 3; ++c) sums[i + c] += row[i + c] * share;
    sums[i + 3] += share;
  }
}

// Turns a weighted sum into a texel.
void Chain::Finish(float* texel) const {
  if (is_weighted_) {
    const float share = texel[3];
    for (size_t c = 0; c < 3; ++c) texel[c] /= share;
    texel[3] = std::max(share - kWeightFloor, 0.0f);
  } else if (options_.usage == Usage::kNormal) {
    const float square = texel[0] * texel[0] + texel[1] * texel[1] + texel[2] * texel[2];
    const bool has_direction = square > 1e-12f;  // opposite normals cancel out; then straight up
    const float scale = has_direction ? 1.0f / std::sqrt(square) : 0.0f;
    for (size_t c = 0; c < 3; ++c) texel[c] *= scale;
    if (!has_direction) texel[2] = 1.0f;
  }
}

void Chain::HalveRow(float* out, uint32_t width) const {
  const uint32_t source_width = static_cast<uint32_t>(sums_.size() / 4);
  for (uint32_t x = 0; x < width; ++x) {
    const Taps taps = TapsOf(x, source_width);
    float texel[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (uint32_t k = 0; k < taps.count; ++k) {
      const float* in = sums_.data() + size_t{taps.first + k} * 4;
      for (size_t c = 0; c < 4; ++c) texel[c] += in[c] * taps.weights[k];
    }
    Finish(texel);
    std::memcpy(out + size_t{x} * 4, texel, sizeof(texel));
  }
}

FloatLevel Chain::Halve(const FloatLevel* previous) {
  const uint32_t source_width = previous != nullptr ? previous->width : image_.width;
  const uint32_t source_height = previous != nullptr ? previous->height : image_.height;
  FloatLevel level{.width = std::max(source_width / 2, 1u),
                   .height = std::max(source_height / 2, 1u),
                   .texels = {}};
  level.texels.resize(size_t{level.width} * level.height * 4);
  sums_.resize(size_t{source_width} * 4);
  for (uint32_t y = 0; y < level.height; ++y) {
    const Taps taps = TapsOf(y, source_height);
    for (uint32_t k = 0; k < taps.count; ++k)
      AddRow(RowOf(previous, taps.first + k), taps.weights[k], k == 0);
    HalveRow(level.texels.data() + size_t{y} * level.width * 4, level.width);
  }
  return level;
}

void Chain::StoreHalfRow(const float* in, uint32_t width, uint8_t* out) const {
  const bool is_normal = options_.usage == Usage::kNormal;
  for (size_t i = 0; i < size_t{width} * 4; ++i) {
    const uint16_t half = EncodeHalf(is_normal && i % 4 != 3 ? in[i] * 0.5f + 0.5f : in[i]);
    out[i * 2] = static_cast<uint8_t>(half & 0xff);
    out[i * 2 + 1] = static_cast<uint8_t>(half >> 8);
  }
}

void Chain::StoreRow(const float* in, uint32_t width, uint8_t* out) const {
  if (options_.texel_type == TexelType::kHalf) return StoreHalfRow(in, width, out);
  const bool is_normal = options_.usage == Usage::kNormal;
  const bool is_srgb = options_.color_space == ColorSpace::kSrgb;
  const SrgbEncoder& srgb = SrgbEncoder::Instance();
  for (size_t i = 0; i < size_t{width} * 4; i += 4) {
    for (size_t c = 0; c < 3; ++c) {
      const float value = is_normal ? in[i + c] * 0.5f + 0.5f : in[i + c];
      out[i + c] = is_srgb ? srgb.Encode(value) : EncodeUnorm8(value);
    }
    out[i + 3] = EncodeUnorm8(in[i + 3]);
  }
}

Level Chain::Store(const FloatLevel& level) const {
  const size_t row_bytes = size_t{level.width} * (options_.texel_type == TexelType::kHalf ? 8 : 4);
  Level stored{.width = level.width,
               .height = level.height,
               .texels = std::vector<uint8_t>(row_bytes * level.height)};
  for (uint32_t y = 0; y < level.height; ++y)
    StoreRow(level.row(y), level.width, stored.texels.data() + y * row_bytes);
  return stored;
}

Level Chain::FirstLevel() const {
  Level level{.width = image_.width, .height = image_.height, .texels = {}};
  const size_t entries = size_t{image_.width} * image_.height * 4;
  if (options_.texel_type == TexelType::kHalf) {
    level.texels.resize(entries * 2);
    std::vector<float> row(size_t{image_.width} * 4);
    for (uint32_t y = 0; y < image_.height; ++y) {
      LoadRow(y, row.data());
      StoreHalfRow(row.data(), image_.width, level.texels.data() + y * row.size() * 2);
    }
  } else if (const auto* bytes = std::get_if<std::vector<uint8_t>>(&image_.texels)) {
    level.texels = *bytes;
  } else {
    const auto& words = std::get<std::vector<uint16_t>>(image_.texels);
    level.texels.resize(entries);
    for (size_t i = 0; i < entries; ++i)
      level.texels[i] = static_cast<uint8_t>((words[i] * 255u + 32767u) / 65535u);
  }
  return level;
}

std::vector<Level> Chain::Make() {
  const auto fits = [&](uint32_t width, uint32_t height) {
    return options_.max_size == 0 || std::max(width, height) <= options_.max_size;
  };
  std::vector<Level> levels;
  if (fits(image_.width, image_.height)) levels.push_back(FirstLevel());
  FloatLevel previous;
  uint32_t width = image_.width;
  uint32_t height = image_.height;
  while ((width > 1 || height > 1) && (levels.empty() || options_.mipmaps)) {
    FloatLevel next = Halve(previous.texels.empty() ? nullptr : &previous);
    width = next.width;
    height = next.height;
    if (fits(width, height)) levels.push_back(Store(next));
    previous = std::move(next);
  }
  return levels;
}

}  // namespace

std::vector<Level> MakeMipChain(const Image& image, const MipOptions& options) {
  GALLEY_CHECK(!image.is_hdr() ||
               (options.usage == Usage::kColor && options.color_space == ColorSpace::kLinear &&
                options.texel_type == TexelType::kHalf));
  return Chain(image, options).Make();
}

}  // namespace galley::worker::texture
