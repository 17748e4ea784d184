// Looks: what a program found, by host paths without links in their folders.
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
  // What it found first.
  std::map<std::string, Found> found;
  // Of these: files whose bytes, or folders whose names it may have read.
  std::set<std::string> opened;
};

}  // namespace galley::worker
