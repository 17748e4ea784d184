// InputAffinity: which inputs are *warm* at which worker: the inputs of the last jobs that it got.
//
// An input is a 64-bit id of anything that jobs have in common. For each worker the last kInputsMax
// inputs are kept, and for each input the last kHoldersMax workers.
//
// Cost: O(inputs); Note compares up to kInputsMax + kHoldersMax ids for each input.
// Threads: none; owned by its layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "director/core/ids.h"

namespace galley::director {

class InputAffinity {
 public:
  static constexpr size_t kInputsMax = 128;
  static constexpr size_t kHoldersMax = 8;

  // The worker reads these inputs now.
  void Note(WorkerId worker, std::span<const uint64_t> inputs);
  void Forget(WorkerId worker);
  struct Holder {
    WorkerId worker;
    double share = 0;  // of the inputs that are warm there, 0 to 1
    bool operator==(const Holder&) const = default;
  };
  // The workers where some of `inputs` are warm: largest share first, then by id. REQUIRES:
  // `inputs` has no repeats.
  std::vector<Holder> Holders(std::span<const uint64_t> inputs) const;

 private:
  void Unhold(WorkerId worker, uint64_t input);

  absl::flat_hash_map<WorkerId, std::vector<uint64_t>> inputs_;   // the newest last
  absl::flat_hash_map<uint64_t, std::vector<WorkerId>> holders_;  // the newest last; none is empty
};

}  // namespace galley::director
