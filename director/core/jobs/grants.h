// Grants: resources that jobs hold from hand-over to end.
//
// The resources in [resources] belong to the whole farm, and all jobs together hold at most the
// given numbers. Other resources belong to machines: a worker offers what its machine has, and the
// jobs of all workers of the machine together hold at most that. A worker that offers nothing has
// none. An offer may also limit how much of a farm resource its machine may hold.
//
// A resource *group* is what a job asks for: a count of each resource. Groups are numbered in the
// order of first use; group 0 asks for nothing.
// Cost: O(resources of the group); IsFree O(workers that offer any) when some machine's use has
// changed.
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "common/record/worker_offer.h"
#include "director/core/ids.h"

namespace galley::director {

class Grants {
 public:
  explicit Grants(const record::ResourceCounts& totals);

  // False: `*why` names the resource of which the farm has too few.
  bool GroupOf(const record::ResourceCounts& wanted, uint32_t* group, std::string* why);
  record::ResourceCounts WantedBy(uint32_t group) const;
  const record::ResourceCounts& totals() const { return totals_; }
  // True: the group wants more than one unit in all, so that smaller jobs can overtake it.
  bool IsComposite(uint32_t group) const { return groups_[group].is_composite; }
  bool has_composite() const { return has_composite_; }

  // Sets the resources that the machine of an attached worker offers.
  void SetOffer(WorkerId worker, const std::string& machine, const record::ResourceCounts& offered);
  void Forget(WorkerId worker);
  // True: a machine that offers this has enough for a job of the group when nothing is held there.
  bool CanEver(uint32_t group, const record::ResourceCounts& offered) const;

  // True: the farm has enough free, and so has some machine, if any machine ever has enough.
  bool IsFree(uint32_t group) const;
  // FreeOfFarm: how many more jobs of the group the farm's free resources allow. JobsOn: how many a
  // machine with this offer allows when nothing is held there. UINT64_MAX: no limit.
  uint64_t FreeOfFarm(uint32_t group) const;
  uint64_t JobsOn(uint32_t group, const record::ResourceCounts& offered) const;
  // True: the farm has enough free for both groups together, of the resources that `group` wants.
  bool IsFreeBeside(uint32_t group, uint32_t other) const;
  // True: the worker's machine has enough free; the farm is not checked.
  bool IsFreeAt(uint32_t group, WorkerId worker) const;
  // True: the worker's machine has enough free for both groups together, of the resources that both
  // want. `other` is 0: enough for `group`.
  bool IsFreeAtBeside(uint32_t group, uint32_t other, WorkerId worker) const;
  // nullptr: the worker offers nothing.
  const std::string* MachineOf(WorkerId worker) const;
  // True: both workers offer something, and are on one machine.
  bool IsSameMachine(WorkerId a, WorkerId b) const;
  // How many units for a job of the group are missing on the worker's machine. REQUIRES: CanEver.
  uint64_t MissingAt(uint32_t group, WorkerId worker) const;

  // REQUIRES: IsFree(group) and IsFreeAt(group, worker); the attempt holds nothing.
  void Acquire(AttemptId attempt, uint32_t group, WorkerId worker);
  bool Holds(AttemptId attempt) const { return held_.contains(attempt); }
  // Frees the resources that the attempt holds, if any.
  void Release(AttemptId attempt);
  // Returns what `look` returns while these attempts hold nothing. O(held).
  bool LookWithout(const std::vector<AttemptId>& attempts, absl::FunctionRef<bool()> look);

 private:
  struct Resource {
    std::string name;
    std::optional<uint32_t> total;  // of the farm; nullopt: a resource of machines
    uint32_t held = 0;
  };
  struct Wanted {
    size_t resource = 0;
    uint32_t count = 0;
    bool operator==(const Wanted&) const = default;
  };
  struct Group {
    std::vector<Wanted> wanted;  // by resource
    bool is_composite = false;
    // The last answer of FindMachine; valid while `version` is version_.
    mutable uint64_t version = 0;
    mutable bool has_machine = false;
  };
  struct Offer {
    std::string machine;
    record::ResourceCounts resources;
  };
  struct Held {
    uint32_t group = 0;
    std::optional<std::string> machine;  // nullopt: the worker offered nothing
  };
  using Use = absl::btree_map<size_t, uint32_t>;  // by resource; no count is 0

  size_t NumberOf(const std::string& name);
  bool IsLimitedBy(const Group& group, const record::ResourceCounts& offered) const;
  bool FindMachine(uint32_t group) const;
  const Offer& OfferOf(WorkerId worker) const;
  std::optional<uint32_t> LimitOf(size_t resource, const Offer& offer) const;
  uint32_t HeldOn(const std::string& machine, size_t resource) const;
  uint64_t WantedBy(uint32_t group, size_t resource) const;

  const record::ResourceCounts totals_;
  std::vector<Resource> resources_;
  std::vector<Group> groups_;
  absl::btree_map<WorkerId, Offer> offers_;  // of attached workers that offer any
  absl::btree_set<WorkerId> silent_;         // the other attached workers
  absl::btree_map<std::string, Use> use_;    // by machine, where something is held
  absl::btree_map<AttemptId, Held> held_;
  bool has_composite_ = false;
  uint64_t version_ = 1;  // raised when what machines have free changes
};

}  // namespace galley::director
