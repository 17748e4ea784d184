// NamedFile: writes to a path that a person named, on the command line or in a configuration.
//
// A regular or absent file is replaced by a rename, so that a reader sees the old bytes or the new.
// A link is followed and stays: the file at its end is replaced or made. A character device, a
// FIFO, and an open file of a process (/dev/stdout, /dev/fd/N, /proc/self/fd/N) are written in
// place. Folders, sockets and disks are refused.
//
// Open waits a few seconds for a reader of a FIFO.
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
  // FAILED_PRECONDITION: the path cannot be written to, or nobody reads the FIFO. Other errors may
  // name the temporary file beside the target.
  static absl::StatusOr<NamedFile> Open(const std::string& path);
  NamedFile(NamedFile&& other) noexcept;
  NamedFile& operator=(NamedFile&&) = delete;
  // Removes a file that was not completed.
  ~NamedFile();

  int descriptor() const { return file_.get(); }
  // True: Complete has to rename the file, which can be synced and written again until then.
  bool is_file() const { return !temporary_.empty(); }
  // Renames the finished file to its target. `sync`: durable on return. Does nothing for a path
  // that is written in place.
  absl::Status Complete(bool sync = false);

 private:
  NamedFile(FileDescriptor file, std::string target, std::string temporary);

  FileDescriptor file_;
  std::string target_;     // for errors
  std::string temporary_;  // becomes `target_`; empty: written in place, or completed
};

absl::Status WriteNamedFile(const std::string& path, std::string_view bytes);

}  // namespace galley
