// InputAffinity: which inputs are warm at which worker: the inputs of the jobs that the worker was
// given last.
//
// An input is any 64-bit id of something that jobs have in common. A worker is remembered for
// kInputsMax inputs, and an input for kHoldersMax workers; the oldest are forgotten first.
//
// Cost: one look-up for each input, and in Note as many comparisons as the bounds say.
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
    double share = 0;  // of the inputs that is warm there: up to 1
    bool operator==(const Holder&) const = default;
  };
  // The workers where some of `inputs`, each named once, are warm: the largest share first, then by
  // id.
  std::vector<Holder> Holders(std::span<const uint64_t> inputs) const;

 private:
  void Unhold(WorkerId worker, uint64_t input);

  absl::flat_hash_map<WorkerId, std::vector<uint64_t>> inputs_;   // the newest last
  absl::flat_hash_map<uint64_t, std::vector<WorkerId>> holders_;  // the newest last; none is empty
};

}  // namespace galley::director
