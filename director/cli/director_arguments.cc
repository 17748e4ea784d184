// The options of `galley serve`, and of the commands that ask the director that it starts.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"

namespace galley::cli {

void AddDirectorCommands(CLI::App& app, Arguments& arguments) {
  GlobalOptions& global = arguments.global;
  ServeOptions& o = arguments.serve;
  CLI::App* serve = app.add_subcommand(
      "serve", "Be the director of the project until it is stopped: cooks ask it, workers stay");
  o.global.AddTo(*serve);
  serve->add_option("--workers", o.workers, "Start exactly this many workers")
      ->check(CLI::Range(1u, 4096u));
  serve
      ->add_option("--placement", o.placement,
                   "How the worker for a job is chosen: cost or striped")
      ->type_name("NAME");
  serve
      ->add_option("--launcher", o.launcher,
                   "How workers are started: local (there is no other way yet)")
      ->type_name("NAME");
  serve
      ->add_option("--out", o.out, "Put the sandboxes into DIR/<platform>, instead of [output] dir")
      ->type_name("DIR");
  CLI::Option* detach = serve->add_flag("--detach", o.detach,
                                        "Start it in the background, and return when it is ready");
  serve->add_flag("--stop", o.stop, "Stop the director that serves the project")->excludes(detach);
  NotYet(*serve, {.flags = {}, .with_value = {"--listen", "--http"}}, o.global, arguments.refusal);
  serve->callback([&] { arguments.action = [&o] { return RunServe(o); }; });

  AddCommand(app, arguments, "status", "Show the resident director: its cooks, workers and store",
             [&] { return RunStatus(global); });
  AddCommand(app, arguments, "top", "Show the resident director, again and again; q ends it",
             [&] { return RunTop(global); });
  AddCommand(app, arguments, "cancel", "Cancel a cook of the resident director",
             [&] { return RunCancel(global, arguments.cook_number); })
      ->add_option("cook", arguments.cook_number, "Its number")
      ->type_name("COOK")
      ->required();
  AddCommand(app, arguments, "drain",
             "Have workers end when they have nothing in hand; others take their place",
             [&] { return RunDrain(global, arguments.worker); })
      ->add_option("worker", arguments.worker, "This one only (default: all)")
      ->type_name("WORKER");
}

}  // namespace galley::cli
