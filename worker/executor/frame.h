// Frames between a session and its executors: a byte for the kind, eight bytes for the length in
// little endian, then the content.
//
// A blob that is too large to be held in memory goes as pieces: the last piece is of kind kBlob,
// the others are of kind kPiece. A message after a kPiece drops the blob.
//
// A reader takes bytes as they come and never holds more than a frame and a piece. A length above
// the kind's limit is INVALID_ARGUMENT before anything is reserved for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::worker {

enum class FrameKind : uint8_t { kMessage = 1, kBlob = 2, kPiece = 3 };

inline constexpr uint64_t kMessageFrameBytesMax = 128ull << 20;
inline constexpr uint64_t kBlobFrameBytesMax = 4ull << 30;
inline constexpr uint64_t kPieceFrameBytesMax = 1ull << 20;

struct Frame {
  FrameKind kind = FrameKind::kMessage;
  std::string bytes;
};

// A frame to be written; the caller owns the bytes.
struct FrameView {
  FrameKind kind = FrameKind::kMessage;
  std::string_view bytes;
};

class FrameReader {
 public:
  // Appends bytes that were read.
  void Add(std::string_view bytes);
  // The next whole frame; nullopt: more bytes are needed. INVALID_ARGUMENT: an unknown kind, or a
  // frame that is too long; the stream is unusable then.
  absl::StatusOr<std::optional<Frame>> Next();
  bool IsEmpty() const { return buffer_.size() == begin_; }

 private:
  std::string buffer_;
  size_t begin_ = 0;  // where the unread bytes begin
};

// Writes all frames to a blocking socket, in as few calls as the system allows. UNAVAILABLE: the
// other side is gone, or accepts nothing for the socket's send time-out.
absl::Status SendFrames(int fd, std::span<const FrameView> frames);
// Blocks for a frame. nullopt: the other side closed the socket between frames.
absl::StatusOr<std::optional<Frame>> ReceiveFrame(int fd, FrameReader& reader);

}  // namespace galley::worker
