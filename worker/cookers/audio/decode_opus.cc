#include <opus/opusfile.h>

#include <algorithm>
#include <memory>

#include "common/base/status_macros.h"
#include "worker/cookers/audio/decode.h"
#include "worker/cookers/audio/loop.h"
#include "worker/cookers/audio/sample_sink.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

constexpr int kSurroundFamily = 1;          // the greatest family that has speakers
constexpr size_t kPacketFramesMax = 5'760;  // 120 ms, RFC 6716

struct FreeFile {
  void operator()(OggOpusFile* file) const { op_free(file); }
};

std::vector<std::string> CommentsOf(const OpusTags& tags) {
  std::vector<std::string> comments;
  for (int i = 0; i < tags.comments; ++i) {
    comments.emplace_back(tags.user_comments[i], static_cast<size_t>(tags.comment_lengths[i]));
  }
  return comments;
}

absl::Status ReadSamples(OggOpusFile* file, size_t channels, SampleSink& sink) {
  std::vector<float> packet(kPacketFramesMax * channels);
  while (true) {
    const int frames = op_read_float(file, packet.data(), static_cast<int>(packet.size()), nullptr);
    if (frames == 0) return absl::OkStatus();
    if (frames < 0) {
      return VerdictError("the file is damaged: a packet cannot be decoded (libopusfile: error {})",
                          frames);
    }
    float* out = sink.Append(static_cast<size_t>(frames));
    if (out == nullptr) return sink.status();
    std::copy_n(packet.begin(), static_cast<size_t>(frames) * channels, out);
  }
}

}  // namespace

// libopusfile applies the header's gain, as players must.
absl::StatusOr<Decoded> DecodeOpus(std::string_view bytes, const DecodeOptions& options) {
  int error = 0;
  const std::unique_ptr<OggOpusFile, FreeFile> file(
      op_open_memory(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), &error));
  if (file == nullptr) {
    return VerdictError(
        "the Opus headers are damaged, or of a kind without speaker positions (libopusfile: error "
        "{})",
        error);
  }
  const OpusHead& head = *op_head(file.get(), -1);
  if (head.mapping_family > kSurroundFamily) {
    return VerdictError(
        "the Opus stream has the channel mapping family {}, without speaker positions; expected 0 "
        "or 1",
        head.mapping_family);
  }
  const auto channels = static_cast<uint32_t>(head.channel_count);
  const int64_t promised = op_pcm_total(file.get(), -1);
  if (promised < 0)
    return VerdictError("the file is damaged: its granule positions give the sound no length");
  Decoded decoded;
  Sound& sound = decoded.sound;
  SampleSink sink(sound, options);
  RETURN_IF_ERROR(sink.Begin(kOpusRate, channels, static_cast<uint64_t>(promised)));
  RETURN_IF_ERROR(ReadSamples(file.get(), channels, sink));
  RETURN_IF_ERROR(CheckLength(static_cast<uint64_t>(promised), sound.frames()));
  const std::vector<std::string> comments = CommentsOf(*op_tags(file.get(), -1));
  ASSIGN_OR_RETURN(const std::optional<Loop> loop, LoopOfComments(comments, sound.frames()));
  if (loop && sound.frames() > 0) {
    ASSIGN_OR_RETURN(sound.loop, FitLoop(*loop, sound.frames(), decoded.warnings));
  }
  return decoded;
}

}  // namespace galley::worker::audio
