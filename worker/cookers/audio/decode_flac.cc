#include <FLAC/stream_decoder.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/audio/channel_order.h"
#include "worker/cookers/audio/decode.h"
#include "worker/cookers/audio/loop.h"
#include "worker/cookers/audio/sample_sink.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

constexpr size_t kId3v1Size = 128;
constexpr std::string_view kMaskComment = "WAVEFORMATEXTENSIBLE_CHANNEL_MASK=";

// FlacJob: the state that the callbacks share.
struct FlacJob {
  FlacJob(std::string_view file, Sound& sound, const DecodeOptions& options)
      : bytes(file), sink(sound, options) {}

  std::string_view bytes;
  size_t at = 0;
  SampleSink sink;
  bool has_stream_info = false;
  FLAC__StreamMetadata_StreamInfo stream_info{};
  std::vector<std::string> comments;
  absl::Status status;       // the first flaw
  bool is_followed = false;  // something that is no frame lies behind the last frame

  void Fail(const absl::Status& flaw) {
    if (status.ok()) status = flaw;
  }
  bool is_whole() const {
    return stream_info.total_samples != 0 && sink.frames() == stream_info.total_samples;
  }
};

FlacJob& JobOf(void* client) { return *static_cast<FlacJob*>(client); }

FLAC__StreamDecoderReadStatus Read(const FLAC__StreamDecoder*, FLAC__byte* buffer, size_t* bytes,
                                   void* client) {
  FlacJob& job = JobOf(client);
  *bytes = std::min(*bytes, job.bytes.size() - job.at);
  std::memcpy(buffer, job.bytes.data() + job.at, *bytes);
  job.at += *bytes;
  return *bytes == 0 ? FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM
                     : FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
}

