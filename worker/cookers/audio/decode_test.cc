#include "worker/cookers/audio/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/base/status_macros.h"
#include "worker/cookers/audio/sample_sink.h"
#include "worker/cookers/audio/testing/decoded_file.h"
#include "worker/cookers/audio/testing/sample_sounds.h"

namespace galley::worker::audio {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr WavKind kKinds[] = {WavKind::kUnsigned8, WavKind::kSigned16, WavKind::kSigned24,
                              WavKind::kSigned32,  WavKind::kFloat,    WavKind::kDouble};

Decoded DecodeOrDie(const std::string& bytes, const std::string& extension = "wav") {
  absl::StatusOr<Decoded> decoded = Decode(extension, bytes, {});
  EXPECT_TRUE(decoded.ok()) << decoded.status();
  return decoded.ok() ? *std::move(decoded) : Decoded{};
}

std::string ErrorOf(const std::string& bytes, const std::string& extension = "wav",
                    uint64_t memory_bytes_max = UINT64_MAX) {
  const absl::Status status =
      Decode(extension, bytes, {.memory_bytes_max = memory_bytes_max}).status();
  return absl::IsInvalidArgument(status) ? MessageOf(status) : status.ToString();
}

std::vector<double> SamplesOf(const Sound& sound) {
  return {sound.samples.begin(), sound.samples.end()};
}

std::vector<double> Beep(uint64_t frames = 1'000) { return Tones(48'000, frames, {{}}); }

// A sample is the position of its channel in the file: 1/16, 2/16, ...
std::vector<double> Places(uint32_t channels) {
  std::vector<double> samples;
  for (uint32_t i = 0; i < 3 * channels; ++i) samples.push_back((i % channels + 1) / 16.0);
  return samples;
}

std::vector<int> PlacesOf(const Sound& sound) {
  std::vector<int> places;
  for (uint32_t i = 0; i < sound.channels; ++i)
    places.push_back(static_cast<int>(sound.samples[i] * 16));
  return places;
}

