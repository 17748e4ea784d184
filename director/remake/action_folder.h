// LayOutAction: lays out a kept Action as a folder in which `galley-worker exec-action` runs it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/record/kept_action.h"
#include "common/store/interface/store.h"

namespace galley::director {

// AbsentInput: an input that is gone.
struct AbsentInput {
  Digest digest;
  // The path in the input root ("rel/1/inc/common.glsl"), or the path of a program of the machine.
  std::string path;
  std::string what;  // for people: "file(../inc/common.glsl)", "the source"
};

// Writes `action`, `command` and `input/` into `directory`, with verified copies of the inputs.
// Returns the inputs that are absent, or whose stored bytes are wrong; none: the folder is
// complete. CANCELLED: `stop` was cancelled. RESOURCE_EXHAUSTED: the disk has no room. Blocks.
absl::StatusOr<std::vector<AbsentInput>> LayOutAction(const record::KeptAction& kept,
                                                      store::BlobStore& store,
                                                      const std::string& directory,
                                                      const Cancellation& stop);

}  // namespace galley::director
