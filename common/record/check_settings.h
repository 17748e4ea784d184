// CheckSettings: finds all errors in a cooker's settings, so that a person can mend them at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/record/cooker_description.h"

namespace galley::record {

struct SettingError {
  std::string setting;      // empty: no particular setting
  std::string text;         // for people: names the setting, and says what was expected
  bool is_missing = false;  // a required setting is not given
};

// Returns the errors for which ResolveSettings would refuse `settings_json`, sorted by setting,
// missing settings last. Empty: ResolveSettings accepts the settings.
std::vector<SettingError> CheckSettings(const CookerDescription& cooker,
                                        std::string_view settings_json);

}  // namespace galley::record