TEST(DecodeTest, WavSamplesOfEachKindComeOutToTheirPrecision) {
  const std::vector<double> tones = Tones(44'100, 2'000, {{440, 0.9}, {1'000, 0.7}});
  const double floors[] = {43, 92, 140, 145, 145, 145};
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    for (const bool is_extensible : {false, true}) {
      const Decoded decoded =
          DecodeOrDie(MakeWav(tones, {.kind = kKinds[i],
                                      .rate = 44'100,
                                      .channels = 2,
                                      .is_extensible = is_extensible,
                                      .channel_mask = is_extensible ? 3u : 0u}));
      EXPECT_EQ(decoded.sound.rate, 44'100u);
      EXPECT_EQ(decoded.sound.channels, 2u);
      ASSERT_EQ(decoded.sound.frames(), 2'000u);
      EXPECT_GT(SignalToNoise(SamplesOf(decoded.sound), tones), floors[i]) << i;
      EXPECT_THAT(decoded.warnings, IsEmpty());
    }
  }
}

TEST(DecodeTest, FullScaleIsOne) {
  for (const WavKind kind : kKinds) {
    const Decoded decoded = DecodeOrDie(MakeWav({-1.0, 0.0, 0.5}, {.kind = kind}));
    EXPECT_THAT(decoded.sound.samples, ElementsAre(-1.0F, 0.0F, 0.5F));
  }
}

TEST(DecodeTest, FlacComesOutAsItWent) {
  const std::vector<double> tones = Tones(44'100, 10'000, {{440, 0.9}, {1'000, 0.7}});
  const Decoded sixteen =
      DecodeOrDie(MakeFlac(tones, {.bits = 16, .rate = 44'100, .channels = 2}), "flac");
  EXPECT_EQ(sixteen.sound.rate, 44'100u);
  ASSERT_EQ(sixteen.sound.frames(), 10'000u);
  EXPECT_GT(SignalToNoise(SamplesOf(sixteen.sound), tones), 92);
  const Decoded more =
      DecodeOrDie(MakeFlac(tones, {.bits = 24, .rate = 44'100, .channels = 2}), "flac");
  EXPECT_GT(SignalToNoise(SamplesOf(more.sound), tones), 135);
}

TEST(DecodeTest, ChannelsComeInTheOrderOfVorbis) {
  const auto order = [](uint32_t channels, uint32_t mask) {
    return PlacesOf(DecodeOrDie(MakeWav(Places(channels), {.channels = channels,
                                                           .is_extensible = mask != 0,
                                                           .channel_mask = mask}))
                        .sound);
  };
  EXPECT_THAT(order(1, 0), ElementsAre(1));
  EXPECT_THAT(order(1, 1), ElementsAre(1));
  EXPECT_THAT(order(2, 0), ElementsAre(1, 2));
  EXPECT_THAT(order(3, 0), ElementsAre(1, 3, 2));
  EXPECT_THAT(order(3, 0x7), ElementsAre(1, 3, 2));
  EXPECT_THAT(order(4, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(order(5, 0), ElementsAre(1, 3, 2, 4, 5));
  EXPECT_THAT(order(6, 0), ElementsAre(1, 3, 2, 5, 6, 4));
  EXPECT_THAT(order(6, 0x3f), ElementsAre(1, 3, 2, 5, 6, 4));
  EXPECT_THAT(order(6, 0x60f), ElementsAre(1, 3, 2, 5, 6, 4));
  // FL FR FC LFE BC SL SR
  EXPECT_THAT(order(7, 0x70f), ElementsAre(1, 3, 2, 6, 7, 5, 4));
  // FL FR FC LFE BL BR SL SR
  EXPECT_THAT(order(8, 0), ElementsAre(1, 3, 2, 7, 8, 5, 6, 4));
  EXPECT_THAT(order(8, 0x63f), ElementsAre(1, 3, 2, 7, 8, 5, 6, 4));
}

TEST(DecodeTest, FlacChannelsToo) {
  const auto order = [](uint32_t channels, const std::vector<std::string>& comments) {
    return PlacesOf(
        DecodeOrDie(MakeFlac(Places(channels), {.channels = channels, .comments = comments}),
                    "flac")
            .sound);
  };
  EXPECT_THAT(order(3, {}), ElementsAre(1, 3, 2));
  EXPECT_THAT(order(6, {}), ElementsAre(1, 3, 2, 5, 6, 4));
  EXPECT_THAT(order(7, {}), ElementsAre(1, 3, 2, 6, 7, 5, 4));
  // FL FR FC LFE BL BR BC
  EXPECT_THAT(order(7, {"WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x013F"}),
              ElementsAre(1, 3, 2, 5, 6, 7, 4));
  EXPECT_THAT(ErrorOf(MakeFlac(Places(2), {.channels = 2,
                                           .comments = {"WAVEFORMATEXTENSIBLE_CHANNEL_MASK=x"}}),
                      "flac"),
              HasSubstr("expected a hexadecimal number"));
}

TEST(DecodeTest, LayoutsWithoutAPlaceAreErrors) {
  EXPECT_EQ(
      ErrorOf(MakeWav(Places(3), {.channels = 3, .is_extensible = true, .channel_mask = 0xb})),
      "wav: the channel mask is 0xb, and Opus and Vorbis have no such layout of 3 channels; "
      "expected one of 0x7, or none");
  EXPECT_THAT(ErrorOf(MakeWav(Places(9), {.channels = 9})), HasSubstr("has 9 channels"));
}

TEST(DecodeTest, LoopsComeFromTheSamplerChunk) {
  const auto with = [](const std::string& chunk) { return MakeWav(Beep(), {.after_data = chunk}); };
  EXPECT_EQ(DecodeOrDie(with("")).sound.loop, std::nullopt);
  EXPECT_EQ(DecodeOrDie(with(SamplerChunk(100, 899))).sound.loop, (Loop{100, 800}));
  EXPECT_EQ(DecodeOrDie(MakeWav(Beep(), {.before_data = SamplerChunk(1, 9)})).sound.loop,
            (Loop{1, 9}));
  EXPECT_EQ(DecodeOrDie(with(SamplerChunk(0, 0, 0, 0))).sound.loop, std::nullopt);
  const Decoded clamped = DecodeOrDie(with(SamplerChunk(100, 1'000)));
  EXPECT_EQ(clamped.sound.loop, (Loop{100, 900}));
  EXPECT_THAT(clamped.warnings, ElementsAre(HasSubstr("behind the sound's end")));
  const Decoded to_and_fro = DecodeOrDie(with(SamplerChunk(100, 899, 1)));
  EXPECT_EQ(to_and_fro.sound.loop, std::nullopt);
  EXPECT_THAT(to_and_fro.warnings, ElementsAre(HasSubstr("of type 1 (to and fro)")));
  const Decoded several = DecodeOrDie(with(SamplerChunk(100, 899, 0, 3)));
  EXPECT_EQ(several.sound.loop, (Loop{100, 800}));
  EXPECT_THAT(several.warnings, ElementsAre("of the 3 loops in `smpl` the first is kept"));
}

TEST(DecodeTest, ASoundWhoseSamplerChunkIsWrongHasNoLoopAndAWarning) {
  const auto check = [](const std::string& chunk, const std::string& warning) {
    const Decoded decoded = DecodeOrDie(MakeWav(Beep(), {.after_data = chunk}));
    EXPECT_EQ(decoded.sound.frames(), 1'000u);
    EXPECT_EQ(decoded.sound.loop, std::nullopt);
    EXPECT_THAT(decoded.warnings, ElementsAre(warning + "; the loop is left out"));
  };
  check(SamplerChunk(1'000, 1'100),
        "the loop starts at frame 1000, behind the sound's end (1000 frames)");
  check(SamplerChunk(9, 8), "the loop in `smpl` goes from frame 9 to 8");
  check(Chunk("smpl", SamplerChunk(1, 2).substr(8, 50)),
        "the chunk `smpl` announces 1 loops, and has 50 bytes");
  check(Chunk("smpl", "short"), "the chunk `smpl` has 5 bytes; expected at least 36");
}

TEST(DecodeTest, AnOddChunkMayHaveNoPaddingByte) {
  const auto loop_behind = [](const std::string& odd) {
    const Decoded decoded =
        DecodeOrDie(MakeWav(Beep(), {.after_data = odd + SamplerChunk(100, 899)}));
    EXPECT_THAT(decoded.warnings, IsEmpty());
    return decoded.sound.loop;
  };
  const Loop loop{100, 800};
  const std::string unpadded = "note" + Number(3, 4) + "abc";
  EXPECT_EQ(loop_behind(unpadded + '\0'), loop);
  EXPECT_EQ(loop_behind(unpadded), loop);
  EXPECT_EQ(loop_behind(unpadded + 'x'), loop);  // padded by a byte that is not zero
  EXPECT_EQ(loop_behind(unpadded + unpadded), loop);
  // `data` itself has odd size: 3 samples of a byte each.
  std::string wav = MakeWav({0, 0.5, 0}, {.kind = WavKind::kUnsigned8});
  wav.pop_back();
  EXPECT_EQ(DecodeOrDie(wav + SamplerChunk(1, 2)).sound.loop, (Loop{1, 2}));
}

TEST(DecodeTest, WhatIsNoChunkBehindTheDataIsWarnedOf) {
  const auto warnings = [](const std::string& junk) {
    return DecodeOrDie(MakeWav(Beep(), {.after_data = junk + SamplerChunk(100, 899)})).warnings;
  };
  EXPECT_THAT(warnings("\xff\x80 \x01\x02\x03\x04\x05"),
              ElementsAre("byte 2044 begins no chunk; it is ignored, and chunks behind it, loops "
                          "among them, were not read"));
  EXPECT_THAT(warnings(std::string("\xff\x80\x81\x82\0\0\0\0", 8)),
              ElementsAre(HasSubstr("byte 2044 begins no chunk")));
  EXPECT_THAT(warnings("LIST" + Number(100, 4)),
              ElementsAre("the chunk `LIST` at byte 2044 announces 100 bytes, and 68 are there; it "
                          "is ignored, and chunks behind it, loops among them, were not read"));
  EXPECT_THAT(DecodeOrDie(MakeWav(Beep(), {}) + std::string(20, '\0')).warnings, IsEmpty());
}

TEST(DecodeTest, LoopsComeFromTheCommentsOfFlac) {
  const auto with = [](const std::vector<std::string>& comments) {
    return MakeFlac(Beep(), {.comments = comments});
  };
  EXPECT_EQ(DecodeOrDie(with({"LOOPSTART=10", "LOOPLENGTH=500"}), "flac").sound.loop,
            (Loop{10, 500}));
  EXPECT_EQ(ErrorOf(with({"LOOPSTART=x"}), "flac"),
            "flac: comment LOOPSTART: expected a number of samples, not \"x\"");
  EXPECT_THAT(ErrorOf(with({"LOOPSTART=5000"}), "flac"), HasSubstr("behind the sound's end"));
}

TEST(DecodeTest, ACutWavIsAnErrorWhereverItIsCut) {
  const std::string wav = MakeWav(Beep(), {.after_data = SamplerChunk(1, 2)});
  for (size_t size = 0; size < wav.size() - 68 - 7; ++size)
    ASSERT_NE(ErrorOf(wav.substr(0, size)), "OK") << size;
  EXPECT_EQ(ErrorOf(wav.substr(0, 1'000)),
            "wav: the file is truncated: the chunk `data` at byte 36 announces 2000 bytes, and 956 "
            "are there");
  EXPECT_EQ(ErrorOf(wav.substr(0, wav.size() - 1)),
            "wav: the file is truncated: the chunk `smpl` at byte 2044 announces 60 bytes, and 59 "
            "are there");
  const Decoded decoded = DecodeOrDie(MakeWav(Beep(), {}) + "LIST" + Number(100, 4) + "x");
  EXPECT_EQ(decoded.sound.frames(), 1'000u);
  EXPECT_THAT(decoded.warnings, ElementsAre(HasSubstr("`LIST` at byte 2044 announces 100 bytes")));
}

TEST(DecodeTest, AWavWrittenIntoAPipeReachesToItsEnd) {
  std::string wav = MakeWav(Beep(), {});
  wav.replace(4, 4, Number(UINT32_MAX, 4)).replace(40, 4, Number(UINT32_MAX, 4));
  EXPECT_EQ(DecodeOrDie(wav).sound.frames(), 1'000u);
  EXPECT_THAT(ErrorOf(wav.substr(0, 1'001)), HasSubstr("no whole frames of 2"));
}

TEST(DecodeTest, AFileWithoutAudioIsAnError) {
  EXPECT_EQ(ErrorOf(MakeWav({}, {})), "wav: there is no audio in the file: its length is 0");
  EXPECT_EQ(ErrorOf(MakeWav({}, {.after_data = SamplerChunk(0, 1)})),
            "wav: there is no audio in the file: its length is 0");
  EXPECT_EQ(ErrorOf(MakeFlac({}, {}), "flac"),
            "flac: there is no audio in the file: its length is 0");
}

TEST(DecodeTest, OddWavsAreErrorsInWords) {
  std::string adpcm = MakeWav(Beep(), {});
  adpcm.replace(20, 2, Number(0x11, 2)).replace(34, 2, Number(4, 2));
  EXPECT_THAT(ErrorOf(adpcm), HasSubstr("the samples are IMA ADPCM of 4 bits; expected integers"));
  std::string frame = MakeWav(Beep(), {});
  EXPECT_THAT(ErrorOf(frame.replace(32, 2, Number(4, 2))),
              HasSubstr("gives a frame 4 bytes; expected 2 (1 channels of 16 bits)"));
  std::string silent = MakeWav(Beep(), {});
  EXPECT_THAT(ErrorOf(silent.replace(22, 2, Number(0, 2))), HasSubstr("says 0 channels"));
  std::string slow = MakeWav(Beep(), {});
  EXPECT_THAT(ErrorOf(slow.replace(24, 4, Number(0, 4))), HasSubstr("rate is 0 Hz; expected 1000"));
  std::string wide = MakeWav(Beep(), {});
  EXPECT_THAT(ErrorOf(wide.replace(34, 2, Number(40, 2))), HasSubstr("integers of 40 bits"));
  EXPECT_THAT(ErrorOf(Chunk("RIFF", "WAVE" + Chunk("data", "1234"))),
              HasSubstr("comes before the chunk `fmt `"));
  EXPECT_THAT(ErrorOf(Chunk("RIFF", "WAVE" + Chunk("fmt ", "1234"))), HasSubstr("has 4 bytes"));
  EXPECT_THAT(ErrorOf(Chunk("RIFF", "WAVE")), HasSubstr("no chunk `data`"));
  EXPECT_THAT(ErrorOf(MakeWav(Beep(), {.is_extensible = true}).replace(50, 2, Number(9, 2))),
              HasSubstr("no known subformat"));
}

TEST(DecodeTest, FewerBitsLieInTheUpperOnesOfWholeBytes) {
  std::string wav = MakeWav({0.5, -0.5}, {.kind = WavKind::kSigned24});
  wav.replace(34, 2, Number(20, 2));
  EXPECT_THAT(DecodeOrDie(wav).sound.samples, ElementsAre(0.5F, -0.5F));
}

TEST(DecodeTest, FewerBitsLieInTheUpperOnesOfALargerContainer) {
  const std::vector<double> samples = {0.5, -0.5, 0x1p-23, -1};
  const auto check = [](const std::string& wav) {
    EXPECT_THAT(DecodeOrDie(wav).sound.samples, ElementsAre(0.5F, -0.5F, 0x1p-23F, -1.0F));
  };
  const WavOptions plain{.kind = WavKind::kSigned32, .channels = 2};
  std::string wav = MakeWav(samples, plain);
  check(wav.replace(34, 2, Number(24, 2)));
  WavOptions extensible = plain;
  extensible.is_extensible = true;
  wav = MakeWav(samples, extensible);
  check(wav.replace(38, 2, Number(24, 2)));
  check(wav.replace(34, 2, Number(24, 2)));
  EXPECT_THAT(ErrorOf(wav.replace(32, 2, Number(10, 2))),
              HasSubstr("gives a frame 10 bytes; expected 6 (2 channels of 24 bits)"));
}

TEST(DecodeTest, SamplesThatAreNoNumbersAreErrors) {
  for (const double odd :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e300}) {
    for (const WavKind kind : {WavKind::kFloat, WavKind::kDouble}) {
      EXPECT_THAT(ErrorOf(MakeWav({0, 0, 0, odd}, {.kind = kind, .channels = 2})),
                  HasSubstr("wav: the sample at frame 1, channel 1 is "));
    }
  }
  EXPECT_THAT(ErrorOf(MakeWav({0, 100}, {.kind = WavKind::kFloat})),
              HasSubstr("at frame 1, channel 0 is 100; expected one within full scale"));
}

TEST(DecodeTest, SamplesBeyondFullScaleAreWarnedOf) {
  EXPECT_THAT(DecodeOrDie(MakeWav({0, 1.5, -1.25}, {.kind = WavKind::kFloat})).warnings,
              ElementsAre("2 samples lie beyond full scale (the peak is 1.500); they clip when "
                          "they are played"));
}

TEST(DecodeTest, DamagedFlacIsAnError) {
  const std::string flac = MakeFlac(Beep(20'000), {});
  for (const size_t size : {size_t{5}, size_t{40}, flac.size() / 2, flac.size() - 1})
    EXPECT_NE(ErrorOf(flac.substr(0, size), "flac"), "OK") << size;
  EXPECT_THAT(ErrorOf(flac.substr(0, 20), "flac"), HasSubstr("ends within its header"));
  std::string flipped = flac;
  flipped[flac.size() / 2] = static_cast<char>(flipped[flac.size() / 2] ^ 4);
  EXPECT_THAT(ErrorOf(flipped, "flac"),
              AllOf(HasSubstr("the file is damaged"), HasSubstr("--decode-through-errors")));
  std::string other_sum = flac;
  other_sum[30] = static_cast<char>(other_sum[30] ^ 1);  // STREAMINFO's last 16 bytes
  EXPECT_THAT(ErrorOf(other_sum, "flac"), HasSubstr("another MD5 sum"));
}

TEST(DecodeTest, AFlacThatWasCutBetweenFramesIsAnError) {
  const std::string flac = MakeFlac(Beep(20'000), {});
  const size_t last_frame = flac.rfind("\xff\xf8");
  ASSERT_NE(last_frame, std::string::npos);
  EXPECT_THAT(ErrorOf(flac.substr(0, last_frame), "flac"), HasSubstr("it promises 20000 frames"));
}

TEST(DecodeTest, AFlacOfUnknownLengthIsTakenWithAWarning) {
  const Decoded decoded = DecodeOrDie(MakeFlac(Beep(20'000), {.says_length = false}), "flac");
  EXPECT_EQ(decoded.sound.frames(), 20'000u);
  EXPECT_THAT(decoded.warnings,
              ElementsAre(HasSubstr("does not say how long"), HasSubstr("has no MD5 sum")));
}

TEST(DecodeTest, AFlacWithoutASumIsTakenWithAWarning) {
  std::string flac = MakeFlac(Beep(20'000), {});
  flac.replace(26, 16, std::string(16, '\0'));
  EXPECT_THAT(DecodeOrDie(flac, "flac").warnings, ElementsAre(HasSubstr("has no MD5 sum")));
}

TEST(DecodeTest, TagsAroundAFlacAreIgnoredWithAWarning) {
  const std::string flac = MakeFlac(Beep(20'000), {});
  const std::vector<float> samples = DecodeOrDie(flac, "flac").sound.samples;
  const auto check = [&](const std::string& bytes, const std::string& warning) {
    const Decoded decoded = DecodeOrDie(bytes, "flac");
    EXPECT_EQ(decoded.sound.samples, samples);
    EXPECT_THAT(decoded.warnings, ElementsAre(warning));
  };
  check(flac + "TAG" + std::string(125, 'x'), "the ID3v1 tag behind the last frame is ignored");
  check(flac + std::string(300, 'x'), "what lies behind the last frame is ignored");
  const std::string tag = std::string("ID3\4\0\0\0\0\1\2", 10) + std::string(130, 'x');
  check(tag + flac, "the ID3v2 tag in front of the sound is ignored");
  EXPECT_EQ(ErrorOf(tag + flac), "wav: the file is a flac; name it .flac");
  // With a wrong sum, the bytes behind the sound are no excuse.
  std::string other_sum = flac + "TAG" + std::string(125, 'x');
  other_sum[30] = static_cast<char>(other_sum[30] ^ 1);
  EXPECT_THAT(ErrorOf(other_sum, "flac"), HasSubstr("another MD5 sum"));
}

TEST(DecodeTest, TheWrongFormatIsNamed) {
  EXPECT_EQ(ErrorOf("", "ogg"), "ogg: the file is empty");
  EXPECT_EQ(ErrorOf("version https://git-lfs.github.com/spec/v1\n"),
            "wav: the file is a Git LFS pointer; run `git lfs pull`");
  EXPECT_EQ(ErrorOf(MakeFlac(Beep(), {}), "ogg"), "ogg: the file is a flac; name it .flac");
  EXPECT_EQ(
      ErrorOf("ID3 and so on"),
      "wav: the file is MP3 (or another format behind an ID3 tag, which must come off); "
      "convert it to wav, flac or ogg, or for a file of another kind choose the cooker `copy` or "
      "`command`");
  EXPECT_EQ(
      ErrorOf("a text"),
      "wav: the file is no wav: it begins with `a text`; replace or convert it, or for a file of "
      "another kind choose the cooker `copy` or `command`");
  EXPECT_EQ(ErrorOf("x", "mp3"), "audio: expected a wav, flac, ogg, oga or opus file, not .mp3");
}

// Otherwise the encoder would have to take 48 times a file of 1 GiB at 1,000 Hz.
TEST(DecodeTest, SlowSoundsAreLimitedByWhatTheyAreBroughtTo) {
  const uint64_t frames_max = kDecodedBytesMax / 4;
  EXPECT_TRUE(CheckForm(48'000, 1, frames_max, {}).ok());
  EXPECT_TRUE(CheckForm(1'000, 1, frames_max / 48, {}).ok());
  EXPECT_THAT(MessageOf(CheckForm(1'000, 1, frames_max / 48 + 1, {})),
              HasSubstr("decoded to 32-bit floats at this rate or at 48000 Hz; split it"));
  EXPECT_FALSE(CheckForm(96'000, 1, frames_max + 1, {}).ok());
  EXPECT_EQ(CheckForm(1'000, 1, 1'000, {.memory_bytes_max = 51'999}).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(CheckForm(1'000, 1, 1'000, {.memory_bytes_max = 52'000}).ok());
}

TEST(DecodeTest, ASoundOfUnknownLengthMayNeedItsRoomTwice) {
  Sound sound;
  // 5 bytes a frame: room for 300 frames, and, while growing, for 100 and the 200 they grow to.
  SampleSink sink(sound, {.memory_bytes_max = 200 + 300 * 4});
  ASSERT_TRUE(sink.Begin(48'000, 1, 0).ok());
  EXPECT_NE(sink.Append(100), nullptr);
  EXPECT_NE(sink.Append(100), nullptr);
  EXPECT_EQ(sink.Append(1), nullptr);
  EXPECT_EQ(sink.status().code(), absl::StatusCode::kOutOfRange);
}

TEST(DecodeTest, ASoundOfKnownLengthGetsItsRoomOnce) {
  Sound sound;
  SampleSink sink(sound, {});
  ASSERT_TRUE(sink.Begin(48'000, 2, 200).ok());
  const float* const first = sink.Append(100);
  EXPECT_EQ(sink.Append(100), first + 200);
  EXPECT_EQ(sink.Append(1), nullptr);
  EXPECT_EQ(MessageOf(sink.status()),
            "the file is truncated or damaged: it promises 200 frames, and at least 201 are there");
}

TEST(DecodeTest, LimitsAreCheckedBeforeMemoryIsTaken) {
  const std::string wav = MakeWav(Beep(10'000), {});
  const uint64_t needed = wav.size() + 40'000 + 10'000;
  EXPECT_THAT(
      ErrorOf(wav, "wav", needed - 1),
      HasSubstr("OUT_OF_RANGE: wav: the sound has 10000 frames of 1 channels at 48000 "
                "Hz: 40000 bytes decoded and at most 10000 of output, and the job has 49999 "
                "beside the source; raise `memory`"));
  EXPECT_EQ(ErrorOf(wav, "wav", needed), "OK");
  EXPECT_THAT(ErrorOf(wav, "wav", 1), HasSubstr("the job has 0 beside the source"));
  EXPECT_THAT(MessageOf(CheckForm(48'000, 2, kDecodedBytesMax / 8 + 1, {})), HasSubstr("split it"));
  EXPECT_TRUE(CheckForm(48'000, 2, kDecodedBytesMax / 8, {}).ok());
  EXPECT_FALSE(CheckForm(48'000, 2, UINT64_MAX, {}).ok());
  // A header that promises more than the file has.
  std::string flac = MakeFlac(Beep(), {});
  flac.replace(21, 5, "\xff\xff\xff\xff\xff");
  EXPECT_THAT(ErrorOf(flac, "flac"), HasSubstr("split it"));
}

}  // namespace
}  // namespace galley::worker::audio
