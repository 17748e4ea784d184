// Ids of the core. Dense, given out from 0, never reused.
#pragma once

#include <cstdint>

#include "common/base/strong_id.h"

namespace galley::director {

using PackageId = StrongId<struct PackageTag>;
using WorkerId = StrongId<struct WorkerTag>;
// A result that the shell holds: its full record, warnings, provenance. The core sees ResultView
// only.
using ResultId = StrongId<struct ResultTag>;

using PlatformIndex = uint32_t;  // < 32, in the project's order
using PlatformMask = uint32_t;   // bit i: platform i
inline constexpr PlatformMask MaskOf(PlatformIndex platform) { return PlatformMask{1} << platform; }

using CookSlot = uint32_t;  // < kCooksMax: of a cook that runs; given to another when it is over
using CookMask = uint32_t;  // bit i: the cook in slot i
inline constexpr CookSlot kCooksMax = 32;
inline constexpr CookMask BitOf(CookSlot slot) { return CookMask{1} << slot; }

// Equal for packages and platforms whose weak keys and platform parameters are: their cooks read
// the same source with the same settings, and differ at most in what lies around it. 0: equal to
// none, or not known.
using WorkId = uint64_t;

using AttemptId = uint64_t;  // from 1; 0: none. The term is in the upper 24 bits, so that attempts
                             // of earlier directors differ
inline constexpr uint32_t kHomeMachine = 0;  // the director's, of the machines that are numbered
using ReportId = uint64_t;                   // a worker's own numbering

}  // namespace galley::director
