// The man page, made from the help.
#pragma once

#include <string>
#include <string_view>

#include "director/cli/command_tree.h"

namespace galley::cli {

// Returns roff with the macros of man(7): for galley.1. `version`: "galley 0.1.0".
std::string ManPage(const CommandHelp& galley, std::string_view version);

}  // namespace galley::cli
