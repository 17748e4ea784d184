// Looks: the finds of a program, by host paths without links in their folders.
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
  // The first find at each path.
  std::map<std::string, Found> found;
  // The paths among `found` whose bytes (files) or names (folders) the program may have read.
  std::set<std::string> opened;
};

}  // namespace galley::worker
