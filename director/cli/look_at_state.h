// LookAtState: finds damage in a project's state and in the marks of its sandboxes, for `galley
// doctor`. Nothing is changed; the next cook puts it right.
#pragma once

#include <string>
#include <vector>

#include "common/base/finding.h"

namespace galley::cli {

struct StateLook {
  std::vector<Finding> findings;
  bool is_cooking = false;  // a director has the project: its files change, none was looked at
};

// `sandboxes`: their folders, which may be absent.
StateLook LookAtState(const std::string& state_directory,
                      const std::vector<std::string>& sandboxes);

}  // namespace galley::cli
