// Judging: packages are judged for how they fit together: when all is cooked, and with fail_fast as
// soon as their references are known.
//
// A package may be judged to have failed in one cook while its results stand for others.
#pragma once

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "director/core/part.h"
#include "director/core/platforms.h"

namespace galley::director {

class Judging : CookPart {
 public:
  Judging(Core& core, Cook& cook);

  // References are those of the last catalog as a whole. False: nothing is to be done for it.
  bool Reexplore();
  // A hard reference that leads nowhere fails the package, though its results stand; a soft one is
  // a warning.
  void Judge(PackageId package);
  void FailJudged(PackageId package, PlatformMask platforms, Stage stage, const std::string& error);
  // The platforms on which the package failed in this cook, whatever becomes of them in others.
  PlatformMask JudgedOf(PackageId package) const;
  // The package failed on these platforms, and is tried again for the sake of another cook.
  void Settle(PackageId package, PlatformMask platforms);
  // The package begins anew, or leaves: whether packages fit in is judged anew, of all that failed
  // so, since each stands against another.
  void Forget(PackageId package);
  // The failures of all packages that are done by themselves are taken back: they are judged anew.
  void TakeBack();
  // Platforms have new numbers: what was not explored yet may have stood for other ones.
  void Remap(const PlatformMap& map);

 private:
  using Map = absl::btree_map<PackageId, PlatformMask>;
  static PlatformMask MaskIn(const Map& map, PackageId package);
  void Set(Map& map, PackageId package, PlatformMask platforms);

  uint32_t judged_epoch_;
  Map judged_;   // for how they fit in: their results stand, and others may read them
  Map settled_;  // Settle
};

}  // namespace galley::director
