// CookWire: converts the report of a cook to and from proto/galley/v1/director.proto.
//
// Threads: none.
#pragma once

#include "absl/status/statusor.h"
#include "director/host/cook_report.h"
#include "director/shell/director_shell.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

void ToWire(const Counters& counters, v1::CookCounters& out);
Counters FromWire(const v1::CookCounters& counters);

// Converts without the world, which stays with the director, and the trace, which is sent in parts.
void ToWire(const CookReport& report, v1::CookReport& out);
// INVALID_ARGUMENT: a digest is malformed (a log of a newer Galley, or damaged).
absl::StatusOr<CookReport> FromWire(const v1::CookReport& report);

}  // namespace galley::director
