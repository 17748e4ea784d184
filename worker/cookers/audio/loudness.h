// Loudness: measures a sound by ITU-R BS.1770 / EBU R 128, with libebur128.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "worker/cookers/audio/sound.h"

namespace galley::worker::audio {

// Integrated loudness in LUFS, rounded to 0.1 LU as meters show it. nullopt: the sound has none,
// since it is shorter than 400 ms or stays below -70 LUFS. OUT_OF_RANGE: not enough memory.
absl::StatusOr<std::optional<double>> MeasureLoudness(const Sound& sound);

}  // namespace galley::worker::audio
