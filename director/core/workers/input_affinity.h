// InputAffinity: which inputs are warm at which worker: those of the jobs that it was given last.
//
// An input is any 64-bit id of something that jobs have in common. Bounded: a worker is remembered
// for kInputsMax inputs, the oldest is forgotten first; an input for kHoldersMax workers.
//
// Cost: one look-up for each input, and in Note as many comparisons as the bounds say.
// Threads: none; owned by the core.
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

  // The worker reads these now.
  void Note(WorkerId worker, std::span<const uint64_t> inputs);
  void Forget(WorkerId worker);
  struct Holder {
    WorkerId worker;
    double share = 0;  // of the inputs, warm there: up to 1
    bool operator==(const Holder&) const = default;
  };
  // Where some of `inputs`, each named once, are warm: the most first, then by id.
  std::vector<Holder> Holders(std::span<const uint64_t> inputs) const;

 private:
  void Unhold(WorkerId worker, uint64_t input);

  absl::flat_hash_map<WorkerId, std::vector<uint64_t>> inputs_;   // the newest last
  absl::flat_hash_map<uint64_t, std::vector<WorkerId>> holders_;  // the newest last; none is empty
};

}  // namespace galley::director
