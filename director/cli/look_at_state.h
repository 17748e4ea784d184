// LookAtState: finds damage in a project's state and in the marks of its sandboxes, for `galley
// doctor`. Changes nothing; the next cook repairs the damage.
#pragma once

#include <string>
#include <vector>

#include "common/base/finding.h"

namespace galley::cli {

struct StateLook {
  std::vector<Finding> findings;
  // A director has the project and changes its files: nothing was looked at.
  bool is_cooking = false;
};

// `sandboxes`: their folders, which may be absent.
StateLook LookAtState(const std::string& state_directory,
                      const std::vector<std::string>& sandboxes);

}  // namespace galley::cli
