// MachineTable: the machines of workers, by number and by name, and how jobs fared on them.
//
// Number kHomeMachine is the director's own machine. All workers without a machine name share one
// number, as do workers of further machines when the table is full.
// Cost: O(log machines).
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "director/core/jobs/breaker.h"
#include "director/core/jobs/worker_table.h"

namespace galley::director {

class MachineTable {
 public:
  // Health: how jobs fared on a machine.
  struct Health {
    Breaker breaker;
    std::string why;    // the last fault
    CookMask told = 0;  // the cooks that were told that the machine is held
  };

  // The number of a worker's machine. A worker of Pool::kLocal is on kHomeMachine, whatever its
  // name.
  uint32_t NumberOf(WorkerId worker, const std::string& name);
  const std::string& NameOf(uint32_t machine) const { return names_[machine]; }
  absl::btree_map<uint32_t, Health>& health() { return health_; }
  const absl::btree_map<uint32_t, Health>& health() const { return health_; }
  // True: the last job of the worker or of its machine was a fault (breaker.h), or one of their
  // breakers is open. Null: false.
  bool HasFailed(const Worker* worker) const;

 private:
  absl::btree_map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_ = {"the director's machine"};
  absl::btree_map<uint32_t, Health> health_;
};

}  // namespace galley::director
