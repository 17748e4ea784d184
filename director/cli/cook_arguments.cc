// CookArguments: the options of `galley cook`.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"

namespace galley::cli {
namespace {

using Names = google::protobuf::RepeatedPtrField<std::string>;

// Adds a repeatable option; `names` outlives the parser.
CLI::Option* AddNames(CLI::App& app, const char* option, const char* type, Names* names,
                      const char* help) {
  const auto take = [names](const std::vector<std::string>& given) {
    names->Assign(given.begin(), given.end());
  };
  return app.add_option_function<std::vector<std::string>>(option, take, help)
      ->type_name(type)
      ->allow_extra_args(false);
}

// Adds a flag that sets a field of `message`, which outlives the parser.
template <typename Message>
void AddFlag(CLI::App& app, const char* flag, Message& message, void (Message::*set)(bool),
             const char* help) {
  app.add_flag_function(
      flag, [&message, set](int64_t count) { (message.*set)(count > 0); }, help);
}

}  // namespace

void AddCook(CLI::App& app, Arguments& arguments) {
  CookCommandOptions& o = arguments.cook;
  v1::CookAsk& ask = o.ask;
  v1::Selection& selection = *ask.mutable_selection();
  CLI::App* cook = app.add_subcommand(
      "cook", "Cook by the book, or only the packages, maps and folders that are named");
  o.global.AddTo(*cook);
  o.far.AddTo(*cook);
  cook->add_option_function<std::vector<std::string>>(
          "selection",
          [&selection](const std::vector<std::string>& given) {
            selection.mutable_positional()->Assign(given.begin(), given.end());
          },
          "PACKAGE, MAP or DIR: a virtual path under a mount, else a file path")
      ->type_name("");
  AddNames(*cook, "--platform", "NAME", ask.mutable_platforms(),
           "Cook for this platform only (repeatable)");
  cook->add_flag("--all-platforms", o.all_platforms, "Cook for all platforms (the default)");
  AddNames(*cook, "--map", "MAP", selection.mutable_maps(),
           "A map to cook: a package or a glob (repeatable)");
  AddNames(*cook, "--package", "PACKAGE", selection.mutable_packages(),
           "A package to cook (repeatable)");
  AddNames(*cook, "--dir", "DIR", selection.mutable_directories(), "A folder to cook (repeatable)");
  AddNames(*cook, "--map-section", "NAME", selection.mutable_map_sections(),
           "Cook the maps of [map_section.NAME] (repeatable)");
  AddNames(*cook, "--culture", "NAME", selection.mutable_cultures(),
           "Use this culture instead of [cook] cultures (repeatable)");
  AddNames(*cook, "--never", "GLOB", selection.mutable_never(),
           "Do not cook packages that this glob matches (repeatable)");
  AddFlag(*cook, "--no-soft-references", selection, &v1::Selection::set_no_soft_references,
          "Do not follow soft references");
  o.project.AddTo(*cook,
                  "Answer Prometheus at http://HOST:PORT/metrics (loopback only) while it cooks, "
                  "instead of [director] metrics");
  AddFlag(*cook, "--no-stage", ask, &v1::CookAsk::set_no_stage,
          "Publish the roots, but do not change the sandboxes");
  AddFlag(*cook, "--adopt", ask, &v1::CookAsk::set_adopt,
          "Use a folder that has other files as a sandbox; these files stay");
  AddFlag(*cook, "--exact", ask, &v1::CookAsk::set_exact,
          "Remove from the sandboxes files that Galley did not put there");
  AddFlag(*cook, "--force", ask, &v1::CookAsk::set_force, "Cook everything, even if it is cached");
  AddFlag(*cook, "--retry-failed", ask, &v1::CookAsk::set_retry_failed,
          "Cook again what failed before by its cooker's verdict, or outgrew its memory or "
          "its time");
  AddFlag(*cook, "--fail-fast", ask, &v1::CookAsk::set_fail_fast, "Stop at the first failure");
  cook->add_flag(
      "--standalone", o.standalone,
      "Cook in this process, not in a resident director; refuse when the project is in use");
  cook->add_option_function<std::string>(
          "--class", [&ask](const std::string& name) { ask.set_urgency_class(name); },
          "How urgent it is for a director with several cooks (default: commit with a "
          "selection, else nightly)")
      ->check(CLI::IsMember({"now", "commit", "nightly", "ahead"}));
  cook->add_flag("--detach", o.detach,
                 "Print the number of the cook and leave it to the resident director");
  AddOption(*cook, "--attach COOK", o.attach,
            "Follow this cook of the resident director; Ctrl-C leaves it running");
  AddOption(*cook, "--summary FILE", o.summary, "Write the summary to this file");
  AddOption(*cook, "--trace FILE", o.trace, "Write a Chrome trace to this file");
  cook->add_flag("--dry-run", o.is_dry_run,
                 "Say what would be cooked, why, and what it cost the last time; change nothing");
  CLI::Option* const listed =
      AddOption(*cook, "--changed FILE", o.changed,
                "Look only at the files that this list names, one a line (repeatable; -: "
                "standard input)")
          ->allow_extra_args(false);
  cook->add_option_function<std::string>(
          "--changed-since", [&ask](const std::string& rev) { ask.set_changed_since(rev); },
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
