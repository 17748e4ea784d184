// What a cook comes to, as proto/galley/v1/director.proto carries it.
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

// But for its world, which stays with the director, and its trace, which follows in parts.
void ToWire(const CookReport& report, v1::CookReport& out);
// A digest that is none (a log of a newer Galley, damaged): INVALID_ARGUMENT.
absl::StatusOr<CookReport> FromWire(const v1::CookReport& report);

}  // namespace galley::director
