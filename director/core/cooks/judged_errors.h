// Judged errors: why a package fails though its results stand: references that lead nowhere, and
// warnings that the project makes errors ([warnings] in galley.toml). Cooks (CookValidation), asks
// (Asks) and what devices see (director/resident) judge by the same rules, so that a device is
// answered what a cook would say.
// Threads: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "common/record/result.h"
#include "common/record/warning.h"
#include "director/core/catalog.h"
#include "director/core/effects.h"
#include "director/core/packages/package_data.h"

namespace galley::director {

// The warning that the problem is, unless it is an error: a hard reference that leads nowhere.
record::Warning WarningOf(const Problem& problem);
// True: a hard reference that leads nowhere.
bool IsError(const Problem& problem);
// Makes an error of a warning for which the rules say so.
void ApplyRules(const record::WarningRules& rules, Problem& problem);
// Gathers all errors among the problems, in one text for the platforms with the same errors.
absl::btree_map<std::string, PlatformMask> ErrorsOf(const std::vector<Problem>& problems);
// The first of the warnings, as a result keeps them, that fails the result; empty: none.
std::string WarningErrorOf(const std::vector<std::string>& warnings,
                           const record::WarningRules& rules);

struct JudgedError {
  Stage stage = Stage::kLoad;
  std::string error;
};
// Why a package of this name fails though a result with these references and warnings stands;
// nullopt: it does not. Whether a generator lists the target of a reference is not judged, nor
// anything that depends on what else is in a cook.
std::optional<JudgedError> JudgeResult(const Catalog& catalog, const std::string& name,
                                       const std::vector<record::Reference>& references,
                                       const std::vector<std::string>& warnings);

}  // namespace galley::director
