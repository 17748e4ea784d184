// CookEvent as proto/galley/v1/director.proto carries it.
//
// Threads: none.
#pragma once

#include <optional>

#include "director/shell/cook_event.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// A result has a package and a platform only, a failure all but ids of packages and workers.
v1::CookEvent ToWire(const CookEvent& event);
// nullopt: the event is of the stream itself (begun, missed, report, trace).
std::optional<CookEvent> FromWire(const v1::CookEvent& event);

}  // namespace galley::director
