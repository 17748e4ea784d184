// Waiting: what a package waited for has changed; its generator may be over, or list it by now.
// Threads: none; owned by Core.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class Waiting : Part {
 public:
  explicit Waiting(Core& core) : Part(core) {}

  void EvaluateWaits(PackageId package);
  void EvaluateGenerator(PackageId package);
  void WaitForGenerator(PackageId package, PackageId generator);
  // The package's generator is over and does not list it. A reference to it is judged at the end.
  void Unlisted(PackageId package, PackageId generator);

 private:
  void WantAgain(PackageId on, PackageId waiter, CookMask cooks);
};

}  // namespace galley::director
