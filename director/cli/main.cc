// Main: galley, the program that a person runs. Parses the command line; commands.h has a function
// for each command.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string_view>
#include <system_error>

#include "CLI/CLI.hpp"
#include "common/base/descriptor_limit.h"
#include "common/base/give_back_memory.h"
#include "common/base/last_words.h"
#include "common/base/log.h"
#include "common/base/repairs.h"
#include "common/base/standard_descriptors.h"
#include "common/base/standard_output.h"
#include "common/base/status_macros.h"
#include "director/cli/arguments.h"
#include "director/cli/director_of_project.h"
#include "director/cli/limits.h"
#include "director/cli/man_page.h"
#include "director/cli/refusal.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

// `galley help cook` means `galley cook --help`, and galley-director means `galley serve`.
std::vector<std::string> ArgumentsOf(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (std::string_view(argv[0]).ends_with("galley-director"))
    arguments.insert(arguments.begin(), "serve");
  if (!arguments.empty() && arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return arguments;
}

// Returns "cook", "store serve".
std::string CommandOf(const CLI::App& app) {
  std::string name;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += (name.empty() ? "" : " ") + at->get_name();
  }
  return name;
}

// An answer that did not arrive whole counts as no answer.
int CheckPrinted(const GlobalOptions& options, int code) {
  const absl::Status printed = FlushStandardOutput();
  if (printed.ok()) return code;
  const int failed = Fail(options, kInfrastructure, MessageOf(printed));
  return code == kDone || code == kFailed ? failed : code;
}

// Runs the command. A text that could not be printed ends the command (fmt throws then); the caller
// checks the command's output.
int RunPrinting(const std::function<int()>& command) {
  try {
    return command();
  } catch (const std::system_error&) {
    if (std::ferror(stdout) == 0) throw;
    return kDone;
  }
}

// Prints what the command found damaged, unless `galley cook` has printed it already.
void TellRepairs() {
  for (const std::string& text : TakeRepairs())
    std::fputs(fmt::format("galley: warning: {}\n", EscapeControl(text)).c_str(), stderr);
}

}  // namespace

int Main(int argc, char** argv) {
  const bool has_output = HasStandardOutput();
  OpenStandardDescriptors();
  SetLastWords("galley", kInfrastructure);
  RaiseDescriptorLimit();
  HoldFreeMemoryForASecond();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe behind us must not end a cook
  CLI::App app("Galley: a distributed asset cooker", "galley");
  app.footer("`galley help COMMAND` says what a command takes.");
  app.set_version_flag("--version", kVersion);
  app.add_flag_callback(
      "--man", [&app] { throw CLI::CallForVersion(ManPage(TreeOf(app), kVersion), 0); },
      "Print the man page: galley --man > galley.1");
  app.require_subcommand(1);
  Arguments parsed;
  AddCommands(app, parsed);
  const std::vector<std::string> arguments = ArgumentsOf(argc, argv);
  try {
    // CLI11 takes arguments from the end.
    app.parse(std::vector(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help) {
    if (const std::string unknown = UnknownCommand(app, arguments); !unknown.empty())
      return Fail(parsed.global, kUsage, unknown);
    app.exit(help, std::cout, std::cerr);
    std::cout.flush();
    return CheckPrinted(parsed.global, kDone);
  } catch (const CLI::ParseError& error) {
    parsed.global.json = std::ranges::find(arguments, "--json") != arguments.end();
    return Fail(parsed.global, kUsage, Refusal(app, error, arguments));
  }
  if (const std::string empty = EmptyArgument(app); !empty.empty())
    return Fail(parsed.global, kUsage, empty);
  const std::string command = CommandOf(app);
  const absl::Status limits =
      CheckLimits(command, NeedsOf(command, (command == "serve" ? parsed.serve.project.workers
                                                                : parsed.cook.project.workers)
                                                .value_or(0)));
  if (!limits.ok() && !parsed.refusal)
    return Fail(parsed.global, kInfrastructure, MessageOf(limits));
  // A cook whose output nobody wants is still a cook.
  const bool may_be_silent = command == "cook" && !has_output;
  const int code = RunPrinting(parsed.refusal ? parsed.refusal : parsed.action);
  TellRepairs();
  return may_be_silent ? code : CheckPrinted(parsed.global, code);
}

}  // namespace galley::cli

int main(int argc, char** argv) { return galley::cli::Main(argc, argv); }
