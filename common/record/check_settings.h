// CheckSettings: finds all errors in a cooker's settings, for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/record/cooker_description.h"

namespace galley::record {

struct SettingError {
  std::string setting;      // empty: no particular setting
  std::string text;         // names the setting, what was expected, and the nearest known
  bool is_missing = false;  // a required setting is not given
};

// The errors for which ResolveSettings would refuse `settings_json`, an object; sorted by setting,
// missing settings last. Empty: ResolveSettings takes it.
std::vector<SettingError> CheckSettings(const CookerDescription& cooker,
                                        std::string_view settings_json);

}  // namespace galley::record
