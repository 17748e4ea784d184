// CheckOutputs, CheckGenerated: hold what a cook made against its cooker's description
// (cooker_description.h). The names of a package's files are told before it is cooked
// (output_names.h), so a description that is not exact would promise files that never come.
//
// Errors: FAILED_PRECONDITION names the cooker, what it made or did not make, and what it declares.
// The cooker or its description is wrong, not the source: the error is no verdict.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/record/observation.h"

namespace galley::record {

struct CookerDescription;

// Checks a cook that succeeded. `suffixes`: its outputs, sorted by bytes. `observed`: its looks at
// the platform, in any order; other looks are ignored. A parameter that a rule of the description
// names must be among them, because the key would not have the parameter otherwise.
absl::Status CheckOutputs(const CookerDescription& cooker, std::string_view settings_json,
                          std::span<const Observed> observed,
                          std::span<const std::string> suffixes);

// Checks a load or a cook that generated the package `name` ("_gen/cell_0_1.level").
absl::Status CheckGenerated(const CookerDescription& cooker, std::string_view name);

}  // namespace galley::record
