// AddCommands: the parts of AddCommands (arguments.h): a function for each group of commands, and
// their helpers.
#pragma once

#include <string>
#include <vector>

#include "director/cli/arguments.h"

namespace galley::cli {

// Adds a command with the options that every command takes; `run` becomes the action when the
// command line names the command.
CLI::App* AddCommand(CLI::App& parent, Arguments& arguments, const char* name, const char* help,
                     Arguments::Action run);
// Adds a command that is not built yet: it is parsed, and ends with exit code 2.
void AddLater(CLI::App& parent, Arguments& arguments, const char* name);
// LaterOptions: options that are not built yet: they are parsed, and end with exit code 2. Flags
// take no value, except as "--name=VALUE" if the flag may have a value; other options take a value.
struct LaterOptions {
  std::vector<std::string> flags, with_value;
};
void NotYet(CLI::App& command, const LaterOptions& later, const GlobalOptions& options,
            Arguments::Action& action);

void AddCook(CLI::App& app, Arguments& arguments);
void AddDirectorCommands(CLI::App& app, Arguments& arguments);
void AddTreeCommands(CLI::App& app, Arguments& arguments);
void AddStoreCommands(CLI::App& app, Arguments& arguments);
void AddMount(CLI::App& app, Arguments& arguments);
void AddQuery(CLI::App& app, Arguments& arguments);
// The options with which a device's client reaches a director.
void AddDeviceConnection(CLI::App& command, DeviceOptions& o);
void AddDeviceCommands(CLI::App& app, Arguments& arguments);

}  // namespace galley::cli
