// Transport: moves bytes through the socket of one connection, with TLS or without, and never
// waits: it says for what the caller has to wait.
//
// Threads: one owner, which has SIGPIPE blocked or ignored. Reads and writes may alternate at will;
// a call that wanted something is made again with the same bytes. The socket is the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace galley::director {

enum class IoState {
  kDone,
  kWantsRead,   // call again when the socket can be read
  kWantsWrite,  // call again when the socket can be written
  kEnded,       // the other side has ended, or the connection is broken
};

struct IoResult {
  IoState state = IoState::kDone;
  size_t bytes = 0;  // moved, with kDone; at least one, unless there was nothing to move
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Called until it is done, before all others.
  virtual IoResult Shake() = 0;
  virtual IoResult Read(std::span<char> into) = 0;
  // Whether Read may have bytes though the socket cannot be read.
  virtual bool MayHoldBytes() const = 0;
  // Writes bytes of the front pieces. `more_follows`: further bytes come at once, so that a small
  // packet is not worth its while.
  virtual IoResult Write(std::span<const std::string_view> pieces, bool more_follows) = 0;
  // Whether SendFile works.
  virtual bool can_send_file() const = 0;
  // Writes at most `bytes_max` bytes of an open file from `offset`. kEnded also when the file has
  // none there.
  virtual IoResult SendFile(int file, uint64_t offset, size_t bytes_max) = 0;
  // Says that no more will be written. Reading goes on.
  virtual void Finish() = 0;
};

// `socket` is connected, does not block, and outlives the transport.
std::unique_ptr<Transport> MakePlainTransport(int socket);

}  // namespace galley::director
