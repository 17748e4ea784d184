#include "worker/executor/frame.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

constexpr size_t kHeaderSize = 9;
constexpr size_t kCompactAbove = 1 << 20;

uint64_t ReadLittleEndian(const char* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

absl::Status SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR) continue;
      return absl::UnavailableError(fmt::format("send a frame: {}", std::strerror(errno)));
    }
    bytes.remove_prefix(static_cast<size_t>(count));
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
  if (kind != static_cast<uint8_t>(FrameKind::kMessage) &&
      kind != static_cast<uint8_t>(FrameKind::kBlob)) {
    return absl::InvalidArgumentError(fmt::format("frame of unknown kind {}", kind));
  }
  const auto frame_kind = static_cast<FrameKind>(kind);
  const uint64_t length_max =
      frame_kind == FrameKind::kBlob ? kBlobFrameBytesMax : kMessageFrameBytesMax;
  if (length > length_max) {
    return absl::InvalidArgumentError(
        fmt::format("frame of {} bytes, at most {} are taken", length, length_max));
  }
  if (available - kHeaderSize < length) return std::optional<Frame>();
  Frame frame{.kind = frame_kind, .bytes = {}};
  const bool is_all = begin_ + kHeaderSize + length == buffer_.size();
  if (is_all && length > kCompactAbove) {  // a large one: moved, not copied
    buffer_.erase(0, begin_ + kHeaderSize);
    frame.bytes = std::exchange(buffer_, std::string());
    begin_ = 0;
  } else {
    frame.bytes = buffer_.substr(begin_ + kHeaderSize, length);
    begin_ += kHeaderSize + length;
  }
  return std::optional<Frame>(std::move(frame));
}

absl::Status SendFrame(int fd, FrameKind kind, std::string_view bytes) {
  char header[kHeaderSize];
  header[0] = static_cast<char>(kind);
  for (size_t i = 0; i < 8; ++i)
    header[1 + i] = static_cast<char>(static_cast<uint64_t>(bytes.size()) >> (8 * i));
  RETURN_IF_ERROR(SendAll(fd, {header, kHeaderSize}));
  return SendAll(fd, bytes);
}

absl::StatusOr<std::optional<Frame>> ReceiveFrame(int fd, FrameReader& reader) {
  char piece[64 << 10];
  while (true) {
    auto frame = reader.Next();
    if (!frame.ok() || frame->has_value()) return frame;
    const ssize_t count = ::recv(fd, piece, sizeof(piece), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return absl::UnavailableError(fmt::format("receive a frame: {}", std::strerror(errno)));
    if (count == 0 && reader.IsEmpty()) return std::optional<Frame>();
    if (count == 0) return absl::UnavailableError("the other side closed within a frame");
    reader.Add({piece, static_cast<size_t>(count)});
  }
}

}  // namespace galley::worker
