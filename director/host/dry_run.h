// DryRun: what a cook would have to do now, by what the journal knows of the last one and what has
// changed since. Nothing is looked up in the action cache, cooked or written.
//
// What is sure differs from what the last cook saw: such a package is looked up, and cooked if no
// result of the same inputs is in the store. What is not sure reads the output of one that is: when
// that comes out as it was, it is not cooked. A package that was never cooked may refer to others,
// which nobody knows yet.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "director/host/cook_ask.h"
#include "director/host/scanned_project.h"
#include "director/journal/journal.h"

namespace galley::director {

struct PackageToCook {
  std::string package;
  std::string why;  // for people
  bool is_sure = true;
  bool is_new = false;        // there is no result of it: what it costs, and leads to, is unknown
  absl::Duration expected;    // the time of its last cooks, on the platforms of the ask
  uint64_t output_bytes = 0;  // of its last results, likewise
};

struct DryRun {
  std::vector<PackageToCook> packages;  // sorted by name
  uint64_t up_to_date = 0;              // packages
  // Packages that fail before they are cooked, and why; and those that failed by a verdict on
  // inputs that are as they were.
  std::map<std::string, std::string> failing;
  // Why nothing is known to hold; empty: what the journal says does.
  std::string nothing_holds;
  // Why packages may have to be cooked that are said to be up to date; empty: none.
  std::string may_lack;
};

struct DryRunDeps {
  const CookAsk& ask;
  const ScannedProject& scanned;
  Journal* journal = nullptr;  // for reading; null: there was no cook yet
  std::string store_id;        // empty: there is no store
  uint64_t store_epoch = 0;    // its loss epoch
  const std::map<std::string, std::string>& environment;  // what env(...) observes
};

// INVALID_ARGUMENT: the ask names what is not there. Cost: that of the packages in the cook.
absl::StatusOr<DryRun> LookAhead(const DryRunDeps& deps);

}  // namespace galley::director
