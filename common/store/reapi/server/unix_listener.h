// UnixListener: gives a server's socket a path, without taking the path from another server.
//
// The server binds a name of its own beside the path, and Publish gives the socket the path, unless
// another server has it. Publish removes the socket of a dead server; the destructor removes only
// our own socket.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::store {

class UnixListener {
 public:
  // `path`: absolute or relative to the working directory. UNAVAILABLE: another server listens
  // there. FAILED_PRECONDITION: something other than a socket is there.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Prepare(std::string path);
  ~UnixListener();

  const std::string& bind_path() const { return bind_path_; }
  // REQUIRES: the server listens at bind_path. Errors: as Prepare.
  absl::Status Publish();

 private:
  UnixListener(std::string path, std::string bind_path)
      : path_(std::move(path)), bind_path_(std::move(bind_path)) {}

  const std::string path_, bind_path_;
  uint64_t device_ = 0, inode_ = 0;  // of the socket at the path; 0: not published
};

// Returns the path of a "unix:" URI: "unix:/path", "unix:path", "unix:///path".
std::string PathOfUnixAddress(std::string_view address);

}  // namespace galley::store
