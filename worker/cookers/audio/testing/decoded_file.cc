#include "worker/cookers/audio/testing/decoded_file.h"

#include <opus/opusfile.h>
#define OV_EXCLUDE_STATIC_CALLBACKS
#include <vorbis/vorbisfile.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "common/base/status_macros.h"

namespace galley::worker::audio {
namespace {

// Not seekable: libvorbisfile reads the bytes once, from the front.
struct Source {
  const std::string* bytes = nullptr;
  size_t at = 0;
};

size_t ReadSource(void* out, size_t size, size_t count, void* data) {
  Source& source = *static_cast<Source*>(data);
  const size_t taken = std::min(size * count, source.bytes->size() - source.at);
  std::memcpy(out, source.bytes->data() + source.at, taken);
  source.at += taken;
  return taken / size;
}

// The granule position of the last page.
uint64_t LastGranule(const std::string& bytes) {
  const size_t page = bytes.rfind("OggS");
  GALLEY_CHECK(page != std::string::npos);
  uint64_t granule = 0;
  std::memcpy(&granule, bytes.data() + page + 6, sizeof(granule));
  return granule;
}

uint32_t SerialOf(const std::string& bytes) {
  uint32_t serial = 0;
  std::memcpy(&serial, bytes.data() + 14, sizeof(serial));
  return serial;
}

}  // namespace

std::vector<double> DecodedFile::channel(uint32_t index) const {
  return ChannelOf({frames.begin(), frames.end()}, channels, index);
}

DecodedFile DecodeOpusFile(const std::string& bytes) {
  int error = 0;
  OggOpusFile* file =
      op_open_memory(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), &error);
  GALLEY_CHECK(file != nullptr);
  DecodedFile decoded{.rate = 48'000,
                      .channels = static_cast<uint32_t>(op_channel_count(file, -1)),
                      .serial = SerialOf(bytes),
                      .length = LastGranule(bytes) - op_head(file, -1)->pre_skip};
  std::vector<float> packet(size_t{5'760} * decoded.channels);
  while (true) {
    const int frames = op_read_float(file, packet.data(), static_cast<int>(packet.size()), nullptr);
    GALLEY_CHECK(frames >= 0);
    if (frames == 0) break;
    decoded.frames.insert(decoded.frames.end(), packet.begin(),
                          packet.begin() + frames * static_cast<int>(decoded.channels));
  }
  const OpusTags* tags = op_tags(file, -1);
  for (int i = 0; i < tags->comments; ++i) decoded.comments.emplace_back(tags->user_comments[i]);
  op_free(file);
  return decoded;
}

DecodedFile DecodeVorbisFile(const std::string& bytes) {
  Source source{.bytes = &bytes};
  OggVorbis_File file;
  GALLEY_CHECK(ov_open_callbacks(&source, &file, nullptr, 0,
                                 {.read_func = ReadSource,
                                  .seek_func = nullptr,
                                  .close_func = nullptr,
                                  .tell_func = nullptr}) == 0);
  DecodedFile decoded{.rate = static_cast<uint32_t>(ov_info(&file, -1)->rate),
                      .channels = static_cast<uint32_t>(ov_info(&file, -1)->channels),
                      .serial = SerialOf(bytes),
                      .length = LastGranule(bytes)};
  while (true) {
    float** planes = nullptr;
    int section = 0;
    const long frames = ov_read_float(&file, &planes, 1'024, &section);
    GALLEY_CHECK(frames >= 0);
    if (frames == 0) break;
    for (long i = 0; i < frames; ++i) {
      for (uint32_t k = 0; k < decoded.channels; ++k) decoded.frames.push_back(planes[k][i]);
    }
  }
  const vorbis_comment* comment = ov_comment(&file, -1);
  for (int i = 0; i < comment->comments; ++i)
    decoded.comments.emplace_back(comment->user_comments[i]);
  ov_clear(&file);
  return decoded;
}

double SignalToNoise(const std::vector<double>& found, const std::vector<double>& wanted) {
  double signal = 0;
  double noise = 0;
  for (size_t i = 0; i < std::min(found.size(), wanted.size()); ++i) {
    signal += wanted[i] * wanted[i];
    noise += (found[i] - wanted[i]) * (found[i] - wanted[i]);
  }
  return noise == 0 ? 200 : 10 * std::log10(signal / noise);
}

std::vector<double> ChannelOf(const std::vector<double>& samples, uint32_t channels,
                              uint32_t index) {
  std::vector<double> found;
  for (size_t i = index; i < samples.size(); i += channels) found.push_back(samples[i]);
  return found;
}

}  // namespace galley::worker::audio
