// Explored: the packages that a result generates join the cook, and its references are followed
// when the turn of its package comes. Threads: none; owned by Core.
#pragma once

#include <string>

#include "director/core/part.h"

namespace galley::director {

class Explored : Part {
 public:
  explicit Explored(Core& core) : Part(core) {}

  // The platform came to this result, or its load to this list (`is_result` is false), which may be
  // incomplete.
  void SetExplored(PackageId package, PlatformIndex platform, const ResultViewPtr& view,
                   bool is_result);

 private:
  void RegisterGenerated(PackageId package, const ResultView& view, bool is_result);
  void FailGenerator(PackageId package, const std::string& error);
};

}  // namespace galley::director
