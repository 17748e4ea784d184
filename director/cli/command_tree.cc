#include "director/cli/command_tree.h"

#include "CLI/CLI.hpp"

namespace galley::cli {
namespace {

constexpr const char* kNotYet = "Not yet";

// "TEXT:{bash,zsh}" names the choices of a value.
std::vector<std::string> ChoicesIn(const std::string& type) {
  std::vector<std::string> choices;
  const size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return choices;
  std::string choice;
  for (size_t i = begin + 1; i <= end; ++i) {
    if (type[i] != ',' && type[i] != '}') {
      choice += type[i];
      continue;
    }
    if (!choice.empty()) choices.push_back(std::move(choice));
    choice.clear();
  }
  return choices;
}

OptionHelp HelpOf(const CLI::Option& option) {
  OptionHelp help{.help = option.get_description()};
  for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
  const bool takes_value = option.get_items_expected_max() > 0;  // a flag takes none
  help.choices = takes_value ? ChoicesIn(option.get_type_name()) : std::vector<std::string>();
  if (takes_value) {
    const std::string type = option.get_type_name();
    help.value = help.choices.empty() ? type.substr(0, type.find(':')) : "";
    if (help.value.empty()) help.value = "VALUE";
  }
  help.is_repeatable = takes_value && option.get_expected_max() > 1;
  help.is_required = option.get_required();
  return help;
}

CommandHelp TreeBelow(const CLI::App& app, const std::string& above) {
  CommandHelp command{.name = app.get_name(),
                      .path = above.empty() ? app.get_name() : above + " " + app.get_name(),
                      .help = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == kNotYet || option->get_group().empty()) continue;
    OptionHelp help = HelpOf(*option);
    if (help.names.empty()) {
      help.value = option->get_name(true);
      command.arguments.push_back(std::move(help));
    } else {
      command.options.push_back(std::move(help));
    }
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (below->get_group() != kNotYet && !below->get_group().empty())
      command.commands.push_back(TreeBelow(*below, command.path));
  }
  return command;
}

}  // namespace

CommandHelp TreeOf(const CLI::App& app) { return TreeBelow(app, ""); }

}  // namespace galley::cli
