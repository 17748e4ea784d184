#include "director/core/grants.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace galley::director {

Grants::Grants(const std::vector<std::pair<std::string, uint32_t>>& resources) : groups_(1) {
  for (const auto& [name, count] : resources) classes_.push_back({name, count, count});
}

bool Grants::GroupOf(std::vector<std::string> classes, uint32_t* group, std::string* unknown) {
  std::vector<size_t> indexes;
  for (const std::string& name : classes) {
    const auto found = std::find_if(classes_.begin(), classes_.end(),
                                    [&](const Class& c) { return c.name == name; });
    if (found == classes_.end() || found->count == 0) {
      *unknown = name;
      return false;
    }
    indexes.push_back(static_cast<size_t>(found - classes_.begin()));
  }
  std::sort(indexes.begin(), indexes.end());
  indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
  const auto found = std::find(groups_.begin(), groups_.end(), indexes);
  *group = static_cast<uint32_t>(found - groups_.begin());
  if (found == groups_.end()) groups_.push_back(std::move(indexes));
  return true;
}

bool Grants::IsFree(uint32_t group) const {
  const std::vector<size_t>& indexes = groups_[group];
  return std::all_of(indexes.begin(), indexes.end(),
                     [&](size_t index) { return classes_[index].free > 0; });
}

void Grants::Acquire(uint32_t group) {
  GALLEY_CHECK(IsFree(group));
  for (const size_t index : groups_[group]) --classes_[index].free;
}

void Grants::Release(uint32_t group) {
  for (const size_t index : groups_[group]) {
    GALLEY_CHECK(classes_[index].free < classes_[index].count);
    ++classes_[index].free;
  }
}

}  // namespace galley::director
