// AudioCooking: the fixture of tests that cook a sound.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/audio/audio_cooker.h"
#include "worker/cookers/audio/testing/decoded_file.h"
#include "worker/cookers/audio/testing/sample_sounds.h"
#include "worker/cookers/source_looker.h"

namespace galley::worker::audio {

inline const nlohmann::json kVorbis = {{"codec", "vorbis"}};

struct Cooked {
  absl::Status status;
  std::string file;
  std::vector<std::string> looks;
  std::vector<std::string> warnings;
  std::map<std::string, std::variant<std::string, double, bool>> tags;
};

class AudioCooking : public testing::Test {
 protected:
  Cooked Cook(const std::string& source, const nlohmann::json& settings = nlohmann::json::object(),
              const std::string& package = "/Game/a.wav") {
    FakeCookContext context(cooker_->description(), package, source, settings);
    Cooked cooked{.status = LoadAndCook(*cooker_, context),
                  .file = {},
                  .looks = context.looks(),
                  .warnings = context.warnings(),
                  .tags = context.tags()};
    const bool is_vorbis = settings.value("codec", "opus") == "vorbis";
    if (cooked.status.ok()) cooked.file = context.output(is_vorbis ? ".ogg" : ".opus");
    return cooked;
  }
  DecodedFile CookAndDecode(const std::string& source,
                            const nlohmann::json& settings = nlohmann::json::object(),
                            const std::string& package = "/Game/a.wav") {
    const Cooked cooked = Cook(source, settings, package);
    EXPECT_TRUE(cooked.status.ok()) << cooked.status;
    if (!cooked.status.ok()) return {};
    return settings.value("codec", "opus") == "vorbis" ? DecodeVorbisFile(cooked.file)
                                                       : DecodeOpusFile(cooked.file);
  }
  std::string ErrorOf(const std::string& source,
                      const nlohmann::json& settings = nlohmann::json::object(),
                      const std::string& package = "/Game/a.wav") {
    const absl::Status status = Cook(source, settings, package).status;
    return absl::IsInvalidArgument(status) ? MessageOf(status) : status.ToString();
  }

  std::unique_ptr<Cooker> cooker_ = CreateAudioCooker();
};

inline std::vector<double> Beep(uint64_t frames = 24'000, uint32_t rate = 48'000) {
  return Tones(rate, frames, {{}});
}

}  // namespace galley::worker::audio
