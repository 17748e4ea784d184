// EventWire: converts a CookEvent to and from proto/galley/v1/director.proto.
//
// Threads: none.
#pragma once

#include <optional>

#include "director/shell/cook_event.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// A result has only a package and a platform; a failure has everything but ids of packages and
// workers.
v1::CookEvent ToWire(const CookEvent& event);
// nullopt: the event belongs to the stream itself (begun, missed, report, trace).
std::optional<CookEvent> FromWire(const v1::CookEvent& event);

}  // namespace galley::director
