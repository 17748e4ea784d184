// UnixListener: a path for a server's socket that takes nobody else's place.
//
// Whoever listens binds a name of its own beside the path, and Publish gives that socket the path,
// unless somebody has it. What a dead server left there is removed; at the end only the own socket
// is.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::store {

class UnixListener {
 public:
  // `path`: absolute or relative to the working directory. UNAVAILABLE: somebody listens there;
  // FAILED_PRECONDITION: something else than a socket is there.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Prepare(std::string path);
  ~UnixListener();

  const std::string& bind_path() const { return bind_path_; }
  // Once somebody listens at bind_path. Errors as Prepare.
  absl::Status Publish();

 private:
  UnixListener(std::string path, std::string bind_path)
      : path_(std::move(path)), bind_path_(std::move(bind_path)) {}

  const std::string path_, bind_path_;
  uint64_t device_ = 0, inode_ = 0;  // of the socket at the path; 0: not published
};

// "unix:" URIs: "unix:/path", "unix:path", "unix:///path".
std::string PathOfUnixAddress(std::string_view address);

}  // namespace galley::store
