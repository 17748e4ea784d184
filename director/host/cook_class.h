// CookClass: converts a CookClass to and from its name for people.
#pragma once

#include <optional>
#include <string_view>

#include "director/core/events.h"

namespace galley::director {

inline std::string_view ClassName(CookClass one) { return CookClassName(one); }

// nullopt: no class has that name.
inline std::optional<CookClass> ClassOfName(std::string_view name) {
  for (const CookClass one :
       {CookClass::kAhead, CookClass::kNightly, CookClass::kCommit, CookClass::kNow}) {
    if (CookClassName(one) == name) return one;
  }
  return std::nullopt;
}

}  // namespace galley::director
