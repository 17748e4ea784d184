// The judgement on an action key whose inputs were cooked again and came out otherwise. Pure.
//
// Two outputs of one key mean that its cooker is not deterministic, or that a machine is broken:
// nobody can tell which of them is right, so neither is used. A dispute stands in their place, a
// verdict that names both; only forgetting the key (`galley clean`) ends it. The dispute is sent to
// remote stores, too, and then they use neither.
#pragma once

#include "common/record/result.h"

namespace galley::record {

enum class Standing : uint8_t {
  kStored,   // what is there
  kGiven,    // what came: the judgement that was there was wrong, or not the cooker's alone
  kDispute,  // neither: DisputeOf both
};

Standing WhatStands(const Result& stored, const Result& given);

// A verdict that says where they differ and who made them. Its provenance is that of `given`, which
// is the verdict if it is a dispute of another store.
Result DisputeOf(const Result& stored, const Result& given);

}  // namespace galley::record
