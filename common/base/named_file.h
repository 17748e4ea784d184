// NamedFile: a file that a person named, to be written: on the command line or in a configuration.
//
// The thing at the path decides how. A regular file, or an absent one, gets its new bytes by a
// rename, so that a reader sees the old ones or the new. A link is followed and stays: the file at
// its end is replaced, or made. A character device, a FIFO, and what this process has open
// (/dev/stdout, /dev/fd/N, /proc/self/fd/N) are written into as they are. Folders, sockets and
// disks are refused.
//
// A FIFO that nobody reads is given some seconds.
//
// Threads: none.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley {

class NamedFile {
 public:
  // FAILED_PRECONDITION: what is there cannot be written to, or nobody reads the FIFO. The path of
  // other errors is that of the file that is made beside it.
  static absl::StatusOr<NamedFile> Open(const std::string& path);
  NamedFile(NamedFile&& other) noexcept;
  NamedFile& operator=(NamedFile&&) = delete;
  // Removes a file that was not completed.
  ~NamedFile();

  int descriptor() const { return file_.get(); }
  // True for what has a rename before it: it can be synced, and written again.
  bool is_file() const { return !temporary_.empty(); }
  // The file is whole: from now on it is there. `sync`: durable on return.
  absl::Status Complete(bool sync = false);

 private:
  NamedFile(FileDescriptor file, std::string target, std::string temporary);

  FileDescriptor file_;
  std::string target_;     // what errors name
  std::string temporary_;  // becomes `target_`; empty: written in place, or completed
};

absl::Status WriteNamedFile(const std::string& path, std::string_view bytes);

}  // namespace galley
