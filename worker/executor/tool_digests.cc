#include "worker/executor/tool_digests.h"

#include <sys/stat.h>

#include <algorithm>

#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/racy.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"

namespace galley::worker {
absl::StatusOr<Digest> ToolDigests::DigestOf(const std::string& host_path) {
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(host_path));
  if (!S_ISREG(stat.mode)) return NotFoundError("{} is no regular file", host_path);
  if (const auto known = known_.find(host_path);
      known != known_.end() && known->second.stat == stat) {
    return known->second.digest;
  }
  const int64_t now = absl::GetCurrentTimeNanos();
  ASSIGN_OR_RETURN(const Digest digest, DigestOfFile(host_path));
  if (!IsRacy(stat, now)) known_[host_path] = {.stat = stat, .digest = digest};
  return digest;
}

}  // namespace galley::worker
