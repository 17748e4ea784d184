// Decision: what is to be done with a file, and why.
#pragma once

#include <string>
#include <vector>

#include "director/cli/init/json_source.h"

namespace galley::init {

enum class Action {
  kCook,      // by a cooker that makes another file of it
  kCopy,      // by the cooker `copy`
  kRead,      // no package: the cooks of other files read it
  kRename,    // no package can have its name: a cook fails for it, or warns of it
  kLeaveOut,  // no package: no game loads it
};

struct Decision {
  Action action = Action::kCopy;
  std::string cooker;    // kCook: "texture"; kCopy: "copy"
  std::string settings;  // as galley.toml has them: `usage = "normal"`; "" when there are none
  std::string reason;

  // Equal decisions share a rule.
  bool SameRule(const Decision& other) const {
    return action == other.action && cooker == other.cooker && settings == other.settings;
  }
};

Decision CookBy(std::string cooker, std::string reason);
Decision Copy(std::string reason);
Decision ReadByOthers(std::string reason);
Decision Rename(std::string reason);
Decision LeaveOut(std::string reason);

}  // namespace galley::init
