// Judging: packages are judged for how they fit together: when all is cooked, and with fail_fast as
// soon as their references are known. What comes of it is kept by Judgements.
// Threads: none; owned by Core.
#pragma once

#include "director/core/jobs/judgements.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/warnings.h"

namespace galley::director {

class Judging : PackagePart {
 public:
  Judging(const PackageGround& ground, Judgements& judgements, Warnings& warnings)
      : PackagePart(ground), judgements_(judgements), warnings_(warnings) {}

  // References are those of the last catalog as a whole. False: nothing is to be done for it.
  bool Reexplore(Claimant& cook);
  // A hard reference that leads nowhere fails the package, though its results stand; a soft one is
  // a warning.
  void Judge(Claimant& cook, PackageId package);

 private:
  Judgements& judgements_;
  Warnings& warnings_;
};

}  // namespace galley::director
