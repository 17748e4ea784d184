// Completion: shell completions, made from the commands: text for a shell to read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "director/cli/command_tree.h"

namespace galley::cli {

inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

// REQUIRES: `shell` is one of kShells. The script's first lines say how to install it.
std::string CompletionFor(std::string_view shell, const CommandHelp& galley);

}  // namespace galley::cli
