// CommandTree: the commands of `galley` with their options and help, as plain values.
//
// Completions and the man page are made of it, so that they say what the parser takes. Commands and
// options that are not built yet are left out.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace galley::cli {

struct OptionHelp {
  std::vector<std::string> names;    // "--platform", "-o"; none: a positional argument
  std::string value;                 // "DIR", "NAME"; empty: takes none
  std::vector<std::string> choices;  // all that the value may be; none: anything
  std::string help;
  bool is_repeatable = false;
  bool is_required = false;
};

struct CommandHelp {
  std::string name;  // "gc"
  std::string path;  // "galley store gc"
  std::string help;
  std::vector<OptionHelp> options;
  std::vector<OptionHelp> arguments;  // positional, in their order
  std::vector<CommandHelp> commands;
};

CommandHelp TreeOf(const CLI::App& app);

}  // namespace galley::cli
