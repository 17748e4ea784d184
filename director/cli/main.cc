// galley: what a person types. Parses the command line; each command is a function of commands.h.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>
#include <span>
#include <string_view>

#include "CLI/CLI.hpp"
#include "common/record/cooker_description.h"
#include "director/cli/commands.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using Action = std::function<int()>;

// Options of the contract that are not built yet: parsed, answered with exit 2.
void NotYet(CLI::App& command, const std::vector<std::string>& names, const GlobalOptions& options,
            Action& action) {
  for (const std::string& name : names) {
    auto* option = command.add_option_function<std::vector<std::string>>(
        name,
        [&options, &action, name](const std::vector<std::string>&) {
          action = [&options, name] {
            return Fail(options, kUsage, fmt::format("{}: not yet", name));
          };
        },
        "(not yet)");
    option->expected(0, 1)->group("Not yet");
  }
}

void AddCook(CLI::App& app, Action& action, CookCommandOptions& o, Action& refusal) {
  CLI::App* cook = app.add_subcommand(
      "cook", "Cook by the book, or the packages, maps and folders that are named");
  o.global.AddTo(*cook);
  cook->add_option("selection", o.positional,
                   "PACKAGE, MAP or DIR: a virtual path under a mount, else a file path")
      ->type_name("");
  cook->add_option("--platform", o.platforms, "Cook for this platform only (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  cook->add_flag("--all-platforms", o.all_platforms, "Cook for all platforms (the default)");
  cook->add_option("--map", o.maps, "A map to cook: a package or a glob (repeatable)")
      ->type_name("MAP")
      ->allow_extra_args(false);
  cook->add_option("--package", o.packages, "A package to cook (repeatable)")
      ->type_name("PACKAGE")
      ->allow_extra_args(false);
  cook->add_option("--dir", o.directories, "A folder to cook (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cook->add_option("--map-section", o.map_sections, "Maps of [map_section.NAME] (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  cook->add_option("--culture", o.cultures, "Cultures instead of [cook] cultures (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  cook->add_option("--never", o.never, "Packages that are never cooked, as a glob (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  cook->add_flag("--no-soft-references", o.no_soft_references, "Do not follow soft references");
  cook->add_option("--workers", o.workers, "Start exactly so many workers")
      ->check(CLI::Range(1u, 4096u));
  cook->add_option("--placement", o.placement, "Which worker gets a job: cost or striped")
      ->type_name("NAME");
  cook->add_option("--launcher", o.launcher, "Where workers come from: local (others: not yet)")
      ->type_name("NAME");
  cook->add_option("--out", o.out, "Where the sandboxes lie, instead of [output] dir")
      ->type_name("DIR");
  cook->add_flag("--no-stage", o.no_stage, "Publish the roots, leave the sandboxes alone");
  cook->add_flag("--force", o.force, "Cook everything, ignore what is cached");
  cook->add_flag("--retry-failed", o.retry_failed,
                 "Cook again what failed by its cooker's verdict");
  cook->add_flag("--fail-fast", o.fail_fast, "Stop at the first failure");
  cook->add_flag("--standalone", o.standalone,
                 "Refuse when another cook of the project runs, instead of waiting");
  cook->add_option("--summary", o.summary, "Write the summary to this file")->type_name("FILE");
  cook->add_option("--trace", o.trace, "Write a Chrome trace to this file")->type_name("FILE");
  NotYet(*cook,
         {"--director", "--link", "--changed-since", "--changed", "--dlc", "--create-release",
          "--based-on-release", "--fixed-base", "--error-on-engine-content", "--install-manifests",
          "--map-dependencies", "--verify-determinism", "--dry-run", "--no-sandbox"},
         o.global, refusal);
  cook->callback([&] { action = [&o] { return RunCook(o); }; });
}

// `galley help cook` is `galley cook --help`.
std::vector<std::string> ArgumentsOf(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return arguments;
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = record::Nearest(word, known);
  return nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest);
}

// What is wrong with the command line, and where help is. Looks at what CLI11 did not: commands and
// options that nobody has are compared with those that are there.
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

// An answer that did not arrive whole is none. (A reader that went away wanted no more.)
int CheckPrinted(const GlobalOptions& options, int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0) return code;
  const int failed = Fail(options, kInfrastructure,
                          "standard output could not be written: not all was printed; is there "
                          "space where it goes?");
  return code == kDone || code == kFailed ? failed : code;
}

}  // namespace

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe behind us must not end a cook
  if (std::string_view(argv[0]).ends_with("galley-director")) {
    return Fail({}, kUsage,
                "galley-director: a director as a service: not yet; `galley cook` hosts its own");
  }
  CLI::App app("Galley: a distributed asset cooker", "galley");
  app.set_version_flag("--version", "galley 0.1.0");
  app.require_subcommand(1);
  Action action;
  Action refusal;
  GlobalOptions global;
  CookCommandOptions cook;
  WhyOptions why_options;
  std::string directory = ".", package, platform, export_directory, first, second;
  std::vector<std::string> packages;

  const auto add = [&](CLI::App& parent, const char* name, const char* help, Action run) {
    CLI::App* command = parent.add_subcommand(name, help);
    global.AddTo(*command);
    command->callback([&action, run] { action = run; });
    return command;
  };

  add(app, "init", "Write a commented galley.toml that fits what DIR holds", [&] {
    return RunInit(global, directory);
  })->add_option("directory", directory, "The project's folder");
  AddCook(app, action, cook, refusal);
  CLI::App* why = add(app, "why", "Why PACKAGE is in the cook, and why it was cooked",
                      [&] { return RunWhy(global, why_options); });
  why->add_option("package", why_options.package, "The package")->required();
  why->add_option("--platform", why_options.platform, "This platform only");
  why->add_option("--limit", why_options.limit, "At most so many paths to root causes (20)")
      ->check(CLI::Range(1u, 100'000u));
  why->add_option("--cursor", why_options.cursor, "Go on after so many paths");
  CLI::App* records = add(app, "records", "What PACKAGE's cook looked at, its key and results",
                          [&] { return RunRecords(global, package, platform, export_directory); });
  records->add_option("package", package, "The package")->required();
  records->add_option("--platform", platform, "This platform only");
  records
      ->add_option("--export", export_directory,
                   "Write the Action as a folder for `galley-worker exec-action`")
      ->type_name("DIR");
  add(app, "roots", "The roots that were published", [&] { return RunRoots(global); });
  CLI::App* tree =
      add(app, "tree", "The files of a root", [&] { return RunTree(global, first, second); });
  tree->add_option("root", first,
                   "<hex>/<size>, a prefix, PLATFORM@latest, PLATFORM@last, PLATFORM@N")
      ->required();
  tree->add_option("path", second, "Only what lies here");
  CLI::App* diff = add(app, "diff", "What differs between two roots (exit 1 when something does)",
                       [&] { return RunDiff(global, first, second); });
  diff->add_option("before", first, "A root")->required();
  diff->add_option("after", second, "A root")->required();
  CLI::App* checkout = add(app, "checkout", "Lay a root out in a new folder",
                           [&] { return RunCheckout(global, first, second); });
  checkout->add_option("root", first, "A root")->required();
  checkout->add_option("directory", second, "A new or empty folder")->required();
  add(app, "clean", "Forget cook results: they are cooked again",
      [&] { return RunClean(global, packages); })
      ->add_option("packages", packages, "The packages")
      ->required();
  add(app, "doctor", "Check project, store, toolchain and limits; say what to do",
      [&] { return RunDoctor(global); });

  CLI::App* store = app.add_subcommand("store", "What the store holds");
  store->require_subcommand(1);
  add(*store, "stats", "Counts and sizes", [&] { return RunStoreStats(global); });
  CLI::App* verify = add(*store, "verify", "Read and check everything; quarantine what is wrong",
                         [&] { return RunStoreVerify(global); });
  NotYet(*verify, {"--repair"}, global, refusal);

  add(*store, "cat", "Write a blob to standard output (a failure's log, say)",
      [&] { return RunStoreCat(global, first); })
      ->add_option("digest", first, "<hex>/<size>")
      ->required();

  const auto later = [&](CLI::App& parent, const char* name) {
    CLI::App* command = add(parent, name, "(not yet)", [&global, name] {
      return Fail(global, kUsage, fmt::format("{}: not yet", name));
    });
    command->allow_extras();
    command->group("Not yet");
  };
  for (const char* name : {"serve", "worker", "status", "top", "drain", "cancel", "query", "impact",
                           "patch", "apply", "container", "device", "mount"}) {
    later(app, name);
  }
  for (const char* name : {"gc", "why", "serve"}) later(*store, name);

  const std::vector<std::string> arguments = ArgumentsOf(argc, argv);
  try {
    app.parse(std::vector(arguments.rbegin(), arguments.rend()));  // it takes them from the end
  } catch (const CLI::Success& help) {
    app.exit(help, std::cout, std::cerr);
    return kDone;
  } catch (const CLI::ParseError& error) {
    global.json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    return Fail(global, kUsage, Refusal(app, error, arguments));
  }
  return CheckPrinted(global, refusal ? refusal() : action());
}

}  // namespace galley::cli

int main(int argc, char** argv) { return galley::cli::Main(argc, argv); }
