// CommandTree: the commands of `galley` with their options and help, as plain values.
//
// Completions and the man page are made from the tree, so that they agree with the parser. The tree
// leaves out commands and options that are not built yet.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace galley::cli {

struct OptionHelp {
  std::vector<std::string> names;    // "--platform", "-o"; empty: a positional argument
  std::string value;                 // "DIR", "NAME"; empty: takes no value
  std::vector<std::string> choices;  // the only values; empty: any value
  std::string help;
  bool is_repeatable = false;
  bool is_required = false;
};

struct CommandHelp {
  std::string name;  // "gc"
  std::string path;  // "galley store gc"
  std::string help;
  std::vector<OptionHelp> options;
  std::vector<OptionHelp> arguments;  // positional, in order
  std::vector<CommandHelp> commands;
};

CommandHelp TreeOf(const CLI::App& app);

}  // namespace galley::cli
