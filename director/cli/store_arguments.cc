// `galley store ...`.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"

namespace galley::cli {

void AddStoreCommands(CLI::App& app, Arguments& arguments) {
  // References: what the actions capture is what these refer to, which outlives this.
  GlobalOptions& global = arguments.global;
  std::string& first = arguments.first;
  CLI::App* store = app.add_subcommand("store", "What the store holds");
  store->require_subcommand(1);
  AddCommand(*store, arguments, "stats", "Counts and sizes", [&] { return RunStoreStats(global); });
  CLI::App* verify =
      AddCommand(*store, arguments, "verify", "Read and check everything; quarantine what is wrong",
                 [&] { return RunStoreVerify(global); });
  NotYet(*verify, {"--repair"}, global, arguments.refusal);

  AddCommand(*store, arguments, "cat", "Write a blob to standard output (a failure's log, say)",
             [&] { return RunStoreCat(global, first); })
      ->add_option("digest", first, "<hex>/<size>")
      ->required();
  for (const char* name : {"gc", "why", "serve"}) AddLater(*store, arguments, name);
}

}  // namespace galley::cli
