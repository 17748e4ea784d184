// Beginning: a package that some cook wants is found in the catalog, and is looked up if it may be
// cooked.
// Threads: none; owned by Core.
#pragma once

#include "director/core/catalog.h"
#include "director/core/part.h"

namespace galley::director {

class Beginning : Part {
 public:
  explicit Beginning(Core& core) : Part(core) {}

  void Begin(PackageId package);

 private:
  CookMask NamersOf(PackageId package);
  bool MayCook(PackageId package, const CatalogEntry& entry);
  bool BeginGenerated(PackageId package);
};

}  // namespace galley::director
