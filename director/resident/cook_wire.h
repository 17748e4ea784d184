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

// A report but for its world, which stays with the director.
struct ReportOnWire {
  CookReport report;
  absl::Duration total;
  uint64_t bytes_fetched = 0;
};
void ToWire(const ReportOnWire& report, v1::CookReport& out);
// A digest that is none (a log of a newer Galley, damaged): INVALID_ARGUMENT.
absl::StatusOr<ReportOnWire> FromWire(const v1::CookReport& report);

}  // namespace galley::director
