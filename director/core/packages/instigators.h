// Instigators: the categories of reasons why a package is in the cook. The reasons themselves are
// the backward half of Edges; following the referencers leads to the root causes.
#pragma once

#include <string_view>

#include "director/core/events.h"

namespace galley::director {

// The urgency with which an instigator of this category asks for a package in such a cook.
Urgency UrgencyOf(CookClass of_class, InstigatorCategory category);
std::string_view UrgencyName(Urgency urgency);  // "normal"
// "HardDependency"
std::string_view CategoryName(InstigatorCategory category);

}  // namespace galley::director
