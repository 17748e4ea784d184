// Ogg Vorbis by libvorbisenc, with pages by libogg.
#include <vorbis/vorbisenc.h>

#include <algorithm>
#include <memory>

#include "common/base/status_macros.h"
#include "worker/cookers/audio/encoder.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

// oggenc's -q 4: about 128 kbit/s for stereo at 44.1 kHz.
constexpr float kDefaultQuality = 0.4F;

// The library's states, taken down in the right order.
class VorbisState {
 public:
  VorbisState() {
    vorbis_info_init(&info);
    vorbis_comment_init(&comment);
  }
  ~VorbisState() {
    if (has_stream_) ogg_stream_clear(&stream);
    if (has_block_) vorbis_block_clear(&block);
    if (has_dsp_) vorbis_dsp_clear(&dsp);
    vorbis_comment_clear(&comment);
    vorbis_info_clear(&info);
  }
  VorbisState(const VorbisState&) = delete;
  VorbisState& operator=(const VorbisState&) = delete;

  // Called after `info` is set up.
  absl::Status Begin(int32_t serial) {
    has_dsp_ = vorbis_analysis_init(&dsp, &info) == 0;
    has_block_ = has_dsp_ && vorbis_block_init(&dsp, &block) == 0;
    has_stream_ = has_block_ && ogg_stream_init(&stream, serial) == 0;
    return has_stream_ ? absl::OkStatus() : OutOfMemoryError("libvorbis has not enough memory");
  }

  vorbis_info info{};
  vorbis_comment comment{};
  vorbis_dsp_state dsp{};
  vorbis_block block{};
  ogg_stream_state stream{};

 private:
  bool has_dsp_ = false;
  bool has_block_ = false;
  bool has_stream_ = false;
};

// Picks the quality whose nominal rate is the bit rate; the rate is not managed from packet to
// packet.
absl::Status SetUp(vorbis_info& info, const Resampler& frames, int64_t bitrate) {
  const auto channels = static_cast<long>(frames.channels());
  const auto rate = static_cast<long>(frames.rate());
  int error = 0;
  if (bitrate == 0) {
    error = vorbis_encode_setup_vbr(&info, channels, rate, kDefaultQuality);
  } else {
    error = vorbis_encode_setup_managed(&info, channels, rate, -1, bitrate, -1);
    if (error == 0) error = vorbis_encode_ctl(&info, OV_ECTL_RATEMANAGE2_SET, nullptr);
  }
  if (error == 0) error = vorbis_encode_setup_init(&info);
  if (error == 0) return absl::OkStatus();
  return VerdictError(
      "setting \"bitrate\": Vorbis has no mode for {} bits per second, {} channels at {} Hz; "
      "expected about {} to {}, or 0",
      bitrate, channels, rate, 16'000 * channels * rate / 44'100,
      240'000 * channels * rate / 44'100);
}

void Append(const ogg_page& page, std::string& file) {
  file.append(reinterpret_cast<const char*>(page.header), static_cast<size_t>(page.header_len));
  file.append(reinterpret_cast<const char*>(page.body), static_cast<size_t>(page.body_len));
}

// Writes the three headers; audio begins on a page of its own.
absl::Status WriteHeaders(VorbisState& state, const EncodeOptions& options, std::string& file) {
  for (const auto& [name, value] : options.comments)
    vorbis_comment_add_tag(&state.comment, name.c_str(), value.c_str());
  ogg_packet headers[3];
  if (vorbis_analysis_headerout(&state.dsp, &state.comment, &headers[0], &headers[1],
                                &headers[2]) != 0) {
    return OutOfMemoryError("libvorbis cannot write its headers");
  }
  for (ogg_packet& header : headers) ogg_stream_packetin(&state.stream, &header);
  ogg_page page;
  while (ogg_stream_flush(&state.stream, &page) != 0) Append(page, file);
  return absl::OkStatus();
}

// Writes the packets that the library has ready into pages.
void WritePackets(VorbisState& state, std::string& file) {
  ogg_packet packet;
  ogg_page page;
  while (vorbis_analysis_blockout(&state.dsp, &state.block) == 1) {
    vorbis_analysis(&state.block, nullptr);
    vorbis_bitrate_addblock(&state.block);
    while (vorbis_bitrate_flushpacket(&state.dsp, &packet) == 1) {
      ogg_stream_packetin(&state.stream, &packet);
      while (ogg_stream_pageout(&state.stream, &page) != 0) Append(page, file);
    }
  }
}

}  // namespace

absl::StatusOr<std::string> EncodeVorbis(Resampler& frames, const EncodeOptions& options) {
  const uint32_t channels = frames.channels();
  VorbisState state;
  RETURN_IF_ERROR(SetUp(state.info, frames, options.bitrate));
  RETURN_IF_ERROR(state.Begin(options.serial));
  std::string file;
  file.reserve(ExpectedBytes(frames, std::max<int64_t>(state.info.bitrate_nominal, 0)));
  RETURN_IF_ERROR(WriteHeaders(state, options, file));
  while (true) {
    ASSIGN_OR_RETURN(const std::span<const float> block, frames.Next());
    const size_t count = block.size() / channels;
    if (count > 0) {
      float** planes = vorbis_analysis_buffer(&state.dsp, static_cast<int>(count));
      for (size_t i = 0; i < block.size(); ++i) planes[i % channels][i / channels] = block[i];
    }
    // 0 frames: the end.
    vorbis_analysis_wrote(&state.dsp, static_cast<int>(count));
    WritePackets(state, file);
    if (count == 0) return file;
  }
}

}  // namespace galley::worker::audio
