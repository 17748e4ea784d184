// DryRun: predicts the outcome of a cook: the packages that it would cook, and why; failures; files
// that would leave its roots; warnings. The sources are the journal, the present files, and the
// core's own decisions (foreseen_cook.h). Nothing is looked up in the action cache, cooked or
// written.
//
// A package whose inputs differ from the last cook is sure to be looked up, and cooked if the store
// has no result of its inputs. A package that reads the output of such a package, or is generated
// by it, is cooked only if that output differs. A package that is new, or whose source changed, may
// refer to packages that nobody knows yet.
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
#include "director/host/foreseen_cook.h"
#include "director/host/scanned_project.h"
#include "director/journal/journal.h"

namespace galley::director {

struct PackageToCook {
  std::string package;
  std::string why;            // for people
  bool is_sure = true;        // false: cooked only if an input differs
  bool is_new = false;        // without a result: its cost and references are unknown
  absl::Duration expected;    // sum of its last cooks on the platforms of the ask
  uint64_t output_bytes = 0;  // sum of its last results on the platforms of the ask
};

struct FailingPackage {
  std::string package;
  std::string platform;  // empty: all platforms of the ask
  std::string error;
};

struct RemovedFile {
  std::string platform;
  std::string path;  // in the cooked tree
  auto operator<=>(const RemovedFile&) const = default;
};

struct DryRun {
  std::vector<PackageToCook> packages;  // sorted by name
  uint64_t up_to_date = 0;              // packages
  // Packages that fail for certain: the core refuses them, or they failed by a verdict on the same
  // inputs. Sorted by name.
  std::vector<FailingPackage> failing;
  std::vector<RemovedFile> removed;       // from the last roots; sorted
  std::vector<std::string> unmatched;     // files that no rule matches; sorted
  std::vector<ForeseenWarning> warnings;  // without a package: about the project
  // True: `packages`, `failing` and `removed` may lack some, because a package that is to be cooked
  // may refer to packages that nobody knows yet.
  bool is_at_least = false;
  // Why the journal's records cannot be used; empty: they can.
  std::string nothing_holds;
  // Why packages that count as up to date may have to be cooked; empty: there is no reason.
  std::string may_lack;
};

struct DryRunDeps {
  const v1::CookAsk& ask;
  const ScannedProject& scanned;
  Journal* journal = nullptr;  // for reading; null: there was no cook yet
  std::string store_id;        // empty: there is no store
  uint64_t store_epoch = 0;    // its loss epoch
  const std::map<std::string, std::string>& environment;  // what env(...) observes
};

// Predicts the outcome of a cook of the ask. INVALID_ARGUMENT: the ask names something that does
// not exist. Cost: linear in the packages of the cook, and one scan of the journal.
absl::StatusOr<DryRun> LookAhead(const DryRunDeps& deps);

}  // namespace galley::director
