// DirectorArguments: the options of `galley serve`, and of the commands that ask its director.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"

namespace galley::cli {

namespace {

void AddWorker(CLI::App& app, Arguments& arguments) {
  WorkerOptions& o = arguments.by_hand;
  CLI::App* worker = app.add_subcommand(
      "worker", "Work for a director that listens for workers, until it is stopped");
  o.global.AddTo(*worker);
  AddOption(*worker, "--director HOST:PORT", o.director,
            "Where it listens (default: the director of this project)");
  AddOption(*worker, "--token-file FILE", o.token_file,
            "The token that it expects (default: this project's)");
  AddOption(*worker, "--name NAME", o.name, "Name of this worker (default: host and process)");
  worker->add_option("--slots", o.slots, "Jobs at a time (default: one for each core)")
      ->check(CLI::Range(1u, 1024u));
  AddOption(*worker, "--cache DIR", o.cache,
            "Keep what was fetched in DIR (default: ~/.cache/galley/worker)");
  AddOption(*worker, "--shared-path DIR", o.shared_path,
            "Where this machine sees the project's folder: sources are read there, if they "
            "are the director's");
  AddOption(*worker, "--cache-size SIZE", o.cache_size, "Keep at most this much there (10GiB)");
  AddOption(*worker, "--tls-ca FILE", o.tls_ca, "Authority of the director's certificate");
  AddOption(*worker, "--tls-cert FILE", o.tls_cert, "Certificate of this worker");
  AddOption(*worker, "--tls-key FILE", o.tls_key, "Its key");
  AddOption(*worker, "--ticket FILE", o.ticket,
            "What a launcher wrote for this worker; -: the first line of standard input");
  worker->add_option("--index", o.index, "Place of this worker in the ticket (default: 0)");
  worker->add_flag("--until-input-ends", o.is_until_input_ends, "End when the standard input does");
  AddOption(*worker, "--label NAME", o.labels,
            "What this machine has, for rules with `labels`; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddOption(*worker, "--resource NAME=N", o.resources,
            "How many of a resource it has for all its workers; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  worker->callback([&] { arguments.action = [&o] { return RunWorker(o); }; });
}

void AddLogs(CLI::App& app, Arguments& arguments) {
  LogsOptions& o = arguments.logs;
  CLI::App* logs =
      AddCommand(app, arguments, "logs", "Show what workers logged, or what happened to a package",
                 [&] { return RunLogs(arguments.global, o); });
  AddOption(*logs, "what WORKER|PACKAGE", o.what, "A worker, or a package (default: all workers)");
  logs->add_flag("--follow,-f", o.follow, "Go on with what comes, as long as a director runs");
  AddOption(*logs, "--since TIME", o.since,
            "From a time on (\"2026-11-27 04:00\"), or so long ago (12h)");
  AddOption(*logs, "-n N", o.lines, "The last N lines (default: 1000; 0: all)");
  o.far.AddTo(*logs);
}

}  // namespace

void AddDirectorCommands(CLI::App& app, Arguments& arguments) {
  GlobalOptions& global = arguments.global;
  ServeOptions& o = arguments.serve;
  CLI::App* serve = app.add_subcommand(
      "serve", "Be the director of the project until it is stopped: cooks ask it, workers stay");
  o.global.AddTo(*serve);
  o.project.AddTo(*serve,
                  "Answer Prometheus at http://ADDR/metrics (loopback only), instead of "
                  "[director] metrics");
  AddOption(*serve, "--listen HOST:PORT", o.listen,
            "Also answer clients of other machines at ADDR, by TLS: who shows a certificate "
            "with a role");
  AddOption(*serve, "--http HOST:PORT", o.project.http,
            "Also answer devices and browsers at http://ADDR, and cook what they ask for, instead "
            "of [director] http");
  CLI::Option* detach = serve->add_flag("--detach", o.detach,
                                        "Start it in the background, and return when it is ready");
  CLI::Option* const stop =
      serve->add_flag("--stop", o.stop, "Stop the director that serves the project");
  stop->excludes(detach);
  o.far.AddTo(*serve);
  serve->get_option("--director")
      ->description(
          "With --stop: the director of another machine, where `galley serve --listen` says")
      ->needs(stop);
  serve->callback([&] { arguments.action = [&o] { return RunServe(o); }; });

  AddWorker(app, arguments);
  FarDirector& far = arguments.far;
  far.AddTo(*AddCommand(
      app, arguments, "status",
      "Show the director that runs here: its cooks, workers and store, and the last cooks",
      [&] { return RunStatus(global, far); }));
  far.AddTo(*AddCommand(app, arguments, "top",
                        "Show the director that runs here, again and again; q ends it",
                        [&] { return RunTop(global, far); }));
  CLI::App* const cancel =
      AddCommand(app, arguments, "cancel", "Cancel a cook of the resident director",
                 [&] { return RunCancel(global, far, arguments.cook_number); });
  far.AddTo(*cancel);
  AddOption(*cancel, "cook COOK", arguments.cook_number, "Its number")->required();
  CLI::App* const drain =
      AddCommand(app, arguments, "drain",
                 "Have workers end when they have nothing in hand; others take their place",
                 [&] { return RunDrain(global, far, arguments.worker); });
  far.AddTo(*drain);
  AddOption(*drain, "worker WORKER", arguments.worker, "This one only (default: all)");
  AddLogs(app, arguments);
  AddCommand(app, arguments, "readmit",
             "Let a worker that was quarantined work again; without a name: show who is",
             [&] { return RunReadmit(global, arguments.worker); })
      ->add_option("worker", arguments.worker, "Its name, or name@machine")
      ->type_name("WORKER");
}

}  // namespace galley::cli
