#include "worker/executor/scratch.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"

namespace galley::worker {

Scratch::~Scratch() {
  if (directory_.empty()) return;
  if (const absl::Status status = RemoveAll(directory_); !status.ok())
    LogWarning("scratch {}", MessageOf(status));
}

absl::StatusOr<std::string> Scratch::Directory() {
  if (directory_.empty()) {
    ASSIGN_OR_RETURN(directory_, MakeTemporaryDirectory(parent_, "job-"));
  }
  return directory_;
}

}  // namespace galley::worker
