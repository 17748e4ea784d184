// CheckStage: compares a sandbox with its root. Changes nothing, and takes no lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::director {

struct StageCheck {
  enum class State {
    kStaged,       // all fields below are known
    kAbsent,       // nothing was staged there
    kBusy,         // somebody stages there
    kInterrupted,  // a stage was interrupted: the next stage completes it
    kUnknown,      // the sandbox's own files are damaged, or gone
  };
  State state = State::kAbsent;
  std::optional<Digest> root;  // kStaged: the root that the sandbox names
  uint64_t equal = 0;          // files of the root that lie there unchanged
  // Sorted paths. `missing` includes files that an earlier narrow cook left out.
  std::vector<std::string> missing, changed;
  std::vector<std::string> foreign;  // files that Galley never put there: they may stay

  bool IsEqual() const { return state == State::kStaged && missing.empty() && changed.empty(); }
};

// Any error: the sandbox or the tree could not be read. Blocks: reads all files of the sandbox.
absl::StatusOr<StageCheck> CheckStage(store::Store& store, const std::string& directory);

}  // namespace galley::director
