// SortUnique: sorts a list and removes duplicates.
#pragma once

#include <algorithm>
#include <vector>

namespace galley {

template <typename T>
void SortUnique(std::vector<T>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace galley
