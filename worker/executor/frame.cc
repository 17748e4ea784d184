#include "worker/executor/frame.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::worker {
namespace {

constexpr size_t kHeaderSize = 9;
constexpr size_t kCompactAbove = 1 << 20;

uint64_t ReadLittleEndian(const char* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

constexpr size_t kPiecesMax = 64;  // for a single call; below every system's IOV_MAX

using Header = std::array<char, kHeaderSize>;

Header HeaderOf(const FrameView& frame) {
  Header header{};
  header[0] = static_cast<char>(frame.kind);
  for (size_t i = 0; i < 8; ++i)
    header[1 + i] = static_cast<char>(static_cast<uint64_t>(frame.bytes.size()) >> (8 * i));
  return header;
}

uint64_t LengthMax(FrameKind kind) {
  switch (kind) {
    case FrameKind::kMessage:
      return kMessageFrameBytesMax;
    case FrameKind::kBlob:
      return kBlobFrameBytesMax;
    case FrameKind::kPiece:
      return kPieceFrameBytesMax;
  }
  return 0;
}

// Strikes the first `sent` bytes from `pieces`.
void Advance(std::span<iovec>& pieces, size_t sent) {
  while (!pieces.empty() && sent >= pieces.front().iov_len) {
    sent -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (sent == 0) return;
  pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + sent;
  pieces.front().iov_len -= sent;
}

absl::Status SendPieces(int fd, std::span<iovec> pieces) {
  Advance(pieces, 0);
  while (!pieces.empty()) {
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = std::min(pieces.size(), kPiecesMax);
    const ssize_t count = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR) continue;
      return UnavailableError("send a frame: {}", std::strerror(errno));
    }
    Advance(pieces, static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

}  // namespace

void FrameReader::Add(std::string_view bytes) {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > kCompactAbove) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  buffer_.append(bytes);
}

absl::StatusOr<std::optional<Frame>> FrameReader::Next() {
  const size_t available = buffer_.size() - begin_;
  if (available < kHeaderSize) return std::optional<Frame>();
  const auto kind = static_cast<uint8_t>(buffer_[begin_]);
  const uint64_t length = ReadLittleEndian(buffer_.data() + begin_ + 1);
  if (kind < static_cast<uint8_t>(FrameKind::kMessage) ||
      kind > static_cast<uint8_t>(FrameKind::kPiece)) {
    return InvalidArgumentError("frame of unknown kind {}", kind);
  }
  const auto frame_kind = static_cast<FrameKind>(kind);
  const uint64_t length_max = LengthMax(frame_kind);
  if (length > length_max) {
    return InvalidArgumentError("frame of {} bytes, at most {} are taken", length, length_max);
  }
  if (available - kHeaderSize < length) return std::optional<Frame>();
  Frame frame{.kind = frame_kind, .bytes = {}};
  const bool is_all = begin_ + kHeaderSize + length == buffer_.size();
  if (is_all && length > kCompactAbove) {  // a large frame is moved, not copied
    buffer_.erase(0, begin_ + kHeaderSize);
    frame.bytes = std::exchange(buffer_, std::string());
    begin_ = 0;
  } else {
    frame.bytes = buffer_.substr(begin_ + kHeaderSize, length);
    begin_ += kHeaderSize + length;
  }
  return std::optional<Frame>(std::move(frame));
}

absl::Status SendFrames(int fd, std::span<const FrameView> frames) {
  std::vector<Header> headers;
  headers.reserve(frames.size());  // the pieces point into it
  std::vector<iovec> pieces;
  pieces.reserve(2 * frames.size());
  for (const FrameView& frame : frames) {
    headers.push_back(HeaderOf(frame));
    pieces.push_back({headers.back().data(), kHeaderSize});
    pieces.push_back({const_cast<char*>(frame.bytes.data()), frame.bytes.size()});
  }
  return SendPieces(fd, pieces);
}

absl::StatusOr<std::optional<Frame>> ReceiveFrame(int fd, FrameReader& reader) {
  char piece[64 << 10];
  while (true) {
    auto frame = reader.Next();
    if (!frame.ok() || frame->has_value()) return frame;
    const ssize_t count = ::recv(fd, piece, sizeof(piece), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return UnavailableError("receive a frame: {}", std::strerror(errno));
    if (count == 0 && reader.IsEmpty()) return std::optional<Frame>();
    if (count == 0) return absl::UnavailableError("the other side closed within a frame");
    reader.Add({piece, static_cast<size_t>(count)});
  }
}

}  // namespace galley::worker
