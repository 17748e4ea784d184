// What a cook is asked for and comes to, as proto/galley/v1/director.proto carries it.
//
// Threads: none.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/host/cook_ask.h"
#include "director/host/cook_report.h"
#include "director/shell/director_shell.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// But for the platforms: their numbers are the director's, their names go over the wire.
void ToWire(const CookAsk& ask, v1::CookAsk& out);
// `project`: the director's. INVALID_ARGUMENT: a platform or class that it does not know.
absl::StatusOr<CookAsk> FromWire(const v1::CookAsk& ask, const project::Project& project);
// A few words for people: "by the book", "/Game/a.png and 3 more".
std::string WhatIsAsked(const v1::CookAsk& ask);

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
