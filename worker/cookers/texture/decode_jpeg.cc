// JPEG by libjpeg-turbo, with its exact integer transform (JDCT_ISLOW), which gives the same bytes
// with and without SIMD. Errors of the library are long jumps: the code between setjmp and a jump
// has no destructors, and all state lives in JpegReader outside.
#include <cstdio>  // jpeglib.h needs it

#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/texture/decode.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::texture {
namespace {

// The limit on scans: a progressive file may name the same coefficients again and again. Honest
// files have about ten scans.
constexpr int kScansMax = 200;
// The largest unit of coefficients is 32 x 32 texels, and Huffman codes take at least a bit for it.
constexpr uint64_t kTexelsOfBitMax = 32 * 32;

class JpegReader {
 public:
  explicit JpegReader(std::string_view bytes) : bytes_(bytes) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = &OnError;
    errors_.emit_message = &OnMessage;
    progress_.progress_monitor = &OnProgress;
    info_.client_data = this;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // ReadHeader and ReadRows return false with Error() set.
  bool ReadHeader();
  bool ReadRows(uint8_t* texels);

  absl::Status Error() const {
    return is_out_of_memory_ ? OutOfMemoryError("{}", error_) : absl::InvalidArgumentError(error_);
  }
  uint32_t width() const { return info_.image_width; }
  uint32_t height() const { return info_.image_height; }
  bool is_grey() const { return info_.num_components == 1; }
  bool is_huffman() const { return info_.arith_code == 0; }
  long flaws_count() const { return flaws_count_; }

 private:
  static JpegReader& Of(j_common_ptr info) { return *static_cast<JpegReader*>(info->client_data); }
  [[noreturn]] static void Fail(JpegReader& reader, const char* text) {
    std::snprintf(reader.error_, sizeof(error_), "%s", text);
    std::longjmp(reader.jump_, 1);
  }
  static void OnError(j_common_ptr info) {
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    Of(info).is_out_of_memory_ = info->err->msg_code == JERR_OUT_OF_MEMORY;
    Fail(Of(info), text);
  }
  // Level -1 is damaged data. A file that ends within its data is an error, other damage is
  // counted.
  static void OnMessage(j_common_ptr info, int level) {
    if (level >= 0) return;
    const int code = info->err->msg_code;
    if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)
      Fail(Of(info), "the file is truncated or corrupt");
    ++Of(info).flaws_count_;
  }
  static void OnProgress(j_common_ptr info) {
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kScansMax)
      Fail(Of(info), "too many scans (over 200)");
  }

  std::string_view bytes_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_;
  long flaws_count_ = 0;
  bool is_out_of_memory_ = false;
  char error_[JMSG_LENGTH_MAX] = "";
};

bool JpegReader::ReadHeader() {
  if (setjmp(jump_) != 0) return false;
  jpeg_create_decompress(&info_);
  info_.client_data = this;
  info_.progress = &progress_;
  jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
  jpeg_read_header(&info_, TRUE);
  if (info_.num_components == 4) Fail(*this, "the image is CMYK; convert it to RGB");
  return true;
}

bool JpegReader::ReadRows(uint8_t* texels) {
  if (setjmp(jump_) != 0) return false;
  info_.out_color_space = JCS_EXT_RGBA;
  info_.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&info_);
  while (info_.output_scanline < info_.output_height) {
    JSAMPROW row = texels + size_t{info_.output_scanline} * info_.output_width * 4;
    jpeg_read_scanlines(&info_, &row, 1);
  }
  jpeg_finish_decompress(&info_);
  return true;
}

// Checks the size before anything is allocated for the texels.
absl::Status CheckPlausible(const JpegReader& reader, size_t file_bytes) {
  const uint64_t bits_min = uint64_t{reader.width()} * reader.height() / kTexelsOfBitMax;
  if (!reader.is_huffman() || bits_min / 8 <= file_bytes) return absl::OkStatus();
  return VerdictError(
      "the file is truncated: an image of {} x {} takes at least {} bytes, the file has {}",
      reader.width(), reader.height(), bits_min / 8, file_bytes);
}

}  // namespace

absl::StatusOr<Decoded> DecodeJpeg(std::string_view bytes, const DecodeOptions& options) {
  JpegReader reader(bytes);
  if (!reader.ReadHeader()) return reader.Error();
  RETURN_IF_ERROR(CheckSize(reader.width(), reader.height(), 1, options));
  Decoded decoded;
  decoded.image.width = reader.width();
  decoded.image.height = reader.height();
  decoded.is_grey = reader.is_grey();
  if (options.header_only) return decoded;
  RETURN_IF_ERROR(CheckPlausible(reader, bytes.size()));
  std::vector<uint8_t> texels(size_t{reader.width()} * reader.height() * 4);
  if (!reader.ReadRows(texels.data())) return reader.Error();
  decoded.image.texels = std::move(texels);
  if (reader.flaws_count() > 0) {
    decoded.warnings.push_back(fmt::format(
        "jpg: the file has {} flaws that were passed over; save it anew", reader.flaws_count()));
  }
  return decoded;
}

}  // namespace galley::worker::texture
