// Grants: resources that jobs hold from hand-over to end.
//
// Resources that [resources] names are of the whole farm: all jobs in hand together hold at most so
// many. The others are of machines: a worker says how many its machine has, and the jobs in the
// hands of all workers of that machine hold at most so many; one that says nothing has none. Of a
// resource of the farm a worker may say how many its machine may hold of it; one that says nothing
// may hold all.
//
// A resource *group* is what one job asks for: so many of each, numbered in the order met; group 0
// is nothing.
// Cost: O(resources of the group), and O(workers that offer any) for IsFree when somebody's share
// of a machine changed since.
// Threads: none; owned by the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "common/record/worker_offer.h"
#include "director/core/ids.h"

namespace galley::director {

class Grants {
 public:
  explicit Grants(const record::ResourceCounts& totals);

  // False: `*why` says of which resource of the farm there are less.
  bool GroupOf(const record::ResourceCounts& wanted, uint32_t* group, std::string* why);
  record::ResourceCounts WantedBy(uint32_t group) const;
  const record::ResourceCounts& totals() const { return totals_; }
  // More than one in all: others that want less can overtake it.
  bool IsComposite(uint32_t group) const { return groups_[group].is_composite; }
  bool has_composite() const { return has_composite_; }

  // An attached worker, and what its machine has.
  void SetOffer(WorkerId worker, const std::string& machine, const record::ResourceCounts& offered);
  void Forget(WorkerId worker);
  // A machine that has this could do the group's jobs, as far as resources go.
  bool CanEver(uint32_t group, const record::ResourceCounts& offered) const;

  // Enough is free of the farm, and on the machine of some worker, if any has enough at all.
  bool IsFree(uint32_t group) const;
  // How many more jobs of the group the farm has enough for; of a machine that has this, and where
  // nothing is held. Where nothing limits them: the most that there may be.
  uint64_t FreeOfFarm(uint32_t group) const;
  uint64_t JobsOn(uint32_t group, const record::ResourceCounts& offered) const;
  // Enough is free of the farm, while so many stay free as the other group wants.
  bool IsFreeBeside(uint32_t group, uint32_t other) const;
  // On the worker's machine; the farm is not asked.
  bool IsFreeAt(uint32_t group, WorkerId worker) const;
  // Likewise; true also where the two want nothing in common of the machine.
  bool IsFreeAtBeside(uint32_t group, uint32_t other, WorkerId worker) const;
  // nullptr: it offers nothing.
  const std::string* MachineOf(WorkerId worker) const;
  // Both offer something, of one machine.
  bool IsSameMachine(WorkerId a, WorkerId b) const;
  // How many are missing on the worker's machine. REQUIRES: CanEver.
  uint64_t MissingAt(uint32_t group, WorkerId worker) const;

  // REQUIRES: IsFree(group) and IsFreeAt(group, worker); the attempt holds nothing.
  void Acquire(AttemptId attempt, uint32_t group, WorkerId worker);
  bool Holds(AttemptId attempt) const { return held_.contains(attempt); }
  // What the attempt holds, if anything, is free again.
  void Release(AttemptId attempt);

 private:
  struct Resource {
    std::string name;
    std::optional<uint32_t> total;  // of the farm; nullopt: of machines
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
    // Whether IsFree finds a machine, as of that version.
    mutable uint64_t version = 0;
    mutable bool has_machine = false;
  };
  struct Offer {
    std::string machine;
    record::ResourceCounts resources;
  };
  struct Held {
    uint32_t group = 0;
    std::optional<std::string> machine;  // nullopt: of a worker that offered nothing
  };
  using Use = absl::btree_map<size_t, uint32_t>;  // by resource; none is 0

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
  absl::btree_map<WorkerId, Offer> offers_;  // of the attached that offer some
  absl::btree_set<WorkerId> silent_;         // the other attached ones
  absl::btree_map<std::string, Use> use_;    // by machine, of those where something is held
  absl::btree_map<AttemptId, Held> held_;
  bool has_composite_ = false;
  uint64_t version_ = 1;  // raised when a machine has more or less free
};

}  // namespace galley::director
