// Instigators: names and urgencies of the reasons why a package is in a cook. The reasons
// themselves are the backward edges of Edges.
#pragma once

#include <string_view>

#include "director/core/events.h"

namespace galley::director {

// The urgency of a package that is in a cook of this class for a reason of this category.
Urgency UrgencyOf(CookClass of_class, InstigatorCategory category);
std::string_view UrgencyName(Urgency urgency);  // "normal"
// "HardDependency"
std::string_view CategoryName(InstigatorCategory category);

}  // namespace galley::director
