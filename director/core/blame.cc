#include "director/core/blame.h"

#include <algorithm>

namespace galley::director {

uint32_t Blame::AddOwnFault(PackageId package, WorkerId worker) {
  Faults& faults = faults_[package];
  faults.last_worker = worker;
  return ++faults.own;
}

uint32_t Blame::AddInfrastructureFault(PackageId package) {
  return ++faults_[package].infrastructure;
}

WorkerId Blame::LastWorker(PackageId package) const {
  const auto found = faults_.find(package);
  return found == faults_.end() ? WorkerId() : found->second.last_worker;
}

absl::Duration BackOff(uint32_t failures) {
  const uint32_t doublings = std::min(failures == 0 ? 0 : failures - 1, uint32_t{6});
  return std::min(absl::Milliseconds(100) * (1 << doublings), absl::Seconds(5));
}

}  // namespace galley::director
