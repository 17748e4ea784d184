// Looks that a cooker always makes, as its description says (cooker_description.h). An observation
// set without one of them is not of that cooker: somebody made it up, or another program made it.
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
  bool in_verdicts = false;  // a verdict has it as well; else it may have come before
  bool operator==(const AlwaysLook&) const = default;
};

// The looks of a cook of a source with this extension (lower case, without dot) by these settings
// (canonical JSON, all of them).
std::vector<AlwaysLook> AlwaysLooksOf(const CookerDescription& cooker, std::string_view extension,
                                      std::string_view settings_json);

// The first of them that was not made: "platform(texture)", "tool(...)"; empty: all were.
// `observed`: sorted or not.
std::string MissingLook(std::span<const AlwaysLook> looks, std::span<const Observed> observed,
                        bool is_verdict);

}  // namespace galley::record
