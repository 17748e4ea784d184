// The groups of commands that AddCommands (arguments.h) is made of, and what they share.
#pragma once

#include <string>
#include <vector>

#include "director/cli/arguments.h"

namespace galley::cli {

// A command with the options that every one takes; `run` becomes the action when it is named.
CLI::App* AddCommand(CLI::App& parent, Arguments& arguments, const char* name, const char* help,
                     Arguments::Action run);
// A command that is not built yet: it is parsed, and answered with exit 2.
void AddLater(CLI::App& parent, Arguments& arguments, const char* name);
// Options that are not built yet, likewise. They take what they will take: flags nothing (but
// "--name=VALUE", where a flag may have one), the others a value.
struct LaterOptions {
  std::vector<std::string> flags, with_value;
};
void NotYet(CLI::App& command, const LaterOptions& later, const GlobalOptions& options,
            Arguments::Action& action);

void AddCook(CLI::App& app, Arguments& arguments);
void AddDirectorCommands(CLI::App& app, Arguments& arguments);
void AddTreeCommands(CLI::App& app, Arguments& arguments);
void AddStoreCommands(CLI::App& app, Arguments& arguments);

}  // namespace galley::cli
