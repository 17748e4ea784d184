#include "director/cli/refusal.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "common/record/cooker_description.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

// Dashes show that an option is no word of the sentence.
std::string QuotedWord(const std::string& name) {
  return name.starts_with("--") ? name : fmt::format("\"{}\"", name);
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = record::Nearest(word, known);
  return nearest.empty() ? "" : fmt::format(", did you mean {}?", QuotedWord(nearest));
}

std::vector<std::string> CommandsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : command.get_subcommands({})) names.push_back(one->get_name());
  return names;
}

// Walk: the command that the first words name, as far as there is one.
struct Walk {
  const CLI::App* command = nullptr;
  std::string name = "galley";
  std::span<const std::string> rest;
  std::string unknown;  // not empty: the error of the first word of `rest`
};

Walk WalkToCommand(const CLI::App& app, std::span<const std::string> arguments) {
  Walk walk{.command = &app, .rest = arguments, .unknown = {}};
  for (; !walk.rest.empty() && !walk.rest[0].starts_with('-'); walk.rest = walk.rest.subspan(1)) {
    const std::string& word = walk.rest[0];
    const std::vector<std::string> known = CommandsOf(*walk.command);
    if (known.empty()) break;
    const auto found = std::ranges::find(known, word);
    if (found == known.end()) {
      walk.unknown = fmt::format("{} has no command {}{}; `{} --help` lists them", walk.name,
                                 QuotedWord(word), DidYouMean(word, known), walk.name);
      break;
    }
    walk.command = walk.command->get_subcommands({})[static_cast<size_t>(found - known.begin())];
    walk.name += " " + word;
  }
  return walk;
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
    if (option->get_expected_min() == 0) continue;  // the option may stand alone
    const std::vector<std::string>& given = option->results();
    if (std::ranges::find(given, "") == given.end()) continue;
    return fmt::format(
        "{}: {} is empty; give it a value (is a variable of a script not set?); see `{} --help`",
        name, option->get_name(), name);
  }
  return {};
}

std::string UnknownCommand(const CLI::App& app, std::span<const std::string> arguments) {
  return WalkToCommand(app, arguments).unknown;
}

std::string Refusal(const CLI::App& app, const CLI::ParseError& error,
                    std::span<const std::string> arguments) {
  const Walk walk = WalkToCommand(app, arguments);
  if (!walk.unknown.empty()) return walk.unknown;
  const std::string& name = walk.name;
  if (!CommandsOf(*walk.command).empty() && walk.rest.empty())
    return fmt::format("{} needs a command; `{} --help` lists them", name, name);
  std::vector<std::string> known;
  for (const CLI::Option* option : walk.command->get_options()) known.push_back(option->get_name());
  for (const std::string& argument : walk.rest) {
    const std::string option = argument.substr(0, argument.find('='));
    if (!option.starts_with("--") || walk.command->get_option_no_throw(option) != nullptr) continue;
    return fmt::format("{} has no option {}{}; `{} --help` lists them", name, option,
                       DidYouMean(option, known), name);
  }
  return fmt::format("{}: {}; see `{} --help`", name, error.what(), name);
}

}  // namespace galley::cli
