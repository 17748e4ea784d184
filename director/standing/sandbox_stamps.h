// SandboxStamps: the stamps of a sandbox as staging left it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/content/stamp_table.h"
#include "common/store/interface/store.h"

namespace galley::director {

// Returns the table (common/content/stamp_table.h) of the files of `root` in the sandbox
// `directory`, of all folders of these files, and of the file that names the sandbox's owner: as
// long as the table holds, staging `root` again would change nothing and warn of the same.
// FAILED_PRECONDITION: the sandbox is not (or no longer) as its ledger says. REQUIRES: nobody
// stages there meanwhile.
absl::StatusOr<std::string> SandboxStamps(store::Store& store, const Digest& root,
                                          const std::string& directory);

// Returns that table, made from the table `before` of the root `root_before` there, after staging
// replaced the difference. FAILED_PRECONDITION: more differs than the bytes of files.
absl::StatusOr<std::string> SandboxStampsAfter(store::Store& store,
                                               const content::StampTable& before,
                                               const Digest& root_before, const Digest& root,
                                               const std::string& directory);

}  // namespace galley::director
