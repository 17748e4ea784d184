// SandboxStamps: the stamps of a sandbox's files after staging.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/content/stamp_table.h"
#include "common/store/interface/store.h"

namespace galley::director {

// Returns the table (common/content/stamp_table.h) of the files of `root` in the sandbox
// `directory`, of all their folders, and of the file that names the sandbox's owner: while the
// table holds, staging `root` again would change nothing and give the same warnings.
// FAILED_PRECONDITION: the sandbox differs from its ledger. REQUIRES: nobody stages there
// meanwhile.
absl::StatusOr<std::string> SandboxStamps(store::Store& store, const Digest& root,
                                          const std::string& directory);

// Returns the same table after staging replaced the difference from `root_before` to `root`, from
// the table `before` of `root_before`. FAILED_PRECONDITION: more differs than the bytes of files.
absl::StatusOr<std::string> SandboxStampsAfter(store::Store& store,
                                               const content::StampTable& before,
                                               const Digest& root_before, const Digest& root,
                                               const std::string& directory);

}  // namespace galley::director
