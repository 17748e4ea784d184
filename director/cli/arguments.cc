#include "director/cli/arguments.h"

#include <utility>

#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"
#include "director/cli/completion.h"
#include "fmt/format.h"

namespace galley::cli {

CLI::App* AddCommand(CLI::App& parent, Arguments& arguments, const char* name, const char* help,
                     Arguments::Action run) {
  CLI::App* command = parent.add_subcommand(name, help);
  arguments.global.AddTo(*command);
  command->callback([&arguments, run = std::move(run)] { arguments.action = run; });
  return command;
}

void AddLater(CLI::App& parent, Arguments& arguments, const char* name) {
  CLI::App* command = AddCommand(parent, arguments, name, "(not yet)", [&arguments, name] {
    return Fail(arguments.global, kUsage, fmt::format("{}: not yet", name));
  });
  command->allow_extras();
  command->group("Not yet");
}

void NotYet(CLI::App& command, const LaterOptions& later, const GlobalOptions& options,
            Arguments::Action& action) {
  const auto refuse = [&options, &action](const std::string& name) {
    action = [&options, name] { return Fail(options, kUsage, fmt::format("{}: not yet", name)); };
  };
  for (const std::string& name : later.flags) {
    command
        .add_flag_function(
            name, [refuse, name](int64_t) { refuse(name); }, "(not yet)")
        ->group("Not yet");
  }
  for (const std::string& name : later.with_value) {
    command
        .add_option_function<std::vector<std::string>>(
            name, [refuse, name](const std::vector<std::string>&) { refuse(name); }, "(not yet)")
        ->allow_extra_args(false)
        ->group("Not yet");
  }
}

void AddCommands(CLI::App& app, Arguments& arguments) {
  // References: the actions capture what these refer to, which outlives this function.
  GlobalOptions& global = arguments.global;
  WhyOptions& why_options = arguments.why;
  std::string &package = arguments.package, &platform = arguments.platform,
              &directory = arguments.directory, &export_directory = arguments.export_directory;
  std::vector<std::string>& packages = arguments.packages;
  AddCommand(app, arguments, "init", "Write a commented galley.toml that fits the files in DIR",
             [&] { return RunInit(global, directory); })
      ->add_option("directory", directory, "The project's folder");
  AddCook(app, arguments);
  AddDirectorCommands(app, arguments);
  CLI::App* list = AddCommand(
      app, arguments, "ls", "List the packages with their rule, cooker, platforms and last outcome",
      [&] { return RunLs(global, arguments.list); });
  ListOptions& listed = arguments.list;
  AddOption(*list, "globs GLOB", listed.patterns, "List only these: globs, packages or folders");
  list->add_flag("--failed", listed.choice.is_failed, "List only packages that failed");
  list->add_flag("--warned", listed.choice.is_warned,
                 "List only packages whose results have warnings (with --failed: these, too)");
  list->add_option("--sort", listed.choice.sort, "By name, or by size, the largest first (name)")
      ->check(CLI::IsMember({"name", "size"}));
  list->add_flag("--totals", listed.totals,
                 "With --quiet and --json, too: packages and bytes by cooker");
  list->add_flag("--unmatched", listed.is_unmatched, "List the files that no rule matches instead");
  AddQuery(app, arguments);
  CLI::App* const path = AddCommand(
      app, arguments, "path",
      "Print a source's paths in the cooked trees, or the source of a path of a cooked tree",
      [&] { return RunPath(global, directory, platform); });
  path->add_option(
          "path", directory,
          "A source, a package, a path of a tree (Game/a.png.ktx2), or a file of a sandbox")
      ->required();
  AddOption(*path, "--platform NAME", platform, "On this platform only");
  AddCommand(app, arguments, "impact",
             "Say which packages a change of these files may change, and what they cost",
             [&] { return RunImpact(global, packages); })
      ->add_option("files", packages, "The files")
      ->type_name("FILE")
      ->required();
  CLI::App* why =
      AddCommand(app, arguments, "why", "Say why PACKAGE is in the cook, and why it was cooked",
                 [&] { return RunWhy(global, why_options); });
  why->add_option("package", why_options.package, "The package")->required();
  why->add_option("--platform", why_options.platform, "This platform only");
  CLI::Option* const limit =
      why->add_option(
             "--limit", why_options.limit,
             "Print at most this many chains of reasons, the shortest first (3; --json: 20)")
          ->check(CLI::Range(1u, 100'000u));
  why->add_flag("--all", why_options.all, "Print all chains of reasons")->excludes(limit);
  why->add_option("--cursor", why_options.cursor,
                  "Skip this many paths, which were printed before");
  why_options.far.AddTo(*why);
  CLI::App* records = AddCommand(
      app, arguments, "records", "Show what PACKAGE's cook looked at, its key and results",
      [&] { return RunRecords(global, package, platform, export_directory); });
  records->add_option("package", package, "The package")->required();
  records->add_option("--platform", platform, "This platform only");
  AddOption(*records, "--export DIR", export_directory,
            "Write the Action as a folder for `galley-worker exec-action`");
  AddTreeCommands(app, arguments);
  CLI::App* const clean = AddCommand(
      app, arguments, "clean", "Forget the results of packages, so that they are cooked again",
      [&] { return RunClean(global, arguments.far, packages); });
  clean->add_option("packages", packages, "The packages")->required();
  arguments.far.AddTo(*clean);
  AddCommand(app, arguments, "doctor", "Check project, store, toolchain and limits; say what to do",
             [&] { return RunDoctor(global); });

  AddStoreCommands(app, arguments);
  AddMount(app, arguments);
  AddDeviceCommands(app, arguments);
  // The command takes no project, because it only prints.
  CLI::App* completion = app.add_subcommand(
      "completion", "Print the completions of a shell: source <(galley completion bash)");
  completion->callback([&app, &arguments] {
    arguments.action = [&app, &arguments] {
      fmt::print("{}", CompletionFor(arguments.shell, TreeOf(app)));
      return kDone;
    };
  });
  completion->add_option("shell", arguments.shell, "The shell")
      ->required()
      ->check(CLI::IsMember(kShells));
  for (const char* name : {"release", "container", "trust"}) {
    AddLater(app, arguments, name);
  }
}

}  // namespace galley::cli
