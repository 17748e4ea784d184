// Audio: the cooker wav, flac, ogg -> ".opus" or ".ogg". Settings, channels, loops and limits:
// docs/cookers/audio.md.
//
// Load decodes and measures the loudness; Cook resamples and encodes. Observes nothing: platforms
// share a result. No references, no generated packages.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateAudioCooker();

}  // namespace galley::worker
