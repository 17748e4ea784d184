#include "director/core/jobs/machine_table.h"

namespace galley::director {
namespace {

// Names; all workers under further names are on one machine.
constexpr size_t kMachinesMax = 65'536;

}  // namespace

uint32_t MachineTable::NumberOf(WorkerId worker, const std::string& name) {
  if (PoolOf(worker) == Pool::kLocal) return kHomeMachine;
  if (numbers_.size() >= kMachinesMax && !name.empty() && !numbers_.contains(name))
    return NumberOf(worker, "");
  const auto [at, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(name.empty() ? "a machine without a name" : name);
  return at->second;
}

bool MachineTable::HasFailed(const Worker* worker) const {
  if (worker == nullptr) return false;
  if (worker->health.breaker.has_faults() || worker->health.breaker.is_open()) return true;
  const auto machine = health_.find(worker->machine);
  return machine != health_.end() &&
         (machine->second.breaker.has_faults() || machine->second.breaker.is_open());
}

}  // namespace galley::director
