// Looks: host paths at which a program looked, with links to folders resolved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace galley::worker {

struct Looks {
  static constexpr size_t kMax = 65'536;

  enum class Found : uint8_t { kAbsent, kFile, kFolder, kOther };
  // The first result at each path.
  std::map<std::string, Found> found;
  // Paths in `found`: the program may have read the file's bytes or the folder's names.
  std::set<std::string> opened;
};

}  // namespace galley::worker
