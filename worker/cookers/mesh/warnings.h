// Warnings of the mesh cooker: equal warnings about many places of a file become one with a number.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/record/warning.h"
#include "fmt/format.h"

namespace galley::worker::mesh {

// Warnings: the warnings about one file, in the order in which they were found.
class Warnings {
 public:
  template <typename... Args>
  void Add(fmt::format_string<Args...> text, Args&&... args) {
    texts_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  // The warning keeps this kind, whatever kind it is given when it is passed on.
  template <typename... Args>
  void AddKept(record::WarningKind kind, fmt::format_string<Args...> text, Args&&... args) {
    texts_.push_back(record::KeptWarning(kind, fmt::format(text, std::forward<Args>(args)...)));
  }
  template <typename... Args>
  void AddRepair(fmt::format_string<Args...> text, Args&&... args) {
    AddKept(record::WarningKind::kMeshRepaired, text, std::forward<Args>(args)...);
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// Groups warnings. A warning is "<pointer>: <text>", and the text may begin with a count ("3
// normals have no length"). Warnings of equal text become one, at the place of the first: "<first
// pointer> and 70 other places: <text>", with the sum of their counts. A single warning stays
// unchanged.
std::vector<std::string> Grouped(const std::vector<std::string>& warnings);

}  // namespace galley::worker::mesh
