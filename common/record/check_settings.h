// CheckSettings: all that is wrong with a cooker's settings, for who tells a person of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/record/cooker_description.h"

namespace galley::record {

struct SettingError {
  std::string setting;      // empty: of none in particular
  std::string text;         // names the setting, what was expected, and the nearest known
  bool is_missing = false;  // a required one that is not given
};

// The settings in `settings_json` (an object) that ResolveSettings would refuse, sorted by setting;
// missing ones come last. Empty: it resolves.
std::vector<SettingError> CheckSettings(const CookerDescription& cooker,
                                        std::string_view settings_json);

}  // namespace galley::record
