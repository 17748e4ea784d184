// AudioSettings: the settings that a recipe gives the audio cooker.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/record/cooker_description.h"
#include "nlohmann/json.hpp"

namespace galley::worker::audio {

enum class Codec { kOpus, kVorbis };

struct AudioSettings {
  Codec codec = Codec::kOpus;
  int64_t bitrate = 0;  // 0: the codec's default
};

std::vector<record::SettingDescription> DescribeAudioSettings();
// `settings`: as record::ResolveSettings gives them. Errors: INVALID_ARGUMENT names the setting and
// what was expected.
absl::StatusOr<AudioSettings> ParseAudioSettings(const nlohmann::json& settings);

}  // namespace galley::worker::audio
