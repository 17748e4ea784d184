#include "director/cli/arguments.h"

#include "CLI/CLI.hpp"
#include "fmt/format.h"

namespace galley::cli {
namespace {

// Options of the contract that are not built yet: parsed, answered with exit 2.
void NotYet(CLI::App& command, const std::vector<std::string>& names, const GlobalOptions& options,
            Arguments::Action& action) {
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

void AddCook(CLI::App& app, Arguments& arguments) {
  CookCommandOptions& o = arguments.cook;
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
         o.global, arguments.refusal);
  cook->callback([&] { arguments.action = [&o] { return RunCook(o); }; });
}

}  // namespace

void AddCommands(CLI::App& app, Arguments& arguments) {
  // References: what the actions capture is what these refer to, which outlives this.
  GlobalOptions& global = arguments.global;
  WhyOptions& why_options = arguments.why;
  std::string &package = arguments.package, &platform = arguments.platform,
              &directory = arguments.directory, &export_directory = arguments.export_directory,
              &first = arguments.first, &second = arguments.second;
  std::vector<std::string>& packages = arguments.packages;
  const auto add = [&](CLI::App& parent, const char* name, const char* help,
                       Arguments::Action run) {
    CLI::App* command = parent.add_subcommand(name, help);
    global.AddTo(*command);
    command->callback([&arguments, run] { arguments.action = run; });
    return command;
  };

  add(app, "init", "Write a commented galley.toml that fits what DIR holds", [&] {
    return RunInit(global, directory);
  })->add_option("directory", directory, "The project's folder");
  AddCook(app, arguments);
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
  NotYet(*verify, {"--repair"}, global, arguments.refusal);

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
}

}  // namespace galley::cli
