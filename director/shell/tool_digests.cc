#include "director/shell/tool_digests.h"

#include <sys/stat.h>

#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"
#include "common/record/observation.h"

namespace galley::director {

absl::StatusOr<std::string> ToolDigests::ValueOf(const std::string& host_path) {
  const auto stat = StatFile(host_path);
  if (!stat.ok() || !S_ISREG(stat->mode)) return std::string(record::kAbsent);
  {
    base::MutexLock lock(mutex_);
    const auto found = known_.find(host_path);
    if (found != known_.end() && found->second.stat == *stat)
      return found->second.digest.ToString();
  }
  // The file may be larger than the memory that this process may use.
  DigestBuilder hash;
  RETURN_IF_ERROR(ReadInPieces(host_path, [&](std::string_view bytes) {
    hash.Add(bytes);
    return absl::OkStatus();
  }));
  const Digest digest = hash.Finish();
  base::MutexLock lock(mutex_);
  known_[host_path] = Known{*stat, digest};
  return digest.ToString();
}

}  // namespace galley::director
