// Ids of the core. A PackageId is dense, from 0, and is reused only after MemoryShort. pools.h says
// how WorkerIds are given.
#pragma once

#include <cstdint>

#include "common/base/strong_id.h"

namespace galley::director {

using PackageId = StrongId<struct PackageTag>;
using WorkerId = StrongId<struct WorkerTag>;
// A result that the shell holds, with its full record, warnings and provenance. The core sees only
// the ResultView.
using ResultId = StrongId<struct ResultTag>;

using PlatformIndex = uint32_t;  // < 32, in the project's order
using PlatformMask = uint32_t;   // bit i: platform i
inline constexpr PlatformMask MaskOf(PlatformIndex platform) { return PlatformMask{1} << platform; }

// The slot of a running cook, below kCooksMax. Another cook may get it when the cook is over.
using CookSlot = uint32_t;
using CookMask = uint64_t;  // bit i: the cook in slot i; and kAsksBit
inline constexpr CookSlot kCooksMax = 32;
inline constexpr CookMask BitOf(CookSlot slot) { return CookMask{1} << slot; }
// The bit of all asks for single packages (cooks/asks.h), which belong to no cook.
inline constexpr CookMask kAsksBit = BitOf(kCooksMax);
inline constexpr CookMask kCooksBits = kAsksBit - 1;

// WorkId: equal for two pairs of package and platform that have the same weak key and platform
// parameters. Their cooks read the same source with the same settings, and differ at most in the
// files around the source. 0: equal to no other, or not known.
using WorkId = uint64_t;

using AttemptId = uint64_t;  // from 1; 0: none. The term is in the upper 24 bits, so that attempts
                             // of earlier directors differ
inline constexpr uint32_t kHomeMachine = 0;  // the director's machine, among the numbered machines
using ReportId = uint64_t;                   // a worker's own numbering

}  // namespace galley::director
