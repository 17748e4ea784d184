// CookFilter: the packages that one cook leaves out, and the cultures whose variants the cook has.
//
// A filter belongs to a cook and not to the catalog, so cooks with different filters run in one
// core at the same time, and share all other packages. The packages that no cook of the project
// cooks ([cook] never) are in the catalog (CatalogEntry::never_cook).
//
// Threads: any. Immutable, and held by shared_ptr: equal questions have equal answers for as long
// as the cook runs.
#pragma once

#include <string_view>

#include "director/core/catalog.h"

namespace galley::director {

class CookFilter {
 public:
  virtual ~CookFilter() = default;
  // True: IsNever may be true for some name.
  virtual bool has_never() const = 0;
  // True: the cook leaves out the package of this name, whoever refers to it. Packages that a
  // package generates which is left out are left out as well; IsNever need not say so.
  virtual bool IsNever(std::string_view package) const = 0;
  virtual const Cultures& cultures() const = 0;
};

}  // namespace galley::director
