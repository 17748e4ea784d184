#include "director/core/blame.h"

#include <algorithm>

namespace galley::director {

uint32_t Blame::AddOwnFault(PackageId package, WorkerId worker) {
  Faults& faults = faults_[package];
  if (std::find(faults.workers.begin(), faults.workers.end(), worker) == faults.workers.end())
    faults.workers.push_back(worker);
  return ++faults.own;
}

void Blame::AddEarlierFaults(PackageId package, uint32_t count) {
  uint32_t& own = faults_[package].own;
  own = std::max(own, count);
}

uint32_t Blame::AddInfrastructureFault(PackageId package) {
  return ++faults_[package].infrastructure;
}

const std::vector<WorkerId>& Blame::WorkersOf(PackageId package) const {
  static const std::vector<WorkerId>& none = *new std::vector<WorkerId>();
  const auto found = faults_.find(package);
  return found == faults_.end() ? none : found->second.workers;
}

bool Blame::HasFailedOn(PackageId package, WorkerId worker) const {
  const std::vector<WorkerId>& workers = WorkersOf(package);
  return std::find(workers.begin(), workers.end(), worker) != workers.end();
}

Blame::Faults Blame::Of(PackageId package) const {
  const auto found = faults_.find(package);
  return found == faults_.end() ? Faults() : found->second;
}

absl::Duration BackOff(uint32_t failures) {
  const uint32_t doublings = std::min(failures == 0 ? 0 : failures - 1, uint32_t{6});
  return std::min(absl::Milliseconds(100) * (1 << doublings), absl::Seconds(5));
}

}  // namespace galley::director
