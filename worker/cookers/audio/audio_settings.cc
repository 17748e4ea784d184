#include "worker/cookers/audio/audio_settings.h"

#include "common/base/status_macros.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

using record::SettingType;

// Above the limit of any codec for kChannelsMax channels.
constexpr int64_t kBitrateMax = 4'000'000;

}  // namespace

std::vector<record::SettingDescription> DescribeAudioSettings() {
  return {
      {.name = "codec",
       .type = SettingType::kChoice,
       .default_json = R"("opus")",
       .choices = {"opus", "vorbis"},
       .documentation = "Opus (.opus, at 48 kHz) or Vorbis (.ogg, at the source's rate)."},
      {.name = "bitrate",
       .type = SettingType::kInteger,
       .default_json = "0",
       .documentation = "Bits per second that all channels together are to have on average; 0: the "
                        "codec's default for that many channels."},
  };
}

absl::StatusOr<AudioSettings> ParseAudioSettings(const nlohmann::json& settings) {
  AudioSettings parsed;
  parsed.codec = settings.at("codec") == "vorbis" ? Codec::kVorbis : Codec::kOpus;
  parsed.bitrate = settings.at("bitrate").get<int64_t>();
  if (parsed.bitrate < 0 || parsed.bitrate > kBitrateMax) {
    return VerdictError(
        "setting \"bitrate\": expected bits per second, an integer from 0 to {}, not {}",
        kBitrateMax, settings.at("bitrate").dump());
  }
  return parsed;
}

}  // namespace galley::worker::audio
