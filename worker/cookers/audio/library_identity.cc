#include "worker/cookers/audio/library_identity.h"

#include <FLAC/format.h>
#include <ebur128.h>
#include <gnu/libc-version.h>
#include <opus/opus.h>
#include <opus/opusenc.h>
#include <vorbis/codec.h>

#include <string_view>

#include "fmt/format.h"
#include "worker/cookers/audio/resampler.h"
#include "worker/cookers/library/build_id.h"

namespace galley::worker::audio {
namespace {

// The word after the last space: the version in "libopus 1.3.1" and "Xiph.Org libVorbis 1.3.7".
std::string_view LastWord(std::string_view text) { return text.substr(text.rfind(' ') + 1); }

std::string LoudnessVersion() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  ebur128_get_version(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace

std::string LibraryIdentity() {
  return fmt::format(
      "libopus={}-{};libopusenc={}-{};opusfile={};libvorbis={}-{};vorbisenc={};vorbisfile={};"
      "ogg={};flac={}-{};soxr={}-{};ebur128={}-{};glibc={}-{}",
      LastWord(opus_get_version_string()), BuildIdOf("opus_get_version_string"),
      LastWord(ope_get_version_string()), BuildIdOf("ope_get_version_string"),
      BuildIdOf("op_open_memory"), LastWord(vorbis_version_string()),
      BuildIdOf("vorbis_version_string"), BuildIdOf("vorbis_encode_setup_init"),
      BuildIdOf("ov_open_callbacks"), BuildIdOf("ogg_page_eos"), FLAC__VERSION_STRING,
      BuildIdOf("FLAC__stream_decoder_new"), ResamplerIdentity(), BuildIdOf("soxr_version"),
      LoudnessVersion(), BuildIdOf("ebur128_get_version"), gnu_get_libc_version(),
      BuildIdOf("sin"));
}

}  // namespace galley::worker::audio
