// FuseSession: a mount of libfuse: the mount point, and the loop that takes the kernel's requests.
//
// Threads: Begin and Serve: one; Stop: any, many times.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "director/mount/fuse_api.h"
#include "director/mount/mount_requests.h"

namespace galley::mount {

class FuseSession {
 public:
  struct Options {
    std::string folder;             // the mount point: a real path
    std::string name;               // in the list of mounts: "galley:pc"
    bool is_for_all_users = false;  // others than who mounts may read
  };
  // Mounts. `requests` outlives the session. UNAVAILABLE: the kernel or libfuse does not let us,
  // and the text says what to do.
  static absl::StatusOr<std::unique_ptr<FuseSession>> Begin(const Options& options,
                                                            MountRequests& requests);
  // Unmounts.
  ~FuseSession();

  // Takes requests until Stop, or until somebody has unmounted the folder. UNAVAILABLE: the kernel
  // gives none any more for another reason.
  absl::Status Serve();
  void Stop();
  fuse_session* get() const { return session_; }

 private:
  FuseSession(fuse_session* session, FileDescriptor wake)
      : session_(session), wake_(std::move(wake)) {}
  void TakeRequests();
  void NoteFault(int error);

  fuse_session* const session_;
  const FileDescriptor wake_;   // an eventfd: readable when the session is to end
  std::atomic<int> fault_ = 0;  // an errno; 0: none
};

}  // namespace galley::mount
