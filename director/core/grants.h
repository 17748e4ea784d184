// Grants: the director's grants of resource classes ([resources]: gpu, a licence count). An attempt
// whose recipe names classes holds one unit of each from hand-over to end.
//
// A resource *group* is a set of classes, numbered in the order met; group 0 is the empty set.
// Cost: O(classes of the group).
// Threads: none; owned by the core.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace galley::director {

class Grants {
 public:
  explicit Grants(const std::vector<std::pair<std::string, uint32_t>>& resources);
  // The group of these classes. False: `*unknown` is a class that [resources] does not name, or
  // names with 0.
  bool GroupOf(std::vector<std::string> classes, uint32_t* group, std::string* unknown);
  bool IsFree(uint32_t group) const;
  // REQUIRES: IsFree(group).
  void Acquire(uint32_t group);
  void Release(uint32_t group);

 private:
  struct Class {
    std::string name;
    uint32_t free = 0;
    uint32_t count = 0;
  };
  std::vector<Class> classes_;
  std::vector<std::vector<size_t>> groups_;  // sorted indexes
};

}  // namespace galley::director
