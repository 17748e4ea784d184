// Ogg Opus by libopusenc. The library writes the pre-skip, continues the signal at both ends so
// that no click is encoded, and trims the end by the last granule position. At 48 kHz it makes no
// resampler of its own.
#include <opus/opusenc.h>

#include <memory>
#include <new>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/audio/encoder.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

constexpr int kComplexity = 10;
constexpr int64_t kBitratePerChannelMin = 6'000;
constexpr int64_t kBitratePerChannelMax = 256'000;
// Added for each stream and for each coupled pair, as opusenc of opus-tools does.
constexpr int64_t kStreamBitrate = 64'000;
constexpr int64_t kCoupledBitrate = 32'000;

struct DeleteComments {
  void operator()(OggOpusComments* comments) const { ope_comments_destroy(comments); }
};
struct DeleteEncoder {
  void operator()(OggOpusEnc* encoder) const { ope_encoder_destroy(encoder); }
};
using Comments = std::unique_ptr<OggOpusComments, DeleteComments>;
using Encoder = std::unique_ptr<OggOpusEnc, DeleteEncoder>;

// No exception may pass through the library.
int Write(void* user, const unsigned char* bytes, opus_int32 size) {
  try {
    static_cast<std::string*>(user)->append(reinterpret_cast<const char*>(bytes),
                                            static_cast<size_t>(size));
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}

int Close(void*) { return 0; }

absl::Status StatusOf(int error) {
  if (error == OPE_OK) return absl::OkStatus();
  const std::string text = fmt::format("libopusenc: {}", ope_strerror(error));
  // The arguments were checked before: a failed allocation or write is want of memory.
  return error == OPE_ALLOC_FAIL || error == OPE_WRITE_FAIL ? OutOfMemoryError("{}", text)
                                                            : absl::InternalError(text);
}

absl::StatusOr<Comments> MakeComments(const EncodeOptions& options) {
  Comments comments(ope_comments_create());
  if (comments == nullptr) return StatusOf(OPE_ALLOC_FAIL);
  for (const auto& [name, value] : options.comments) {
    RETURN_IF_ERROR(StatusOf(ope_comments_add(comments.get(), name.c_str(), value.c_str())));
  }
  return comments;
}

absl::StatusOr<int64_t> BitrateOf(OggOpusEnc* encoder, uint32_t channels, int64_t wanted) {
  if (wanted == 0) {
    opus_int32 streams = 0;
    opus_int32 coupled = 0;
    RETURN_IF_ERROR(StatusOf(ope_encoder_ctl(encoder, OPE_GET_NB_STREAMS(&streams))));
    RETURN_IF_ERROR(StatusOf(ope_encoder_ctl(encoder, OPE_GET_NB_COUPLED_STREAMS(&coupled))));
    return streams * kStreamBitrate + coupled * kCoupledBitrate;
  }
  if (wanted >= kBitratePerChannelMin * channels && wanted <= kBitratePerChannelMax * channels)
    return wanted;
  return VerdictError(
      "setting \"bitrate\": {} is not possible for {} channels in Opus; expected {} to {}, or 0",
      wanted, channels, kBitratePerChannelMin * channels, kBitratePerChannelMax * channels);
}

absl::Status Configure(OggOpusEnc* encoder, int64_t bitrate, int32_t serial) {
  RETURN_IF_ERROR(
      StatusOf(ope_encoder_ctl(encoder, OPUS_SET_BITRATE(static_cast<opus_int32>(bitrate)))));
  RETURN_IF_ERROR(StatusOf(ope_encoder_ctl(encoder, OPUS_SET_VBR(1))));
  RETURN_IF_ERROR(StatusOf(ope_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(kComplexity))));
  RETURN_IF_ERROR(StatusOf(ope_encoder_ctl(encoder, OPE_SET_COMMENT_PADDING(0))));
  return StatusOf(ope_encoder_ctl(encoder, OPE_SET_SERIALNO(serial)));
}

}  // namespace

absl::StatusOr<std::string> EncodeOpus(Resampler& frames, const EncodeOptions& options) {
  const uint32_t channels = frames.channels();
  ASSIGN_OR_RETURN(const Comments comments, MakeComments(options));
  std::string file;
  const OpusEncCallbacks callbacks{.write = &Write, .close = &Close};
  int error = OPE_OK;
  const Encoder encoder(ope_encoder_create_callbacks(
      &callbacks, &file, comments.get(), static_cast<opus_int32>(kOpusRate),
      static_cast<int>(channels), channels <= 2 ? 0 : 1, &error));
  if (encoder == nullptr) return StatusOf(error);
  ASSIGN_OR_RETURN(const int64_t bitrate, BitrateOf(encoder.get(), channels, options.bitrate));
  RETURN_IF_ERROR(Configure(encoder.get(), bitrate, options.serial));
  file.reserve(ExpectedBytes(frames, bitrate));
  while (true) {
    ASSIGN_OR_RETURN(const std::span<const float> block, frames.Next());
    if (block.empty()) break;
    RETURN_IF_ERROR(StatusOf(ope_encoder_write_float(encoder.get(), block.data(),
                                                     static_cast<int>(block.size() / channels))));
  }
  RETURN_IF_ERROR(StatusOf(ope_encoder_drain(encoder.get())));
  return file;
}

}  // namespace galley::worker::audio
