#include "director/cli/refusal.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "common/record/cooker_description.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

std::string DidYouMean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = record::Nearest(word, known);
  return nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest);
}

}  // namespace

std::string EmptyArgument(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  for (const CLI::Option* option : command->get_options()) {
    if (option->get_expected_min() == 0) continue;  // it may stand alone
    const std::vector<std::string>& given = option->results();
    if (std::find(given.begin(), given.end(), "") == given.end()) continue;
    return fmt::format(
        "{}: {} is empty; give it a value (is a variable of a script not set?); see `{} --help`",
        name, option->get_name(), name);
  }
  return {};
}

std::string Refusal(const CLI::App& app, const CLI::ParseError& error,
                    std::span<const std::string> arguments) {
  const CLI::App* command = &app;
  std::string name = "galley";
  std::vector<std::string> known;
  const auto list_commands = [&] {
    known.clear();
    for (const CLI::App* one : command->get_subcommands({})) known.push_back(one->get_name());
    return !known.empty();
  };
  while (list_commands() && !arguments.empty() && !arguments[0].starts_with('-')) {
    const auto found = std::find(known.begin(), known.end(), arguments[0]);
    if (found == known.end()) {
      return fmt::format("{} has no command {}{}; `{} --help` lists them", name, arguments[0],
                         DidYouMean(arguments[0], known), name);
    }
    command = command->get_subcommands({})[static_cast<size_t>(found - known.begin())];
    name += " " + arguments[0];
    arguments = arguments.subspan(1);
  }
  if (list_commands() && arguments.empty())
    return fmt::format("{} needs a command; `{} --help` lists them", name, name);
  known.clear();
  for (const CLI::Option* option : command->get_options()) known.push_back(option->get_name());
  for (const std::string& argument : arguments) {
    const std::string option = argument.substr(0, argument.find('='));
    if (!option.starts_with("--") || command->get_option_no_throw(option) != nullptr) continue;
    return fmt::format("{} has no option {}{}; `{} --help` lists them", name, option,
                       DidYouMean(option, known), name);
  }
  return fmt::format("{}: {}; see `{} --help`", name, error.what(), name);
}

}  // namespace galley::cli
