#include "director/core/packages/blame.h"

#include <algorithm>

namespace galley::director {

uint32_t Blame::AddOwnFault(PackageId package, const OwnFault& fault) {
  Faults& faults = faults_[package];
  if (faults.own_machines.empty()) faults.first_own_at = fault.awake;
  const auto add = [](auto& all, auto one) {
    const bool is_new = std::ranges::find(all, one) == all.end();
    if (is_new) all.push_back(one);
    return is_new;
  };
  add(faults.workers, fault.worker);
  if (fault.machine != kHomeMachine) add(faults.machines, fault.machine);
  const bool is_elsewhere = add(faults.own_machines, fault.machine);
  const bool are_expected =
      fault.are_others_expected && fault.awake - faults.first_own_at < kOthersMax;
  if (is_elsewhere || !are_expected) ++faults.own;
  return faults.own;
}

void Blame::Avoid(PackageId package, WorkerId worker) {
  std::vector<WorkerId>& workers = faults_[package].workers;
  if (std::ranges::find(workers, worker) == workers.end()) workers.push_back(worker);
}

void Blame::AddEarlierFaults(PackageId package, uint32_t count) {
  uint32_t& own = faults_[package].own;
  own = std::max(own, count);
}

uint32_t Blame::AddInfrastructureFault(PackageId package) {
  return ++faults_[package].infrastructure;
}

bool Blame::AddMachine(PackageId package, uint32_t machine) {
  std::vector<uint32_t>& machines = faults_[package].machines;
  if (std::ranges::find(machines, machine) != machines.end()) return false;
  machines.push_back(machine);
  return true;
}

bool Blame::HasFailedAt(PackageId package, uint32_t machine) const {
  const auto found = faults_.find(package);
  return found != faults_.end() &&
         std::ranges::find(found->second.machines, machine) != found->second.machines.end();
}

bool Blame::HasMachines(PackageId package) const {
  const auto found = faults_.find(package);
  return found != faults_.end() && !found->second.machines.empty();
}

const std::vector<WorkerId>& Blame::WorkersOf(PackageId package) const {
  static const std::vector<WorkerId>& none = *new std::vector<WorkerId>();
  const auto found = faults_.find(package);
  return found == faults_.end() ? none : found->second.workers;
}

bool Blame::HasFailedOn(PackageId package, WorkerId worker) const {
  const std::vector<WorkerId>& workers = WorkersOf(package);
  return std::ranges::find(workers, worker) != workers.end();
}

Blame::Faults Blame::Of(PackageId package) const {
  const auto found = faults_.find(package);
  return found == faults_.end() ? Faults() : found->second;
}

}  // namespace galley::director
