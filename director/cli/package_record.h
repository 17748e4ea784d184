// OpenedPackage: the journal's record of a package that the command line names.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "common/record/result.h"
#include "director/cli/global_options.h"
#include "director/journal/journal.h"
#include "nlohmann/json.hpp"

namespace galley::cli {

struct OpenedPackage {
  project::Project project;
  std::unique_ptr<director::Journal> journal;  // opened for reading
  std::string package;                         // virtual
  director::PackageRecord record;
  bool is_recorded = false;
};

// INVALID_ARGUMENT: no project, or no cook yet.
absl::StatusOr<OpenedPackage> OpenEvenIfUnknown(const GlobalOptions& options,
                                                const std::string& argument);
// Says why there is no record: no such file, no rule, never cooked, or nothing has asked for the
// package yet.
absl::Status NotRecorded(const OpenedPackage& opened);

// INVALID_ARGUMENT: no project, no cook yet, or the package was in no cook.
absl::StatusOr<OpenedPackage> OpenPackage(const GlobalOptions& options,
                                          const std::string& argument);

// Returns who made a result, when and where.
nlohmann::json ProvenanceJson(const record::Provenance& provenance);

// Returns the error if the project has no platform of this name; empty: the platform exists, or
// `platform` is empty.
std::string UnknownPlatform(const project::Project& project, const std::string& platform);

}  // namespace galley::cli
