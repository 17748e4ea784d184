// LookingUp: questions to the action cache, in batches, and their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "director/core/part.h"

namespace galley::director {

class LookingUp : Part {
 public:
  explicit LookingUp(Core& core) : Part(core) {}

  void SendLookUps();
  void OnLookedUp(const LookedUp& event);
  // Asked or handed over before what the package is made of changed.
  bool IsOutdated(PackageId package, uint64_t generation) const;
  size_t in_flight() const { return in_flight_; }

 private:
  LookUp::Item QuestionFor(PackageId package);
  void NoteLastRead(PackageId package, const std::vector<uint64_t>& read);
  void OnHit(PackageId package, PlatformIndex platform, const LookedUp::Hit& hit);
  void OnNeedsCooked(PackageId package, PlatformIndex platform, const LookedUp::NeedsCooked& needs);

  size_t in_flight_ = 0;
};

}  // namespace galley::director
