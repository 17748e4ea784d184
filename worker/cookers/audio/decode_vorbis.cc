#define OV_EXCLUDE_STATIC_CALLBACKS
#include <vorbis/vorbisfile.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "common/base/status_macros.h"
#include "worker/cookers/audio/decode.h"
#include "worker/cookers/audio/loop.h"
#include "worker/cookers/audio/sample_sink.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::audio {
namespace {

constexpr int kBlockFrames = 4096;

// The bytes as a file, for libvorbisfile.
struct Reader {
  std::string_view bytes;
  size_t at = 0;
};

size_t Read(void* out, size_t size, size_t count, void* source) {
  Reader& reader = *static_cast<Reader*>(source);
  if (size == 0) return 0;
  count = std::min(count, (reader.bytes.size() - reader.at) / size);
  std::memcpy(out, reader.bytes.data() + reader.at, count * size);
  reader.at += count * size;
  return count;
}

int Seek(void* source, ogg_int64_t offset, int whence) {
  Reader& reader = *static_cast<Reader*>(source);
  const size_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? reader.at : reader.bytes.size();
  const auto to = static_cast<int64_t>(base) + offset;
  if (to < 0 || to > static_cast<int64_t>(reader.bytes.size())) return -1;
  reader.at = static_cast<size_t>(to);
  return 0;
}

long Tell(void* source) { return static_cast<long>(static_cast<Reader*>(source)->at); }

class File {
 public:
  File() = default;
  ~File() {
    if (is_open_) ov_clear(&file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  absl::Status Open(Reader& reader) {
    const int error = ov_open_callbacks(
        &reader, &file_, nullptr, 0,
        {.read_func = Read, .seek_func = Seek, .close_func = nullptr, .tell_func = Tell});
    is_open_ = error == 0;
    if (is_open_) return absl::OkStatus();
    return VerdictError("the Vorbis headers are damaged (libvorbisfile: error {})", error);
  }
  OggVorbis_File* get() { return &file_; }

 private:
  OggVorbis_File file_{};
  bool is_open_ = false;
};

std::vector<std::string> CommentsOf(const vorbis_comment& comment) {
  std::vector<std::string> comments;
  for (int i = 0; i < comment.comments; ++i) {
    comments.emplace_back(comment.user_comments[i],
                          static_cast<size_t>(comment.comment_lengths[i]));
  }
  return comments;
}

// `begin_frame`: the place in the stream of the first frames that the library gives.
absl::Status ReadSamples(File& file, int channels, SampleSink& sink, uint64_t& begin_frame) {
  bool is_first = true;
  while (true) {
    float** planes = nullptr;
    int section = 0;
    const auto frames = ov_read_float(file.get(), &planes, kBlockFrames, &section);
    if (frames == 0) return absl::OkStatus();
    if (frames < 0) {
      return VerdictError(
          "the file is damaged: a packet cannot be decoded (libvorbisfile: error {})", frames);
    }
    if (std::exchange(is_first, false)) {
      const int64_t end = ov_pcm_tell(file.get());
      begin_frame = static_cast<uint64_t>(std::max<int64_t>(0, end - frames));
    }
    float* out = sink.Append(static_cast<size_t>(frames));
    if (out == nullptr) return sink.status();
    for (long i = 0; i < frames; ++i) {
      for (int k = 0; k < channels; ++k) *out++ = planes[k][i];
    }
  }
}

}  // namespace

absl::StatusOr<Decoded> DecodeVorbis(std::string_view bytes, const DecodeOptions& options) {
  Reader reader{.bytes = bytes};
  File file;
  RETURN_IF_ERROR(file.Open(reader));
  const vorbis_info& info = *ov_info(file.get(), -1);
  const int64_t promised = ov_pcm_total(file.get(), -1);
  if (promised < 0)
    return VerdictError("the file is damaged: its granule positions give the sound no length");
  Decoded decoded;
  Sound& sound = decoded.sound;
  SampleSink sink(sound, options);
  RETURN_IF_ERROR(sink.Begin(static_cast<uint32_t>(info.rate), static_cast<uint32_t>(info.channels),
                             static_cast<uint64_t>(promised)));
  RETURN_IF_ERROR(ReadSamples(file, info.channels, sink, decoded.begin_frame));
  const uint64_t length = static_cast<uint64_t>(promised);
  if (sound.frames() == length) decoded.begin_frame = 0;
  RETURN_IF_ERROR(CheckLength(length, decoded.begin_frame + sound.frames()));
  const std::vector<std::string> comments = CommentsOf(*ov_comment(file.get(), -1));
  ASSIGN_OR_RETURN(const std::optional<Loop> loop, LoopOfComments(comments, sound.frames()));
  if (loop && sound.frames() > 0) {
    ASSIGN_OR_RETURN(sound.loop, FitLoop(*loop, sound.frames(), decoded.warnings));
  }
  return decoded;
}

}  // namespace galley::worker::audio
