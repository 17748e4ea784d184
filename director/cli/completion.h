// Shell completions, made from the commands: text for a shell to read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "director/cli/command_tree.h"

namespace galley::cli {

inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

// REQUIRES: `shell` is one of kShells. How to install it is said in the script's first lines.
std::string CompletionFor(std::string_view shell, const CommandHelp& galley);

}  // namespace galley::cli
