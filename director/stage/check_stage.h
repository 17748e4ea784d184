// CheckStage: whether a sandbox is what its root says. Nothing is changed, nothing is locked.
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
    kStaged,       // all below is known
    kAbsent,       // nothing was staged there
    kBusy,         // somebody stages there
    kInterrupted,  // a stage was cut off: the next one completes it
    kUnknown,      // the sandbox's own files are damaged, or gone
  };
  State state = State::kAbsent;
  std::optional<Digest> root;  // kStaged: what the sandbox says that it holds
  uint64_t equal = 0;          // files of the root that lie there as they should
  // Sorted. A file of an earlier narrow cook that is gone is missing, too.
  std::vector<std::string> missing, changed;
  std::vector<std::string> foreign;  // never put there by Galley: they may stay

  bool IsEqual() const { return state == State::kStaged && missing.empty() && changed.empty(); }
};

// Any error: the sandbox or the tree could not be read. Blocking: reads all files of the sandbox.
absl::StatusOr<StageCheck> CheckStage(store::Store& store, const std::string& directory);

}  // namespace galley::director
