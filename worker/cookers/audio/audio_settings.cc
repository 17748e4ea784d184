#include "worker/cookers/audio/audio_settings.h"

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::worker::audio {
namespace {

using record::SettingType;

// Above the limit of any codec for kChannelsMax channels.
constexpr int64_t kBitrateMax = 4'000'000;

absl::StatusOr<Codec> ParseCodec(const nlohmann::json& settings) {
  const auto found = settings.find("codec");
  if (found == settings.end() || *found == "opus") return Codec::kOpus;
  if (*found == "vorbis") return Codec::kVorbis;
  return absl::InvalidArgumentError(
      fmt::format("setting \"codec\": expected one of opus, vorbis, not {}", found->dump()));
}

absl::StatusOr<int64_t> ParseBitrate(const nlohmann::json& settings) {
  const auto found = settings.find("bitrate");
  if (found == settings.end()) return 0;
  if (found->is_number_integer()) {
    const int64_t value = found->get<int64_t>();
    if (value >= 0 && value <= kBitrateMax) return value;
  }
  return absl::InvalidArgumentError(
      fmt::format("setting \"bitrate\": expected bits per second, an integer from 0 to {}, not {}",
                  kBitrateMax, found->dump()));
}

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
       .choices = {},
       .documentation = "Bits per second that all channels together are to have on average; 0: the "
                        "codec's default for that many channels."},
  };
}

absl::StatusOr<AudioSettings> ParseAudioSettings(const nlohmann::json& settings) {
  AudioSettings parsed;
  ASSIGN_OR_RETURN(parsed.codec, ParseCodec(settings));
  ASSIGN_OR_RETURN(parsed.bitrate, ParseBitrate(settings));
  return parsed;
}

}  // namespace galley::worker::audio
