// Refusal: the error of a command line that CLI11 refused, and where help is.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace galley::cli {

// Returns the error if an argument is an empty string, which is hardly meant: it comes from an
// unset variable of a script. Empty: no argument is empty.
std::string EmptyArgument(const CLI::App& app);
// Returns the error when a word before the options names no command, with the nearest command;
// empty: there is no such word. CLI11 answers --help before it has looked at these words.
std::string UnknownCommand(const CLI::App& app, std::span<const std::string> arguments);
// Adds what CLI11 leaves out: unknown commands and options are compared with known names.
std::string Refusal(const CLI::App& app, const CLI::ParseError& error,
                    std::span<const std::string> arguments);

}  // namespace galley::cli
