// What is wrong with a command line that CLI11 refused, and where help is.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace galley::cli {

// Empty: none of the arguments that were given is an empty string. (A script's variable that is not
// set: what it would mean is never what was meant.)
std::string EmptyArgument(const CLI::App& app);
// Empty, or that a word before the options names no command, with the nearest that there is. (CLI11
// answers --help before it has looked at them.)
std::string UnknownCommand(const CLI::App& app, std::span<const std::string> arguments);
// Looks at what CLI11 did not: commands and options that nobody has are compared with those that
// are there.
std::string Refusal(const CLI::App& app, const CLI::ParseError& error,
                    std::span<const std::string> arguments);

}  // namespace galley::cli
