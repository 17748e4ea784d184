// What is wrong with a command line that CLI11 refused, and where help is.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace galley::cli {

// Looks at what CLI11 did not: commands and options that nobody has are compared with those that
// are there.
std::string Refusal(const CLI::App& app, const CLI::ParseError& error,
                    std::span<const std::string> arguments);

}  // namespace galley::cli
