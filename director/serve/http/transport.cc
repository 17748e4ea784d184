#include "director/serve/http/transport.h"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace galley::director {
namespace {

constexpr size_t kPiecesMax = 64;  // of one call

// The result of a system call that moved `moved` bytes, or none with errno.
IoResult ResultOf(ssize_t moved, IoState blocked) {
  if (moved > 0) return {.state = IoState::kDone, .bytes = static_cast<size_t>(moved)};
  if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {.state = blocked};
  return {.state = IoState::kEnded};
}

template <typename Call>
ssize_t Repeat(const Call& call) {
  ssize_t moved = 0;
  do {
    moved = call();
  } while (moved < 0 && errno == EINTR);
  return moved;
}

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int socket) : socket_(socket) {}

  IoResult Shake() override { return {}; }
  IoResult Read(std::span<char> into) override {
    return ResultOf(Repeat([&] { return ::recv(socket_, into.data(), into.size(), MSG_DONTWAIT); }),
                    IoState::kWantsRead);
  }
  bool MayHoldBytes() const override { return false; }
  IoResult Write(std::span<const std::string_view> pieces, bool more_follows) override;
  bool can_send_file() const override { return true; }
  IoResult SendFile(int file, uint64_t offset, size_t bytes_max) override {
    auto from = static_cast<off_t>(offset);
    return ResultOf(Repeat([&] { return ::sendfile(socket_, file, &from, bytes_max); }),
                    IoState::kWantsWrite);
  }
  void Finish() override { ::shutdown(socket_, SHUT_WR); }

 private:
  const int socket_;
};

IoResult PlainTransport::Write(std::span<const std::string_view> pieces, bool more_follows) {
  std::array<iovec, kPiecesMax> vectors{};
  size_t used = 0, bytes = 0;
  for (const std::string_view piece : pieces.first(std::min(pieces.size(), kPiecesMax))) {
    vectors[used++] = {const_cast<char*>(piece.data()), piece.size()};
    bytes += piece.size();
  }
  if (bytes == 0) return {};
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = used;
  const bool has_more = more_follows || pieces.size() > kPiecesMax;
  const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (has_more ? MSG_MORE : 0);
  return ResultOf(Repeat([&] { return ::sendmsg(socket_, &message, flags); }),
                  IoState::kWantsWrite);
}

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(int socket) {
  return std::make_unique<PlainTransport>(socket);
}

}  // namespace galley::director
