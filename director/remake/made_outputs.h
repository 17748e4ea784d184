// CompareOutputs: compares the files that exec-action wrote with the outputs of a result.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/record/result.h"

namespace galley::director {

// UnequalOutput: a file that differs, by its path ("out/output.ktx2").
struct UnequalOutput {
  std::string path;
  std::optional<Digest> recorded;  // nullopt: the result has no such output
  std::optional<Digest> made;      // nullopt: there is no such file
};

// Returns the first difference by path; nullopt: `folder`/out holds exactly the outputs and the
// details of the result. Executable bits count. Blocks. Errors: the disk's.
absl::StatusOr<std::optional<UnequalOutput>> CompareOutputs(const std::string& folder,
                                                            const record::Result& result);

}  // namespace galley::director
