#include "worker/cookers/audio/channel_order.h"

#include <bit>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

// Bits of dwChannelMask; the file's channels are in the order of the bits.
constexpr uint32_t kFrontLeft = 0x1;
constexpr uint32_t kFrontRight = 0x2;
constexpr uint32_t kFrontCenter = 0x4;
constexpr uint32_t kLowFrequency = 0x8;
constexpr uint32_t kBackLeft = 0x10;
constexpr uint32_t kBackRight = 0x20;
constexpr uint32_t kBackCenter = 0x100;
constexpr uint32_t kSideLeft = 0x200;
constexpr uint32_t kSideRight = 0x400;

// The layouts of Vorbis: the speakers in Vorbis' order. The first layout for a number of channels
// is the layout of files without a mask.
using Layout = std::vector<uint32_t>;
const std::vector<Layout>& Layouts() {
  static const std::vector<Layout> layouts = {
      {kFrontCenter},
      {kFrontLeft, kFrontRight},
      {kBackLeft, kBackRight},
      {kSideLeft, kSideRight},
      {kFrontLeft, kFrontCenter, kFrontRight},
      {kFrontLeft, kFrontRight, kBackLeft, kBackRight},
      {kFrontLeft, kFrontRight, kSideLeft, kSideRight},
      {kFrontLeft, kFrontCenter, kFrontRight, kBackLeft, kBackRight},
      {kFrontLeft, kFrontCenter, kFrontRight, kSideLeft, kSideRight},
      {kFrontLeft, kFrontCenter, kFrontRight, kBackLeft, kBackRight, kLowFrequency},
      {kFrontLeft, kFrontCenter, kFrontRight, kSideLeft, kSideRight, kLowFrequency},
      {kFrontLeft, kFrontCenter, kFrontRight, kSideLeft, kSideRight, kBackCenter, kLowFrequency},
      {kFrontLeft, kFrontCenter, kFrontRight, kBackLeft, kBackRight, kBackCenter, kLowFrequency},
      {kFrontLeft, kFrontCenter, kFrontRight, kSideLeft, kSideRight, kBackLeft, kBackRight,
       kLowFrequency},
  };
  return layouts;
}

uint32_t MaskOf(const Layout& layout) {
  uint32_t mask = 0;
  for (const uint32_t speaker : layout) mask |= speaker;
  return mask;
}

std::vector<uint32_t> OrderOf(const Layout& layout) {
  const uint32_t mask = MaskOf(layout);
  std::vector<uint32_t> order;
  for (const uint32_t speaker : layout)
    order.push_back(static_cast<uint32_t>(std::popcount(mask & (speaker - 1))));
  return order;
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> ChannelOrder(uint32_t channels, uint32_t mask) {
  if (channels == 1) return std::vector<uint32_t>{0};  // whatever its speaker is
  std::vector<std::string> known;
  for (const Layout& layout : Layouts()) {
    if (layout.size() != channels) continue;
    if (mask == 0 || mask == MaskOf(layout)) return OrderOf(layout);
    known.push_back(fmt::format("{:#x}", MaskOf(layout)));
  }
  return VerdictError(
      "the channel mask is {:#x}, and Opus and Vorbis have no such layout of {} channels; expected "
      "one of {}, or none",
      mask, channels, fmt::join(known, ", "));
}

void Reorder(const std::vector<uint32_t>& order, std::vector<float>& samples) {
  const size_t channels = order.size();
  std::vector<float> frame(channels);
  for (size_t i = 0; i + channels <= samples.size(); i += channels) {
    for (size_t k = 0; k < channels; ++k) frame[k] = samples[i + order[k]];
    for (size_t k = 0; k < channels; ++k) samples[i + k] = frame[k];
  }
}

}  // namespace galley::worker::audio
