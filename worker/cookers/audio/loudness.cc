#include "worker/cookers/audio/loudness.h"

#include <ebur128.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "worker/cookers/out_of_memory.h"

namespace galley::worker::audio {
namespace {

constexpr size_t kFramesAtOnce = 65'536;

struct DeleteState {
  void operator()(ebur128_state* state) const { ebur128_destroy(&state); }
};

// The role of each channel, in Vorbis' order; it decides the channel's weight.
using Roles = std::array<channel, kChannelsMax>;
constexpr Roles kRoles[kChannelsMax] = {
    {EBUR128_CENTER},
    {EBUR128_LEFT, EBUR128_RIGHT},
    {EBUR128_LEFT, EBUR128_CENTER, EBUR128_RIGHT},
    {EBUR128_LEFT, EBUR128_RIGHT, EBUR128_LEFT_SURROUND, EBUR128_RIGHT_SURROUND},
    {EBUR128_LEFT, EBUR128_CENTER, EBUR128_RIGHT, EBUR128_LEFT_SURROUND, EBUR128_RIGHT_SURROUND},
    {EBUR128_LEFT, EBUR128_CENTER, EBUR128_RIGHT, EBUR128_LEFT_SURROUND, EBUR128_RIGHT_SURROUND,
     EBUR128_UNUSED},
    {EBUR128_LEFT, EBUR128_CENTER, EBUR128_RIGHT, EBUR128_Mp090, EBUR128_Mm090, EBUR128_Mp180,
     EBUR128_UNUSED},
    {EBUR128_LEFT, EBUR128_CENTER, EBUR128_RIGHT, EBUR128_Mp090, EBUR128_Mm090, EBUR128_Mp135,
     EBUR128_Mm135, EBUR128_UNUSED},
};

}  // namespace

absl::StatusOr<std::optional<double>> MeasureLoudness(const Sound& sound) {
  const std::unique_ptr<ebur128_state, DeleteState> state(
      ebur128_init(sound.channels, sound.rate, EBUR128_MODE_I));
  if (state == nullptr) return OutOfMemoryError("libebur128 has not enough memory");
  for (uint32_t i = 0; i < sound.channels; ++i)
    ebur128_set_channel(state.get(), i, kRoles[sound.channels - 1][i]);
  for (uint64_t at = 0; at < sound.frames(); at += kFramesAtOnce) {
    const float* block = sound.samples.data() + at * sound.channels;
    if (ebur128_add_frames_float(state.get(), block,
                                 std::min(kFramesAtOnce, sound.frames() - at)) != EBUR128_SUCCESS)
      return OutOfMemoryError("libebur128 has not enough memory");
  }
  double loudness = 0;
  if (ebur128_loudness_global(state.get(), &loudness) != EBUR128_SUCCESS ||
      !std::isfinite(loudness))
    return std::nullopt;
  return std::round(loudness * 10) / 10;
}

}  // namespace galley::worker::audio
