// Selection: what a cook's request names, taken bit by bit.
#pragma once

#include <cstddef>

#include "director/core/part.h"

namespace galley::director {

class Selection : CookPart {
 public:
  Selection(Core& core, Cook& cook) : CookPart(core, cook) {}

  // Takes what the request selects, as far as the units reach. Returns units.
  size_t SelectSome(size_t units_max);
  size_t selected() const { return selected_next_; }  // so far
  // The request selects others.
  void BeginAgain() { selected_next_ = 0; }
  bool IsAllSelected() const;

 private:
  size_t selected_next_ = 0;
};

}  // namespace galley::director
