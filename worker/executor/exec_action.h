// ExecAction: runs an Action from a folder, with no director and no network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "worker/executor/run_job.h"

namespace galley::worker {

struct ActionOutcome {
  struct File {
    std::string path;  // "out/output.ktx2"
    Digest digest;
  };
  std::vector<File> files;  // the written files, sorted; out/details last
  bool is_verdict = false;
  std::string error;  // a verdict's text
  std::string log;
};

// Runs the Action in `directory`, which holds `action`, `command` and `input/` (record/action.h);
// writes `directory`/out/ anew. INVALID_ARGUMENT: `action` or `command` is malformed.
// FAILED_PRECONDITION: the Action names another input root, and the error says which file differs;
// or it names another cooker identity. Other codes: trouble of the machine.
absl::StatusOr<ActionOutcome> ExecAction(const std::string& directory, const Cookers& cookers);

// Runs the recipe in the input root `root`, as a REAPI worker starts `galley-cook`. The recipe must
// name `cooker`. Writes `root`/out/.
absl::StatusOr<ActionOutcome> CookInRoot(const std::string& root, std::string_view cooker,
                                         const Cookers& cookers);

// The digest of a folder on disk as a canonical REAPI Directory. INVALID_ARGUMENT: the folder holds
// links or other odd files.
absl::StatusOr<Digest> HashInputRoot(const std::string& directory);

}  // namespace galley::worker
