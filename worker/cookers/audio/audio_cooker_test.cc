#include "worker/cookers/audio/audio_cooker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>

#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/record/output_names.h"
#include "worker/cookers/audio/decode.h"
#include "worker/cookers/audio/resampler.h"
#include "worker/cookers/audio/testing/audio_cooking.h"

namespace galley::worker::audio {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Not;
using ::testing::Pair;
using ::testing::VariantWith;

class AudioCookerTest : public AudioCooking {
 protected:
  std::string GoldenLines(const json& settings);
  std::string SignatureLines(const json& settings);
};

struct GoldenSound {
  std::string name;
  std::string source;
  std::string package = "/Game/a.wav";
};

std::vector<GoldenSound> GoldenSounds() {
  const std::vector<double> stereo = Tones(44'100, 11'025, {{440, 0.5}, {660, 0.4}});
  const auto wav = [&](WavKind kind) {
    return MakeWav(stereo, {.kind = kind, .rate = 44'100, .channels = 2});
  };
  return {{"mono", MakeWav(Beep(), {})},
          {"8-bit", wav(WavKind::kUnsigned8)},
          {"16-bit", wav(WavKind::kSigned16)},
          {"24-bit", wav(WavKind::kSigned24)},
          {"32-bit", wav(WavKind::kSigned32)},
          {"float", wav(WavKind::kFloat)},
          {"double", wav(WavKind::kDouble)},
          {"loop", MakeWav(Beep(), {.after_data = SamplerChunk(100, 20'099)})},
          {"resampled", MakeWav(Beep(2'000, 4'000), {.rate = 4'000})},
          {"surround", MakeWav(Tones(48'000, 9'600, {{300}, {400}, {500}, {50}, {600}, {700}}),
                               {.channels = 6, .is_extensible = true, .channel_mask = 0x3f})},
          {"flac", MakeFlac(stereo, {.rate = 44'100, .channels = 2}), "/Game/a.flac"}};
}

std::string AudioCookerTest::GoldenLines(const json& settings) {
  std::string lines;
  for (const GoldenSound& sound : GoldenSounds()) {
    const std::string file = Cook(sound.source, settings, sound.package).file;
    lines += sound.name + " " + Digest::Of(file).ToString() + "\n";
  }
  return lines;
}

// The signature of a decoded sound: its channels, its length, and the level of each channel in each
// eighth of the sound.
std::string SignatureOf(const DecodedFile& file) {
  std::string signature = std::to_string(file.channels) + " " + std::to_string(file.length);
  for (uint32_t i = 0; i < file.channels; ++i) {
    const std::vector<double> samples = file.channel(i);
    for (size_t part = 0; part < 8; ++part) {
      const size_t begin = samples.size() * part / 8;
      const size_t end = samples.size() * (part + 1) / 8;
      double power = 0;
      for (size_t k = begin; k < end; ++k) power += samples[k] * samples[k];
      const double level = std::sqrt(power / static_cast<double>(end - begin));
      signature += " " + std::to_string(level);
    }
  }
  return signature;
}

std::string AudioCookerTest::SignatureLines(const json& settings) {
  std::string lines;
  for (const GoldenSound& sound : GoldenSounds()) {
    lines +=
        sound.name + " " + SignatureOf(CookAndDecode(sound.source, settings, sound.package)) + "\n";
  }
  return lines;
}

// Expects equal words; numbers with a fraction may differ by `tolerance`.
void ExpectNear(const std::string& found, const std::string& wanted, double tolerance) {
  std::istringstream found_words(found);
  std::istringstream wanted_words(wanted);
  std::string word;
  std::string wanted_word;
  while (wanted_words >> wanted_word) {
    ASSERT_TRUE(found_words >> word) << "nothing in place of " << wanted_word;
    if (wanted_word.find('.') == std::string::npos) {
      EXPECT_EQ(word, wanted_word);
    } else {
      EXPECT_NEAR(std::stod(word), std::stod(wanted_word), tolerance) << found;
    }
  }
  EXPECT_FALSE(found_words >> word) << word << " is too much";
}

std::string GoldenPath(const std::string& name) {
  return std::string(GALLEY_SOURCE_DIR) + "/worker/cookers/audio/testdata/" + name;
}

void CompareWithGoldens(const std::string& name, const std::string& found) {
  if (std::getenv("GALLEY_UPDATE_GOLDENS") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(GoldenPath(name), found).ok());
  }
  const absl::StatusOr<std::string> golden = ReadFile(GoldenPath(name));
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(found, *golden);
}

// A digest of the results of the processor's approximations.
std::string Approximations() {
#ifdef __SSE__
  std::string results;
  for (float x = 1; x < 4; x += 0.001F) {
    const float pair[] = {_mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(x))),
                          _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(x)))};
    results.append(reinterpret_cast<const char*>(pair), sizeof(pair));
  }
  return Digest::Of(results).hex().substr(0, 16);
#else
  return "none";
#endif
}

TEST_F(AudioCookerTest, OpusKeepsLengthAndPlaceAtEveryRate) {
  for (const uint32_t rate : {8'000u, 11'025u, 22'050u, 32'000u, 44'100u, 48'000u, 96'000u}) {
    const uint64_t frames = rate / 2 + 7;
    const DecodedFile file = CookAndDecode(MakeWav(Beep(frames, rate), {.rate = rate}));
    const uint64_t expected = (frames * 48'000 * 2 + rate) / (2 * rate);
    EXPECT_EQ(file.length, expected) << rate;
    EXPECT_EQ(file.frames.size(), expected) << rate;
    // A frame too early or too late would leave only 24 dB.
    EXPECT_GT(SignalToNoise(file.channel(0), Beep(expected)), 28) << rate;
  }
}

TEST_F(AudioCookerTest, VorbisKeepsLengthPlaceAndRate) {
  for (const uint32_t rate : {8'000u, 11'025u, 22'050u, 44'100u, 48'000u, 96'000u, 192'000u}) {
    const uint64_t frames = rate / 2 + 7;
    const DecodedFile file = CookAndDecode(MakeWav(Beep(frames, rate), {.rate = rate}), kVorbis);
    EXPECT_EQ(file.rate, rate);
    EXPECT_EQ(file.length, frames);
    EXPECT_EQ(file.frames.size(), frames) << rate;
    EXPECT_GT(SignalToNoise(file.channel(0), Beep(frames, rate)), 24) << rate;
  }
}

TEST_F(AudioCookerTest, RatesThatVorbisHasNoModeForAreBroughtToTheNearestThatItHas) {
  const DecodedFile slow = CookAndDecode(MakeWav(Beep(4'000, 4'000), {.rate = 4'000}), kVorbis);
  EXPECT_EQ(slow.rate, 8'000u);
  EXPECT_EQ(slow.frames.size(), 8'000u);
  EXPECT_GT(SignalToNoise(slow.channel(0), Beep(8'000, 8'000)), 20);
  const DecodedFile fast =
      CookAndDecode(MakeWav(Beep(38'400, 384'000), {.rate = 384'000}), kVorbis);
  EXPECT_EQ(fast.rate, 192'000u);
  EXPECT_EQ(fast.frames.size(), 19'200u);
}

TEST_F(AudioCookerTest, EveryLengthComesOutExactly) {
  for (const json& settings : {json::object(), kVorbis}) {
    for (const uint64_t frames : {1, 2, 47, 311, 312, 313, 648, 649, 959, 960, 961, 1'919, 1'920,
                                  4'095, 4'096, 4'097, 48'000}) {
      const DecodedFile file = CookAndDecode(MakeWav(Beep(frames), {}), settings);
      EXPECT_EQ(file.length, frames) << settings;
      EXPECT_EQ(file.frames.size(), frames) << settings;
    }
  }
}

TEST_F(AudioCookerTest, EverySourceCodecSoundsTheSame) {
  const std::vector<double> tones = Tones(48'000, 24'000, {{440, 0.5}, {660, 0.4}});
  const std::string wav = MakeWav(tones, {.kind = WavKind::kFloat, .channels = 2});
  const std::string opus = Cook(wav).file;
  const std::string vorbis = Cook(wav, kVorbis).file;
  const std::string flac = MakeFlac(tones, {.channels = 2});
  const auto check = [&](const std::string& source, const std::string& package) {
    for (const json& settings : {json::object(), kVorbis}) {
      const DecodedFile file = CookAndDecode(source, settings, package);
      ASSERT_EQ(file.frames.size(), tones.size()) << package;
      for (const uint32_t channel : {0u, 1u}) {
        EXPECT_GT(SignalToNoise(file.channel(channel), ChannelOf(tones, 2, channel)), 20)
            << package << settings;
      }
    }
  };
  check(wav, "/Game/a.wav");
  check(flac, "/Game/a.flac");
  check(opus, "/Game/a.opus");
  check(opus, "/Game/a.ogg");
  check(vorbis, "/Game/a.oga");
  check(vorbis, "/Game/a.ogg");
}

TEST_F(AudioCookerTest, EverySpeakerKeepsItsPlace) {
  // orders[n - 1][i]: the place of Vorbis' channel i in a WAV of n channels without a mask.
  const std::vector<std::vector<uint32_t>> orders = {{0},
                                                     {0, 1},
                                                     {0, 2, 1},
                                                     {0, 1, 2, 3},
                                                     {0, 2, 1, 3, 4},
                                                     {0, 2, 1, 4, 5, 3},
                                                     {0, 2, 1, 5, 6, 4, 3},
                                                     {0, 2, 1, 6, 7, 4, 5, 3}};
  for (uint32_t channels = 1; channels <= 8; ++channels) {
    const std::vector<uint32_t>& order = orders[channels - 1];
    std::vector<Tone> speakers;
    for (uint32_t i = 0; i < channels; ++i) speakers.push_back({300.0 + 110 * i, 0.5});
    // Opus keeps little above 100 Hz of a low-frequency channel.
    if (channels >= 6) speakers[order.back()].frequency = 50;
    const std::vector<double> tones = Tones(48'000, 24'000, speakers);
    for (const json& settings : {json::object(), kVorbis}) {
      const DecodedFile file = CookAndDecode(MakeWav(tones, {.channels = channels}), settings);
      ASSERT_EQ(file.channels, channels);
      for (uint32_t i = 0; i < channels; ++i) {
        EXPECT_GT(SignalToNoise(file.channel(i), ChannelOf(tones, channels, order[i])), 12)
            << i << " of " << channels << settings;
      }
    }
  }
}

TEST_F(AudioCookerTest, LoopPointsAreKeptAtTheOutputsRate) {
  const std::string wav =
      MakeWav(Beep(44'100, 44'100), {.rate = 44'100, .after_data = SamplerChunk(11'025, 44'099)});
  const DecodedFile opus = CookAndDecode(wav);
  EXPECT_THAT(opus.comments, AllOf(Contains("LOOPSTART=12000"), Contains("LOOPLENGTH=36000")));
  EXPECT_EQ(opus.length, 48'000u);
  EXPECT_THAT(CookAndDecode(wav, kVorbis).comments,
              ElementsAre("LOOPSTART=11025", "LOOPLENGTH=33075"));
  EXPECT_THAT(Cook(wav).tags, Contains(Pair("loop", VariantWith<bool>(true))));
}

TEST_F(AudioCookerTest, LoopPointsSurviveEveryCodec) {
  const std::vector<std::string> loop = {"LOOPSTART=4800", "LOOPEND=14400"};
  const std::string flac = MakeFlac(Beep(), {.comments = loop});
  const std::string opus = Cook(flac, json::object(), "/Game/a.flac").file;
  const std::string vorbis = Cook(flac, kVorbis, "/Game/a.flac").file;
  for (const std::string& ogg : {opus, vorbis}) {
    EXPECT_THAT(CookAndDecode(ogg, kVorbis, "/Game/a.ogg").comments,
                ElementsAre("LOOPSTART=4800", "LOOPLENGTH=9600"));
    EXPECT_THAT(CookAndDecode(ogg, json::object(), "/Game/a.ogg").comments,
                AllOf(Contains("LOOPSTART=4800"), Contains("LOOPLENGTH=9600")));
  }
}

TEST_F(AudioCookerTest, OtherCommentsAreLeftOut) {
  const std::string flac = MakeFlac(Beep(), {.comments = {"TITLE=Beep"}});
  EXPECT_THAT(CookAndDecode(flac, kVorbis, "/Game/a.flac").comments, IsEmpty());
  EXPECT_THAT(CookAndDecode(flac, json::object(), "/Game/a.flac").comments,
              Not(Contains(HasSubstr("TITLE"))));
}

// The sound at the loop's start must stay there; a click marks the start.
TEST_F(AudioCookerTest, WhatLiesAtTheLoopPointStaysThere) {
  std::vector<double> samples(44'100, 0.0);
  samples[22'050] = 0.9;
  const std::string wav =
      MakeWav(samples, {.rate = 44'100, .after_data = SamplerChunk(22'050, 44'099)});
  for (const json& settings : {json({{"bitrate", 192'000}}), kVorbis}) {
    const DecodedFile file = CookAndDecode(wav, settings);
    const auto peak = std::max_element(file.frames.begin(), file.frames.end());
    EXPECT_NEAR(static_cast<double>(peak - file.frames.begin()), file.rate / 2.0, 1) << settings;
  }
}

TEST_F(AudioCookerTest, TheBitrateIsKeptAbout) {
  // Noise by a formula, with which a codec cannot save bits.
  std::vector<double> noise;
  uint32_t state = 1;
  for (int i = 0; i < 96'000; ++i) {
    state = state * 1'664'525 + 1'013'904'223;
    noise.push_back(static_cast<double>(state) / 4'294'967'296.0 - 0.5);
  }
  const std::string wav = MakeWav(noise, {.channels = 2});
  const auto rate = [&](const json& settings) {
    return std::get<double>(Cook(wav, settings).tags.at("bitrate"));
  };
  EXPECT_THAT(rate({{"bitrate", 32'000}}), DoubleNear(32'000, 12'000));
  EXPECT_THAT(rate(json::object()), DoubleNear(96'000, 24'000));
  EXPECT_THAT(rate({{"bitrate", 192'000}}), DoubleNear(192'000, 48'000));
  const auto vorbis = [&](int bitrate) {
    return rate({{"codec", "vorbis"}, {"bitrate", bitrate}});
  };
  EXPECT_THAT(vorbis(64'000), Lt(vorbis(128'000)));
  EXPECT_THAT(vorbis(128'000), Lt(vorbis(256'000)));
  EXPECT_THAT(rate(kVorbis), AllOf(Gt(vorbis(64'000)), Lt(vorbis(256'000))));
}

TEST_F(AudioCookerTest, WrongSettingsAreNamed) {
  const std::string wav = MakeWav(Beep(), {});
  EXPECT_FALSE(record::ResolveSettings(cooker_->description(), R"({"codec": "mp3"})").ok());
  EXPECT_EQ(ErrorOf(wav, {{"bitrate", -1}}),
            "setting \"bitrate\": expected bits per second, an integer from 0 to 4000000, not -1");
  EXPECT_EQ(
      ErrorOf(wav, {{"bitrate", 96}}),
      "setting \"bitrate\": 96 is not possible for 1 channels in Opus; expected 6000 to 256000, "
      "or 0");
  EXPECT_THAT(ErrorOf(wav, {{"codec", "vorbis"}, {"bitrate", 3'000'000}}),
              HasSubstr("setting \"bitrate\": Vorbis has no mode for 3000000 bits per second"));
}

TEST_F(AudioCookerTest, TagsDescribeTheOutput) {
  const Cooked cooked = Cook(MakeWav(Tones(44'100, 44'100, {{1'000, 0.5}, {1'000, 0.5}}),
                                     {.rate = 44'100, .channels = 2}));
  const auto bytes = static_cast<double>(cooked.file.size());
  EXPECT_THAT(cooked.tags, ElementsAre(Pair("bitrate", VariantWith<double>(bytes * 8)),
                                       Pair("bytes", VariantWith<double>(bytes)),
                                       Pair("channels", VariantWith<double>(2)),
                                       Pair("codec", VariantWith<std::string>("opus")),
                                       Pair("duration", VariantWith<double>(1)),
                                       Pair("loop", VariantWith<bool>(false)),
                                       // EBU Tech 3341: 0 dBFS at 1 kHz on both channels is 0 LUFS.
                                       Pair("loudness", VariantWith<double>(-6.0)),
                                       Pair("rate", VariantWith<double>(48'000))));
}

TEST_F(AudioCookerTest, SilenceAndShortSoundsHaveNoLoudness) {
  const auto tags = [&](const std::vector<double>& samples) {
    return Cook(MakeWav(samples, {})).tags;
  };
  EXPECT_THAT(tags(std::vector<double>(48'000, 0.0)), Not(Contains(Pair("loudness", testing::_))));
  EXPECT_THAT(tags(Beep(19'199)), Not(Contains(Pair("loudness", testing::_))));
  EXPECT_THAT(tags(Beep(19'200)), Contains(Pair("loudness", testing::_)));
}

TEST_F(AudioCookerTest, NothingIsLookedAt) {
  EXPECT_THAT(Cook(MakeWav(Beep(), {})).looks, IsEmpty());
}

TEST_F(AudioCookerTest, WarningsReachThePackage) {
  EXPECT_THAT(Cook(MakeWav({0, 2}, {.kind = WavKind::kFloat})).warnings,
              ElementsAre(HasSubstr("beyond full scale")));
}

TEST_F(AudioCookerTest, TheSerialNumberIsTheSourcesDigest) {
  const std::string wav = MakeWav(Beep(), {});
  uint32_t serial = 0;
  std::memcpy(&serial, Digest::Of(wav).hash().data(), sizeof(serial));
  EXPECT_EQ(CookAndDecode(wav).serial, serial);
  EXPECT_EQ(CookAndDecode(wav, kVorbis).serial, serial);
}

TEST_F(AudioCookerTest, TheSameSourceGivesTheSameBytesOnAnyCooker) {
  const std::string wav = MakeWav(Beep(44'100, 44'100), {.rate = 44'100});
  for (const json& settings : {json::object(), kVorbis}) {
    const std::string first = Cook(wav, settings).file;
    std::srand(7);
    Cook(MakeWav(Tones(22'050, 5'000, {{}, {}, {}}), {.rate = 22'050, .channels = 3}), settings);
    EXPECT_EQ(Cook(wav, settings).file, first);
    cooker_ = CreateAudioCooker();
    EXPECT_EQ(Cook(wav, settings).file, first);
  }
}

std::vector<float> Resampled(const Sound& sound) {
  std::vector<float> samples;
  absl::StatusOr<Resampler> resampler = Resampler::Create(sound, 48'000);
  EXPECT_TRUE(resampler.ok()) << resampler.status();
  while (samples.size() < resampler->frames()) {
    const absl::StatusOr<std::span<const float>> block = resampler->Next();
    EXPECT_TRUE(block.ok()) << block.status();
    samples.insert(samples.end(), block->begin(), block->end());
  }
  return samples;
}

TEST_F(AudioCookerTest, TheResamplersVariablesHaveNoSay) {
  const std::vector<double> beep = Beep(44'100, 44'100);
  const Sound sound{.rate = 44'100, .channels = 1, .samples = {beep.begin(), beep.end()}};
  const std::vector<float> first = Resampled(sound);
  const std::pair<const char*, const char*> variables[] = {
      {"SOXR_MIN_DFT_SIZE", "15"}, {"SOXR_LARGE_DFT_SIZE", "8"}, {"SOXR_COEF_INTERP", "3"}};
  for (const auto& [name, value] : variables) {
    ASSERT_EQ(setenv(name, value, 1), 0);
    EXPECT_NE(Resampled(sound), first) << name << " changes nothing: this test cannot fail";
    cooker_ = CreateAudioCooker();
    EXPECT_EQ(Resampled(sound), first) << name;
  }
}

TEST_F(AudioCookerTest, OneLoadServesSeveralPlatforms) {
  const std::string wav = MakeWav(Beep(44'100, 44'100), {.rate = 44'100});
  FakeCookContext loading(cooker_->description(), "/Game/a.wav", wav);
  const auto loaded = cooker_->Load(loading);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  for (int i = 0; i < 2; ++i) {
    FakeCookContext context(cooker_->description(), "/Game/a.wav", wav);
    ASSERT_TRUE(cooker_->Cook(context, **loaded).ok());
    EXPECT_EQ(context.output(".opus"), Cook(wav).file);
  }
}

TEST_F(AudioCookerTest, WhatTheCookerWroteItTakesAsASource) {
  for (const json& settings : {json::object(), kVorbis}) {
    for (const uint64_t frames : {1, 47, 312, 960, 961, 4'097, 47'999, 144'000}) {
      const std::string ogg = Cook(MakeWav(Beep(frames), {}), settings).file;
      EXPECT_EQ(CookAndDecode(ogg, json::object(), "/Game/a.ogg").length, frames) << settings;
    }
  }
}

TEST_F(AudioCookerTest, TheIdentityNamesTheLibrariesAndTheirBuilds) {
  const std::string version = "[0-9.]+";
  const std::string build = "[0-9a-f]{8}";
  const std::string both = version + "-" + build;
  EXPECT_THAT(
      cooker_->description().identity,
      testing::MatchesRegex("3;libopus=" + both + ";libopusenc=" + both + ";opusfile=" + build +
                            ";libvorbis=" + both + ";vorbisenc=" + build + ";vorbisfile=" + build +
                            ";ogg=" + build + ";flac=" + both + ";soxr=" + version + "-[0-9a-z]+-" +
                            build + ";ebur128=" + both + ";glibc=" + both));
}

// Bytes that changed need a new kRevision in audio_cooker.cc, unless only a library changed.
// GALLEY_UPDATE_GOLDENS=1 rewrites the files.
TEST_F(AudioCookerTest, VorbisOutputsAreTheGoldenOnes) {
  CompareWithGoldens("goldens_vorbis.txt", GoldenLines(kVorbis));
}

// libopus uses the processor's own approximations of 1/x and 1/sqrt(x): each kind of processor that
// was seen has a golden file.
TEST_F(AudioCookerTest, OpusOutputsAreTheGoldenOnesOfTheProcessor) {
  const std::string name = "goldens_opus_" + Approximations() + ".txt";
  if (std::getenv("GALLEY_UPDATE_GOLDENS") == nullptr && !ReadFile(GoldenPath(name)).ok())
    GTEST_SKIP() << "no " << name << ": nobody ran on a processor with these approximations";
  CompareWithGoldens(name, GoldenLines(json::object()));
}

// Opus files must sound alike on every processor. 0.004 is 1% of the tones' level.
TEST_F(AudioCookerTest, OpusOutputsSoundLikeTheGoldenOnes) {
  const std::string path = GoldenPath("signatures_opus.txt");
  const std::string found = SignatureLines(json::object());
  if (std::getenv("GALLEY_UPDATE_GOLDENS") != nullptr) {
    ASSERT_TRUE(WriteFileAtomic(path, found).ok());
  }
  const absl::StatusOr<std::string> wanted = ReadFile(path);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  ExpectNear(found, *wanted, 0.004);
}

TEST_F(AudioCookerTest, AnOutlineIsThatOfTheFirstBytes) {
  const auto outline = [&](const std::string& package, const std::string& bytes) {
    FakeCookContext context(cooker_->description(), package, bytes);
    FileLook look;
    const absl::Status status =
        dynamic_cast<SourceLooker&>(*cooker_).Look(context, LookDepth::kOutline, look);
    return status.ok() ? look.kind : look.flaw.empty() ? MessageOf(status) : look.flaw;
  };
  const std::string wav = MakeWav(Tones(48'000, 4'800, {Tone()}), {});
  EXPECT_EQ(outline("/Game/a.wav", wav), "sound");
  EXPECT_EQ(outline("/Game/a.wav", wav.substr(0, 60)), "sound");
  std::string adpcm = wav;
  adpcm[20] = 2;
  EXPECT_THAT(outline("/Game/a.wav", adpcm), HasSubstr("Microsoft ADPCM"));
  const std::string flac = MakeFlac(Tones(48'000, 4'800, {Tone()}), {});
  EXPECT_EQ(outline("/Game/a.flac", flac.substr(0, 50)), "sound");
  EXPECT_EQ(outline("/Game/a.wav", flac), "a FLAC under the name .wav");
  EXPECT_EQ(outline("/Game/a.ogg", "ID3\x04 an MP3"), "an MP3 under the name .ogg");
  EXPECT_EQ(outline("/Game/a.wav", "no sound"), "not what .wav files begin with");
  const std::string ogg = Cook(wav, kVorbis).file;
  EXPECT_EQ(outline("/Game/a.ogg", ogg.substr(0, 60)), "sound");
  EXPECT_EQ(outline("/Game/a.oga", ogg), "sound");
  EXPECT_THAT(outline("/Game/a.ogg", "OggS no codec"), HasSubstr("page"));
  // Two streams that begin together.
  const std::string first_page = ogg.substr(0, 58);
  EXPECT_THAT(outline("/Game/a.ogg", first_page + ogg), HasSubstr("several streams"));
}

TEST_F(AudioCookerTest, TheCodecNamesTheOutput) {
  const auto names = [&](const char* settings) {
    const auto resolved = record::ResolveSettings(cooker_->description(), settings);
    return record::OutputNamesOf(cooker_->description(), resolved.value(), {});
  };
  EXPECT_THAT(names("{}").always, ElementsAre(".opus"));
  EXPECT_THAT(names(R"({"codec":"vorbis"})").always, ElementsAre(".ogg"));
  EXPECT_FALSE(names("{}").has_more || names("{}").may_generate);
}

}  // namespace
}  // namespace galley::worker::audio
