// RegistryOnDisk: the registry of a project as the last cook left it, from its file; a file that is
// absent, damaged or of another state of the journal is made anew.
//
//   .galley/state/registry/table   registry_table.h
//
// Threads: none; blocks.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/registry/registry_table.h"

namespace galley::director {

struct RegistryOnDisk {
  std::shared_ptr<const RegistryTable> table;
  bool is_made_anew = false;
};

// Errors as ScanProject, and the journal's.
// Cost: O(1), or that of a scan and of RegistryRowsOf, where the table is made anew. A new table is
// kept where no director runs: then its journal stands still.
absl::StatusOr<RegistryOnDisk> OpenRegistryOnDisk(const project::Project& project);

// The same, though the file looks right: a part of it was found damaged.
absl::StatusOr<RegistryOnDisk> RemakeRegistryOnDisk(const project::Project& project);

}  // namespace galley::director
