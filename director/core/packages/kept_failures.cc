#include "director/core/packages/kept_failures.h"

#include <iterator>

namespace galley::director {

void KeptFailures::Keep(const std::string& package, const PackageFailed& failed, absl::Time now) {
  if (failed.cause != FailureCause::kPackage && failed.cause != FailureCause::kLimit) return;
  for (auto at = failures_.begin(); at != failures_.end();)
    at = now < at->second.until ? std::next(at) : failures_.erase(at);
  failures_.try_emplace(package, Kept{failed, now + kKeptFor});
}

const PackageFailed* KeptFailures::Find(std::string_view package, absl::Time now) const {
  const auto found = failures_.find(package);
  return found == failures_.end() || found->second.until <= now ? nullptr : &found->second.failed;
}

void KeptFailures::Forget(std::string_view package) {
  if (const auto found = failures_.find(package); found != failures_.end()) failures_.erase(found);
}

}  // namespace galley::director
