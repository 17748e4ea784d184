// Runs one Action from a folder, with no director and no network.
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
  std::vector<File> files;  // what was written, sorted; out/details last
  bool is_verdict = false;
  std::string error;  // of a verdict
  std::string log;
};

// `directory` holds `action`, `command` and `input/` (record/action.h); writes `directory`/out/
// anew. INVALID_ARGUMENT: `action` or `command` is malformed; FAILED_PRECONDITION: the input root
// is not the one that the Action names (says which file differs), or another cooker identity; other
// codes: trouble of the machine.
absl::StatusOr<ActionOutcome> ExecAction(const std::string& directory, const Cookers& cookers);

// `root` is an input root laid out; runs its recipe, which must name `cooker`, and writes
// `root`/out/. As a REAPI worker starts `galley-cook`.
absl::StatusOr<ActionOutcome> CookInRoot(const std::string& root, std::string_view cooker,
                                         const Cookers& cookers);

// The digest of a folder on disk as a canonical REAPI Directory. INVALID_ARGUMENT: it holds links
// or other odd files.
absl::StatusOr<Digest> HashInputRoot(const std::string& directory);

}  // namespace galley::worker
