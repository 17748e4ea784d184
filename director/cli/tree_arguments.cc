// TreeArguments: the options of the commands about cooked trees.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"

namespace galley::cli {
namespace {

constexpr const char* kRootHelp =
    "<hex>/<size>, a prefix, PLATFORM@latest, PLATFORM@last, PLATFORM@N (N cooks ago), PLATFORM#N "
    "(as `galley roots` prints it), pin:NAME";

}  // namespace

void AddTreeCommands(CLI::App& app, Arguments& arguments) {
  // References: the actions capture what these refer to, which outlives this function.
  GlobalOptions& global = arguments.global;
  std::string &first = arguments.first, &second = arguments.second, &output = arguments.output;
  bool& link = arguments.link;
  AddCommand(app, arguments, "roots", "List the roots that were published",
             [&] { return RunRoots(global); });
  CLI::App* tree = AddCommand(app, arguments, "tree", "List the files of a root",
                              [&] { return RunTree(global, first, second); });
  tree->add_option("root", first, kRootHelp)->required();
  tree->add_option("path", second, "List only this file, or the files in this folder");
  CLI::App* diff = AddCommand(app, arguments, "diff",
                              "Show what differs between two roots (exit 1 when something does)",
                              [&] { return RunDiff(global, first, second); });
  diff->add_option("before", first, kRootHelp)->required();
  diff->add_option("after", second, kRootHelp)->required();
  NotYet(*diff, {.flags = {"--explain"}, .with_value = {"--budget"}}, global, arguments.refusal);
  CLI::App* checkout =
      AddCommand(app, arguments, "checkout", "Write the files of a root to a new folder",
                 [&] { return RunCheckout(global, first, second, link); });
  checkout->add_option("root", first, kRootHelp)->required();
  checkout->add_option("directory", second, "A new or empty folder")->required();
  checkout->add_flag("--link", link,
                     "Make large files read-only hard links to the store's files, where possible");
  CLI::App* stage = AddCommand(app, arguments, "stage", "Look at the folders that cooks stage to",
                               [&] { return RunStageCheck(global, arguments.platform); });
  stage
      ->add_flag("--check", arguments.is_stage_check,
                 "Tell whether each sandbox is what its root says (exit 1 when one is not); "
                 "nothing is changed")
      ->required();
  stage->add_option("--platform", arguments.platform, "This platform only");
  CLI::App* patch =
      AddCommand(app, arguments, "patch", "Write a patch that turns the first root into the second",
                 [&] { return RunPatch(global, first, second, output); });
  patch->add_option("before", first, kRootHelp)->required();
  patch->add_option("after", second, kRootHelp)->required();
  AddOption(*patch, "-o,--output FILE", output, "The file to write")->required();
  CLI::App* apply = AddCommand(app, arguments, "apply",
                               "Turn the old tree in a folder into the new one with a patch",
                               [&] { return RunApply(global, first, second); });
  AddOption(*apply, "patch FILE", first, "A file that `galley patch` wrote")->required();
  AddOption(*apply, "directory DIR", second, "A folder that contains the old tree")->required();
}

}  // namespace galley::cli
