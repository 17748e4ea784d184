// Looks that a cooker always makes, as its description says (cooker_description.h). An observation
// set without one of these looks was forged, or comes from another program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/record/observation.h"

namespace galley::record {

struct CookerDescription;

struct AlwaysLook {
  ObservationKind kind = ObservationKind::kPlatform;
  std::string subject = "";  // empty: any
  bool in_verdicts = false;  // verdicts have the look, too; else a verdict may come before the look
  bool operator==(const AlwaysLook&) const = default;
};

// The looks of a cook of a source with this extension (lower case, without dot) and these settings
// (canonical JSON, complete).
std::vector<AlwaysLook> AlwaysLooksOf(const CookerDescription& cooker, std::string_view extension,
                                      std::string_view settings_json);

// The first look that is missing in `observed`: "platform(texture)", "tool(...)"; empty: none.
// `observed` may be unsorted.
std::string MissingLook(std::span<const AlwaysLook> looks, std::span<const Observed> observed,
                        bool is_verdict);

}  // namespace galley::record
