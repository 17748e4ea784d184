#include "common/base/zstd_stream.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley {
namespace {

constexpr size_t kPieceBytes = 128 << 10;    // the largest block of a frame
constexpr size_t kFrameHeaderBytesMax = 18;  // with the magic number (RFC 8878, 3.1.1.1)
constexpr size_t kMagicBytes = 4;

// Whether a frame of RFC 8878, or one to skip, can begin with `bytes`, which may be the first few
// of it. The library may know frames of the drafts before the RFC, as far as they come in one
// piece.
bool MayBeFrame(std::string_view bytes) {
  constexpr std::string_view kFrame = "\x28\xb5\x2f\xfd", kSkipped = "\x50\x2a\x4d\x18";
  if (kFrame.starts_with(bytes)) return true;
  std::string skipped(bytes);
  skipped[0] = static_cast<char>(skipped[0] & 0xf0);
  return kSkipped.starts_with(skipped);
}

}  // namespace

struct ZstdCompressor::State {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  std::string piece = std::string(kPieceBytes, '\0');

  explicit State(int level) {
    GALLEY_CHECK(context != nullptr);
    // A level that zstd does not have is taken for its nearest.
    GALLEY_CHECK(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) ==
                 0);
  }
  ~State() { ZSTD_freeCCtx(context); }

  // True when nothing is left inside that `directive` wants out.
  bool Step(ZSTD_inBuffer& in, ZSTD_EndDirective directive, std::string& out) {
    ZSTD_outBuffer given{piece.data(), piece.size(), 0};
    const size_t left = ZSTD_compressStream2(context, &given, &in, directive);
    GALLEY_CHECK(ZSTD_isError(left) == 0);  // only for want of memory
    out.append(piece, 0, given.pos);
    return directive == ZSTD_e_continue ? in.pos == in.size : left == 0;
  }
};

ZstdCompressor::ZstdCompressor(int level) : state_(std::make_unique<State>(level)) {}
ZstdCompressor::~ZstdCompressor() = default;

void ZstdCompressor::Append(std::string_view bytes, std::string& out) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (!state_->Step(in, ZSTD_e_continue, out)) {
  }
}

void ZstdCompressor::Finish(std::string& out) {
  ZSTD_inBuffer in{nullptr, 0, 0};
  while (!state_->Step(in, ZSTD_e_end, out)) {
  }
}

struct ZstdDecompressor::State {
  const Options options;
  ZSTD_DCtx* const context = ZSTD_createDCtx();
  std::string piece = std::string(kPieceBytes, '\0');
  uint64_t left = options.output_bytes_max;
  bool is_in_frame = false;
  std::string frame_begin;   // its first bytes, as far as its header may go
  uint64_t frame_bytes = 0;  // what came out of it so far
  absl::Status status;

  explicit State(const Options& given) : options(given) {
    GALLEY_CHECK(context != nullptr);
    GALLEY_CHECK(ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax,
                                                     given.window_log_max)) == 0);
  }
  ~State() { ZSTD_freeDCtx(context); }

  // `next`: what the next step is given.
  absl::Status CheckMagic(std::string_view next) const {
    std::string magic = is_in_frame ? frame_begin : std::string();
    if (magic.size() >= kMagicBytes || next.empty()) return absl::OkStatus();
    magic.append(next.substr(0, kMagicBytes - magic.size()));
    if (MayBeFrame(magic)) return absl::OkStatus();
    return absl::InvalidArgumentError("zstd: Unknown frame descriptor");
  }

  // Called with what one step took and gave, and whether the frame is at its end.
  absl::Status NoteStep(std::string_view taken, size_t given, bool is_end) {
    if (!is_in_frame) {
      frame_begin.clear();
      frame_bytes = 0;
    }
    frame_begin.append(taken.substr(0, kFrameHeaderBytesMax - frame_begin.size()));
    frame_bytes += given;
    is_in_frame = !is_end;
    if (!is_end) return absl::OkStatus();
    // The library compares the two too, but not in a frame that ends with an empty block and is
    // given in pieces (1.5.4).
    const auto declared = ZSTD_getFrameContentSize(frame_begin.data(), frame_begin.size());
    if (declared == ZSTD_CONTENTSIZE_UNKNOWN || declared == frame_bytes) return absl::OkStatus();
    return InvalidArgumentError("zstd: a frame that declares {} bytes has {}", declared,
                                frame_bytes);
  }
};

ZstdDecompressor::ZstdDecompressor(const Options& options)
    : state_(std::make_unique<State>(options)) {}
ZstdDecompressor::~ZstdDecompressor() = default;

absl::Status ZstdDecompressor::Append(std::string_view bytes, const Sink& sink) {
  if (state_->status.ok() && !bytes.empty()) state_->status = Take(bytes, sink);
  return state_->status;
}

absl::Status ZstdDecompressor::Take(std::string_view bytes, const Sink& sink) {
  State& state = *state_;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (true) {
    // The room is one byte larger than allowed, so that too many bytes are seen before they are
    // made.
    const size_t room = static_cast<size_t>(std::min<uint64_t>(state.piece.size(), state.left + 1));
    ZSTD_outBuffer out{state.piece.data(), room, 0};
    const size_t begin = in.pos;
    RETURN_IF_ERROR(state.CheckMagic(bytes.substr(begin)));
    const size_t wanted = ZSTD_decompressStream(state.context, &out, &in);
    if (ZSTD_isError(wanted) != 0) {
      const std::string text = fmt::format("zstd: {}", ZSTD_getErrorName(wanted));
      return ZSTD_getErrorCode(wanted) == ZSTD_error_memory_allocation
                 ? absl::ResourceExhaustedError(text)
                 : absl::InvalidArgumentError(text);
    }
    if (out.pos > state.left) {
      return InvalidArgumentError("zstd: more than {} bytes are inside",
                                  state.options.output_bytes_max);
    }
    state.left -= out.pos;
    if (out.pos > 0) RETURN_IF_ERROR(sink(std::string_view(state.piece.data(), out.pos)));
    RETURN_IF_ERROR(state.NoteStep(bytes.substr(begin, in.pos - begin), out.pos, wanted == 0));
    // Output that does not fill the room is all that these bytes give.
    if (in.pos == in.size && (wanted == 0 || out.pos < room)) return absl::OkStatus();
  }
}

absl::Status ZstdDecompressor::Finish() {
  if (state_->status.ok() && state_->is_in_frame)
    state_->status = absl::InvalidArgumentError("zstd: ends inside a frame");
  return state_->status;
}

std::string ZstdCompress(std::string_view bytes, int level) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  GALLEY_CHECK(ZSTD_isError(size) == 0);  // only for want of memory
  out.resize(size);
  return out;
}

absl::StatusOr<std::string> ZstdDecompress(std::string_view bytes, uint64_t output_bytes_max) {
  std::string out;
  ZstdDecompressor decompressor({.output_bytes_max = output_bytes_max});
  RETURN_IF_ERROR(decompressor.Append(bytes, [&](std::string_view piece) {
    out.append(piece);
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(decompressor.Finish());
  return out;
}

}  // namespace galley
