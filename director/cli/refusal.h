// Refusal: the error of a command line that CLI11 refused, and where help is.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace galley::cli {

// The error when an argument is an empty string, as from a script's variable that is not set: what
// it would mean is never what was meant. Empty: no argument is.
std::string EmptyArgument(const CLI::App& app);
// The error when a word before the options names no command, with the nearest that there is; empty:
// there is no such word. (CLI11 answers --help before it has looked at them.)
std::string UnknownCommand(const CLI::App& app, std::span<const std::string> arguments);
// Looks at what CLI11 did not: commands and options that nobody has are compared with those that
// are there.
std::string Refusal(const CLI::App& app, const CLI::ParseError& error,
                    std::span<const std::string> arguments);

}  // namespace galley::cli
