#include "worker/cookers/audio/audio_cooker.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/base/digest.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/audio/audio_settings.h"
#include "worker/cookers/audio/decode.h"
#include "worker/cookers/audio/encoder.h"
#include "worker/cookers/audio/library_identity.h"
#include "worker/cookers/audio/loop.h"
#include "worker/cookers/audio/loudness.h"
#include "worker/cookers/audio/resampler.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/source_looker.h"

namespace galley::worker {
namespace audio {
namespace {

// Raised by hand when outputs change without a change of a library.
constexpr int kRevision = 3;
// Enough for the headers of most sounds.
constexpr uint64_t kHeadBytes = 64 << 10;

record::CookerDescription Describe() {
  return {.name = "audio",
          .identity = fmt::format("{};{}", kRevision, LibraryIdentity()),
          .extensions = {"wav", "flac", "ogg", "oga", "opus"},
          .outputs = {{.suffix = ".opus", .when_setting = "codec", .setting_value = "opus"},
                      {.suffix = ".ogg", .when_setting = "codec", .setting_value = "vorbis"}},
          .documentation = "Sounds to Ogg Opus or Ogg Vorbis, with their loop points.",
          .settings = DescribeAudioSettings()};
}

// Removes the variables by which the starter of the worker could change libsoxr's filters.
void ForgetResamplerVariables() {
  for (const char* name :
       {"SOXR_USE_SIMD", "SOXR_USE_SIMD32", "SOXR_USE_SIMD64", "SOXR_MIN_DFT_SIZE",
        "SOXR_LARGE_DFT_SIZE", "SOXR_COEFS_SIZE", "SOXR_NUM_THREADS", "SOXR_COEF_INTERP",
        "SOXR_STRICT_BUF", "SOXR_NOSMALLINTOPT", "SOXR_TRACE"})
    unsetenv(name);
}

struct LoadedAudio : Cooker::Loaded {
  AudioSettings settings;
  Sound sound;
  std::optional<double> loudness;
};

class AudioCooker : public Cooker, public SourceLooker {
 public:
  AudioCooker() {
    ForgetResamplerVariables();
    description_ = Describe();
  }

  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) override;
  uint64_t outline_bytes() const override { return kHeadBytes; }
  absl::Status Look(CookContext& context, LookDepth depth, FileLook& look) override;
  absl::Status Cook(CookContext& context, Loaded& loaded) override;

 private:
  record::CookerDescription description_;
};

absl::StatusOr<std::unique_ptr<Cooker::Loaded>> LoadSound(CookContext& context) {
  auto loaded = std::make_unique<LoadedAudio>();
  ASSIGN_OR_RETURN(loaded->settings, ParseAudioSettings(context.settings()));
  ASSIGN_OR_RETURN(Decoded decoded, Decode(context.extension(), *context.source(),
                                           {.memory_bytes_max = context.MemoryBytesMax()}));
  for (const std::string& warning : decoded.warnings)
    context.AddWarning(record::WarningKind::kAudioFile, warning);
  loaded->sound = std::move(decoded.sound);
  ASSIGN_OR_RETURN(loaded->loudness, MeasureLoudness(loaded->sound));
  return loaded;
}

// A number that is as good as random, and always the same for the same source.
int32_t SerialOf(const std::string& source) {
  int32_t serial = 0;
  const Digest digest = Digest::Of(source);
  std::memcpy(&serial, digest.hash().data(), sizeof(serial));
  return serial;
}

uint32_t OutputRate(Codec codec, uint32_t source_rate) {
  return codec == Codec::kOpus ? kOpusRate
                               : std::clamp(source_rate, kVorbisRateMin, kVorbisRateMax);
}

EncodeOptions MakeOptions(const AudioSettings& settings, const std::string& source,
                          const std::optional<Loop>& loop) {
  EncodeOptions options{.bitrate = settings.bitrate, .serial = SerialOf(source), .comments = {}};
  if (loop) {
    options.comments.emplace_back("LOOPSTART", fmt::format("{}", loop->start));
    options.comments.emplace_back("LOOPLENGTH", fmt::format("{}", loop->length));
  }
  return options;
}

void AddTags(CookContext& context, const LoadedAudio& loaded, const Resampler& frames,
             size_t file_bytes) {
  const double duration = static_cast<double>(frames.frames()) / frames.rate();
  context.AddTag("codec", std::string(loaded.settings.codec == Codec::kOpus ? "opus" : "vorbis"));
  context.AddTag("duration", duration);
  context.AddTag("channels", static_cast<double>(frames.channels()));
  context.AddTag("rate", static_cast<double>(frames.rate()));
  context.AddTag("bitrate", std::round(static_cast<double>(file_bytes) * 8 / duration));
  context.AddTag("bytes", static_cast<double>(file_bytes));
  context.AddTag("loop", loaded.sound.loop.has_value());
  if (loaded.loudness) context.AddTag("loudness", *loaded.loudness);
}

absl::Status CookSound(CookContext& context, const LoadedAudio& loaded) {
  const Sound& sound = loaded.sound;
  const bool is_opus = loaded.settings.codec == Codec::kOpus;
  const uint32_t rate = OutputRate(loaded.settings.codec, sound.rate);
  ASSIGN_OR_RETURN(Resampler frames, Resampler::Create(sound, rate));
  std::optional<Loop> loop;
  if (sound.loop) loop = ScaleLoop(*sound.loop, sound.rate, rate, frames.frames());
  const EncodeOptions options = MakeOptions(loaded.settings, *context.source(), loop);
  ASSIGN_OR_RETURN(std::string file,
                   is_opus ? EncodeOpus(frames, options) : EncodeVorbis(frames, options));
  AddTags(context, loaded, frames, file.size());
  return context.AddOutput(is_opus ? ".opus" : ".ogg", std::move(file));
}

absl::StatusOr<std::unique_ptr<Cooker::Loaded>> AudioCooker::Load(CookContext& context) {
  return GuardMemory(context, "sound", [&] { return LoadSound(context); });
}

absl::Status AudioCooker::Look(CookContext& context, LookDepth depth, FileLook& look) {
  absl::Status status = depth == LookDepth::kOutline
                            ? CheckHead(context.extension(), *context.source())
                            : Load(context).status();
  if (status.ok()) {
    look.kind = "sound";
  } else {
    look.flaw = FindSoundFlaw(context.extension(), *context.source());
  }
  return status;
}

absl::Status AudioCooker::Cook(CookContext& context, Loaded& loaded) {
  return GuardMemory(context, "sound",
                     [&] { return CookSound(context, dynamic_cast<LoadedAudio&>(loaded)); });
}

}  // namespace
}  // namespace audio

std::unique_ptr<Cooker> CreateAudioCooker() { return std::make_unique<audio::AudioCooker>(); }

}  // namespace galley::worker
