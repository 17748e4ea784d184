#include "director/core/packages/kept_failures.h"

namespace galley::director {

void KeptFailures::Keep(const PackageFailed& failed, absl::Time now) {
  if (failed.cause != FailureCause::kPackage && failed.cause != FailureCause::kLimit) return;
  if (Find(failed.package, now) != nullptr) return;
  failures_[failed.package] = {failed, now + kKeptFor};
}

const PackageFailed* KeptFailures::Find(PackageId package, absl::Time now) {
  const auto found = failures_.find(package);
  if (found == failures_.end()) return nullptr;
  if (now < found->second.until) return &found->second.failed;
  failures_.erase(found);
  return nullptr;
}

}  // namespace galley::director