FLAC__StreamDecoderWriteStatus Write(const FLAC__StreamDecoder*, const FLAC__Frame* frame,
                                     const FLAC__int32* const channels[], void* client) {
  FlacJob& job = JobOf(client);
  const FLAC__StreamMetadata_StreamInfo& info = job.stream_info;
  const FLAC__FrameHeader& header = frame->header;
  if (!job.has_stream_info || header.channels != info.channels ||
      header.sample_rate != info.sample_rate || header.bits_per_sample != info.bits_per_sample) {
    job.Fail(VerdictError("a frame differs in form from what the header says"));
    return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
  }
  float* out = job.sink.Append(header.blocksize);
  if (out == nullptr) {
    job.Fail(job.sink.status());
    return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
  }
  const float scale = 1.0F / static_cast<float>(uint64_t{1} << (info.bits_per_sample - 1));
  for (uint32_t i = 0; i < header.blocksize; ++i) {
    for (uint32_t k = 0; k < header.channels; ++k)
      *out++ = static_cast<float>(channels[k][i]) * scale;
  }
  return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

void TakeComments(const FLAC__StreamMetadata_VorbisComment& block, FlacJob& job) {
  for (uint32_t i = 0; i < block.num_comments; ++i) {
    const FLAC__StreamMetadata_VorbisComment_Entry& entry = block.comments[i];
    job.comments.emplace_back(reinterpret_cast<const char*>(entry.entry), entry.length);
  }
}

void Metadata(const FLAC__StreamDecoder*, const FLAC__StreamMetadata* block, void* client) {
  FlacJob& job = JobOf(client);
  try {
    if (block->type == FLAC__METADATA_TYPE_STREAMINFO) {
      job.stream_info = block->data.stream_info;
      job.has_stream_info = true;
    } else if (block->type == FLAC__METADATA_TYPE_VORBIS_COMMENT) {
      TakeComments(block->data.vorbis_comment, job);
    }
  } catch (const std::bad_alloc&) {
    job.Fail(OutOfMemoryError("not enough memory to decode"));
  }
}

void Error(const FLAC__StreamDecoder*, FLAC__StreamDecoderErrorStatus error, void* client) {
  FlacJob& job = JobOf(client);
  if (job.is_whole()) {
    job.is_followed = true;
    return;
  }
  job.Fail(
      VerdictError("the file is damaged before byte {}: {}; export it again, or save what can be "
                   "saved with `flac --decode --decode-through-errors` and encode that",
                   job.at, FLAC__StreamDecoderErrorStatusString[error]));
}

struct DeleteDecoder {
  void operator()(FLAC__StreamDecoder* decoder) const { FLAC__stream_decoder_delete(decoder); }
};

// Decodes all metadata, then all frames. The caller judges the result.
absl::Status Run(FLAC__StreamDecoder* decoder, FlacJob& job) {
  FLAC__stream_decoder_set_md5_checking(decoder, true);
  FLAC__stream_decoder_set_metadata_respond(decoder, FLAC__METADATA_TYPE_VORBIS_COMMENT);
  if (FLAC__stream_decoder_init_stream(decoder, &Read, nullptr, nullptr, nullptr, nullptr, &Write,
                                       &Metadata, &Error,
                                       &job) != FLAC__STREAM_DECODER_INIT_STATUS_OK) {
    return OutOfMemoryError("libFLAC cannot make a decoder");
  }
  const bool has_metadata = FLAC__stream_decoder_process_until_end_of_metadata(decoder) != 0;
  RETURN_IF_ERROR(job.status);
  if (!has_metadata || !job.has_stream_info)
    return VerdictError("the file is truncated: it ends within its header");
  const FLAC__StreamMetadata_StreamInfo& info = job.stream_info;
  RETURN_IF_ERROR(job.sink.Begin(info.sample_rate, info.channels, info.total_samples));
  const bool is_read = FLAC__stream_decoder_process_until_end_of_stream(decoder) != 0;
  RETURN_IF_ERROR(job.status);
  return is_read ? absl::OkStatus() : OutOfMemoryError("libFLAC stopped");
}

absl::StatusOr<uint32_t> MaskOfComments(const std::vector<std::string>& comments) {
  for (const std::string& comment : comments) {
    if (!comment.starts_with(kMaskComment)) continue;
    std::string_view text = std::string_view(comment).substr(kMaskComment.size());
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    if (const auto mask = ParseWhole<uint32_t>(text, 16)) return *mask;
    return VerdictError("comment {}: expected a hexadecimal number", comment.substr(0, 80));
  }
  return 0;
}

// Whether the decoded sound is what the header promises.
absl::Status CheckWhole(const FlacJob& job, uint64_t frames, bool is_sum_right) {
  const uint64_t promised = job.stream_info.total_samples;
  if (promised != 0) {
    RETURN_IF_ERROR(CheckLength(promised, frames));
  }
  if (is_sum_right) return absl::OkStatus();
  return VerdictError("the file is damaged: its samples have another MD5 sum than its header says");
}

// Warnings of what the header does not vouch for, and of what was not read.
std::vector<std::string> WarningsOf(const FlacJob& job) {
  std::vector<std::string> warnings;
  if (job.stream_info.total_samples == 0) {
    warnings.emplace_back(
        "the header does not say how long the sound is, so nobody can tell whether it is whole");
  }
  const auto& sum = job.stream_info.md5sum;
  if (std::all_of(std::begin(sum), std::end(sum), [](FLAC__byte byte) { return byte == 0; })) {
    warnings.emplace_back(
        "the header has no MD5 sum, so nobody can tell whether the samples are those that were "
        "encoded; `flac` writes one when it encodes the sound anew");
  }
  if (job.is_followed) {
    const bool is_tag = job.bytes.size() > kId3v1Size &&
                        job.bytes.substr(job.bytes.size() - kId3v1Size).starts_with("TAG");
    warnings.push_back(
        fmt::format("{} behind the last frame is ignored", is_tag ? "the ID3v1 tag" : "what lies"));
  }
  return warnings;
}

}  // namespace

absl::StatusOr<Decoded> DecodeFlac(std::string_view bytes, const DecodeOptions& options) {
  Decoded decoded;
  Sound& sound = decoded.sound;
  FlacJob job(bytes, sound, options);
  const std::unique_ptr<FLAC__StreamDecoder, DeleteDecoder> decoder(FLAC__stream_decoder_new());
  if (decoder == nullptr) return OutOfMemoryError("libFLAC cannot make a decoder");
  RETURN_IF_ERROR(Run(decoder.get(), job));
  const bool is_sum_right = FLAC__stream_decoder_finish(decoder.get()) != 0;
  RETURN_IF_ERROR(CheckWhole(job, sound.frames(), is_sum_right));
  decoded.warnings = WarningsOf(job);
  ASSIGN_OR_RETURN(const uint32_t mask, MaskOfComments(job.comments));
  ASSIGN_OR_RETURN(const std::vector<uint32_t> order, ChannelOrder(sound.channels, mask));
  Reorder(order, sound.samples);
  ASSIGN_OR_RETURN(const std::optional<Loop> loop, LoopOfComments(job.comments, sound.frames()));
  if (loop && sound.frames() > 0) {
    ASSIGN_OR_RETURN(sound.loop, FitLoop(*loop, sound.frames(), decoded.warnings));
  }
  return decoded;
}

}  // namespace galley::worker::audio
