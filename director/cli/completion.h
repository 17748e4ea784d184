// Completion: scripts by which shells complete the commands of `galley`, made from a CommandHelp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "director/cli/command_tree.h"

namespace galley::cli {

inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

// Returns a script whose first lines say how to install it. REQUIRES: `shell` is one of kShells.
std::string CompletionFor(std::string_view shell, const CommandHelp& galley);

}  // namespace galley::cli
