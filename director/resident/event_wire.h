// EventWire: converts a CookEvent to and from proto/galley/v1/director.proto.
//
// Threads: none.
#pragma once

#include <optional>

#include "director/shell/cook_event.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// Sends only the package, platform and source of a result, and everything of a failure except the
// ids of packages and workers.
v1::CookEvent ToWire(const CookEvent& event);
// nullopt: `event` is not a CookEvent but belongs to the stream: begun, missed, report, trace.
std::optional<CookEvent> FromWire(const v1::CookEvent& event);

}  // namespace galley::director
