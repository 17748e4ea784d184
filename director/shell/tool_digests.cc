#include "director/shell/tool_digests.h"

#include <sys/stat.h>

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
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(host_path));
  const Digest digest = Digest::Of(bytes);
  base::MutexLock lock(mutex_);
  known_[host_path] = Known{*stat, digest};
  return digest.ToString();
}

}  // namespace galley::director
