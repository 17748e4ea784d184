// Disputes: action keys that were cooked twice with different results. Pure.
//
// Two results of one key mean that its cooker is not deterministic, or that a machine is broken:
// nobody can tell which result is right, so neither is used. A dispute, which is a verdict that
// names both, replaces them; only forgetting the key (`galley clean`) ends it. The dispute is sent
// to remote stores, too, so that they use neither.
#pragma once

#include "common/record/result.h"

namespace galley::record {

enum class Standing : uint8_t {
  kStored,   // the stored result
  kGiven,    // the given result: the stored verdict is wrong, or not the cooker's alone
  kDispute,  // neither: DisputeOf both
};

Standing JudgeDispute(const Result& stored, const Result& given);

// A verdict that says how the results differ and who made them, with the provenance of `given`. If
// `given` is a dispute of another store, returns `given`.
Result DisputeOf(const Result& stored, const Result& given);

}  // namespace galley::record
