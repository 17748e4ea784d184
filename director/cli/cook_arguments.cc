// The options of `galley cook`.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"

namespace galley::cli {

void AddCook(CLI::App& app, Arguments& arguments) {
  CookCommandOptions& o = arguments.cook;
  director::SelectionAsk& selection = o.ask.selection;
  CLI::App* cook = app.add_subcommand(
      "cook", "Cook by the book, or only the packages, maps and folders that are named");
  o.global.AddTo(*cook);
  o.far.AddTo(*cook);
  cook->add_option("selection", selection.positional,
                   "PACKAGE, MAP or DIR: a virtual path under a mount, else a file path")
      ->type_name("");
  cook->add_option("--platform", o.platforms, "Cook for this platform only (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  cook->add_flag("--all-platforms", o.all_platforms, "Cook for all platforms (the default)");
  cook->add_option("--map", selection.maps, "A map to cook: a package or a glob (repeatable)")
      ->type_name("MAP")
      ->allow_extra_args(false);
  cook->add_option("--package", selection.packages, "A package to cook (repeatable)")
      ->type_name("PACKAGE")
      ->allow_extra_args(false);
  cook->add_option("--dir", selection.directories, "A folder to cook (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cook->add_option("--map-section", selection.map_sections,
                   "Cook the maps of [map_section.NAME] (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  cook->add_option("--culture", selection.cultures,
                   "Use this culture instead of [cook] cultures (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  cook->add_option("--never", selection.never,
                   "Do not cook packages that this glob matches (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  cook->add_flag("--no-soft-references", selection.no_soft_references,
                 "Do not follow soft references");
  cook->add_option("--workers", o.workers, "Start exactly this many workers")
      ->check(CLI::Range(1u, 4096u));
  cook->add_option("--placement", o.placement,
                   "How the worker for a job is chosen: cost or striped")
      ->type_name("NAME");
  cook->add_option(
          "--launcher", o.launcher,
          "Where workers come from: local, ssh, slurm, kubernetes, command (docs/farm.md), or "
          "none (they come by themselves)")
      ->type_name("NAME");
  cook->add_option("--out", o.out, "Put the sandboxes into DIR/<platform>, instead of [output] dir")
      ->type_name("DIR");
  cook->add_option("--metrics", o.metrics,
                   "Answer Prometheus at http://HOST:PORT/metrics (loopback only) while it cooks, "
                   "instead of [director] metrics")
      ->type_name("HOST:PORT");
  cook->add_flag("--no-stage", o.ask.no_stage,
                 "Publish the roots, but do not change the sandboxes");
  cook->add_flag("--adopt", o.ask.adopt,
                 "Use a folder that has other files as a sandbox; these files stay");
  cook->add_flag("--exact", o.ask.exact,
                 "Remove from the sandboxes files that Galley did not put there");
  cook->add_flag("--force", o.ask.force, "Cook everything, even if it is cached");
  cook->add_flag("--retry-failed", o.ask.retry_failed,
                 "Cook again what failed before by its cooker's verdict, or outgrew its memory or "
                 "its time");
  cook->add_flag("--fail-fast", o.ask.fail_fast, "Stop at the first failure");
  cook->add_flag(
      "--standalone", o.standalone,
      "Cook in this process, not in a resident director; refuse when the project is in use");
  cook->add_option("--class", o.urgency_class,
                   "How urgent it is for a director with several cooks (default: commit with a "
                   "selection, else nightly)")
      ->check(CLI::IsMember({"now", "commit", "nightly", "ahead"}));
  cook->add_flag("--detach", o.detach,
                 "Print the number of the cook and leave it to the resident director");
  cook->add_option("--attach", o.attach,
                   "Follow this cook of the resident director; Ctrl-C leaves it running")
      ->type_name("COOK");
  cook->add_option("--summary", o.summary, "Write the summary to this file")->type_name("FILE");
  cook->add_option("--trace", o.trace, "Write a Chrome trace to this file")->type_name("FILE");
  cook->add_flag("--dry-run", o.is_dry_run,
                 "Say what would be cooked, why, and what it cost the last time; change nothing");
  CLI::Option* const listed =
      cook->add_option("--changed", o.changed,
                       "Look only at the files that this list names, one a line (repeatable; -: "
                       "standard input)")
          ->type_name("FILE")
          ->allow_extra_args(false);
  cook->add_option("--changed-since", o.ask.changed_since,
                   "Look only at files that git does not say to be as the last cook saw them; REV "
                   "is a commit that must be there")
      ->type_name("REV")
      ->excludes(listed);
  NotYet(*cook,
         {.flags = {"--link", "--fixed-base", "--error-on-engine-content", "--install-manifests",
                    "--map-dependencies", "--verify-determinism", "--no-sandbox"},
          .with_value = {"--dlc", "--recook", "--create-release", "--based-on-release"}},
         o.global, arguments.refusal);
  cook->callback(
      [&] { arguments.action = [&o] { return o.is_dry_run ? RunDryCook(o) : RunCook(o); }; });
}

}  // namespace galley::cli
