// StoreArguments: the options of `galley store ...`.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"
#include "fmt/format.h"

namespace galley::cli {

namespace {

constexpr const char* kDigestHelp = "<hex>/<size>, or a prefix of one that was printed";

void AddStoreGc(CLI::App& store, Arguments& arguments) {
  StoreGcOptions& o = arguments.store_gc;
  CLI::App* gc =
      AddCommand(store, arguments, "gc", "Drop what nothing needs, the least recently used first",
                 [&] { return RunStoreGc(arguments.global, o); });
  AddOption(*gc, "--max-size S", o.max_size,
            "How much may be left (\"100GiB\"; default: the project's [store] max_size)");
  AddOption(
      *gc, "--max-age T", o.max_age,
      "Drop results that nobody asked for in this time, whatever the size (\"30d\", \"12h\")");
  gc->add_flag("--dry-run", o.is_dry, "Say what would be dropped, and drop nothing");
}

void AddStoreRevoke(CLI::App& store, Arguments& arguments) {
  StoreRevokeOptions& o = arguments.store_revoke;
  CLI::App* revoke =
      AddCommand(store, arguments, "revoke", "Take back what a worker made, for good",
                 [&] { return RunStoreRevoke(arguments.global, o); });
  AddOption(*revoke, "--worker W", o.worker,
            "A worker, a machine, or worker@machine, as `galley records` prints them")
      ->required();
  AddOption(*revoke, "--since T", o.since,
            "Only results that a director took from then on "
            "(\"2026-11-27T10:00:00Z\", \"2026-11-27\", \"2h\")");
  revoke->add_flag("--dry-run", o.is_dry, "Say what would be taken back, and take nothing");
}

void AddStoreVerify(CLI::App& store, Arguments& arguments) {
  StoreVerifyOptions& o = arguments.store_verify;
  CLI::App* verify =
      AddCommand(store, arguments, "verify", "Read and check everything; quarantine what is wrong",
                 [&] { return RunStoreVerify(arguments.global, o); });
  AddOption(*verify, "--rate S", o.rate, "Read at most this much in a second (\"20MiB\")");
  verify->add_flag("--restart", o.restart,
                   "Start from the beginning, even if the last verify was interrupted");
  verify->add_flag("--repair", o.repair,
                   "Cook again the outputs of this project that the store lost");
}

void AddStoreServe(CLI::App& store, Arguments& arguments) {
  StoreServeOptions& o = arguments.store_serve;
  CLI::App* serve = AddCommand(store, arguments, "serve",
                               "Serve the store to REAPI v2 clients (Bazel, other Galleys)",
                               [&] { return RunStoreServe(arguments.global, o); });
  serve
      ->add_option("--listen", o.listen,
                   fmt::format("HOST:PORT or unix:PATH (repeatable; {})", kReapiAddress))
      ->type_name("ADDR")
      ->allow_extra_args(false);
  AddOption(*serve, "--identities FILE", o.identities,
            "A file that says who may call, and what they may do");
  AddOption(*serve, "--tls-cert FILE", o.tls_cert, "This server's certificate chain (PEM)");
  AddOption(*serve, "--tls-key FILE", o.tls_key, "The key of that certificate (PEM)");
  AddOption(*serve, "--tls-ca FILE", o.tls_ca,
            "The authority that signs clients' certificates (PEM)");
  AddOption(*serve, "--max-size S", o.max_size,
            "Keep the store within this size; the least recently used results are dropped first "
            "(default: the project's [store] max_size; with --store: any size)");
  AddOption(*serve, "--instance NAME", o.instance, "The only instance name that is served");
  AddOption(*serve, "--max-connections N", o.connections_max,
            "Have at most this many connections; further ones are refused (default: what the "
            "limit of open files allows, at most 4096)")
      ->check(CLI::Range(1u, 1'000'000u));
  AddOption(*serve, "--max-silent N", o.silent_max,
            "Have at most this many connections of one address that have said nothing yet, "
            "or have not finished their TLS handshake (256)")
      ->check(CLI::Range(1u, 1'000'000u));
  AddOption(*serve, "--silent-timeout S", o.silent_seconds,
            "Close such a connection after this many seconds (20)")
      ->check(CLI::Range(1u, 3600u));
  AddOption(*serve, "--max-unread S", o.max_unread,
            "Hold at most this much in replies that clients have not read yet (default: a "
            "quarter of the memory)");
  AddOption(*serve, "--metrics FILE", o.metrics,
            "Write the numbers of connections to this file every two seconds, for Prometheus "
            "(node_exporter's text collector reads it)");
}

void AddPut(CLI::App& store, Arguments& arguments) {
  std::string &path = arguments.first, &pin = arguments.second;
  CLI::App* put =
      AddCommand(store, arguments, "put", "Put a folder or a file, as a tree, and print its root",
                 [&] { return RunStorePut(arguments.global, path, pin); });
  put->add_option("path", path, "A folder or a file")->required();
  AddOption(*put, "--pin NAME", pin, "Keep the tree under this name until `galley store unpin`");
}

void AddPins(CLI::App& store, Arguments& arguments) {
  GlobalOptions& global = arguments.global;
  std::string &first = arguments.first, &second = arguments.second;
  CLI::App* pin = AddCommand(store, arguments, "pin", "Keep a tree until the pin is removed",
                             [&] { return RunStorePin(global, first, second); });
  pin->add_option("name", first, "The pin's name; a pin of that name is replaced")->required();
  pin->add_option("root", second,
                  "As for `galley tree`: <hex>/<size>, a prefix, PLATFORM@latest, PLATFORM#N, ...")
      ->required();
  AddCommand(store, arguments, "unpin", "Remove a pin",
             [&] { return RunStoreUnpin(global, first); })
      ->add_option("name", first, "The pin's name")
      ->required();
  AddCommand(store, arguments, "pins", "List the pins and what they keep",
             [&] { return RunStorePins(global); });
}

}  // namespace

void AddStoreCommands(CLI::App& app, Arguments& arguments) {
  // References: the actions capture what these refer to, which outlives this function.
  GlobalOptions& global = arguments.global;
  std::string& first = arguments.first;
  CLI::App* store =
      app.add_subcommand("store", "Look at the store, verify it, share it, free its space");
  store->require_subcommand(1);
  AddCommand(*store, arguments, "stats", "Print counts and sizes",
             [&] { return RunStoreStats(global); });
  AddStoreVerify(*store, arguments);
  AddCommand(*store, arguments, "cat",
             "Write a blob to standard output, for example the log of a failure",
             [&] { return RunStoreCat(global, first); })
      ->add_option("digest", first, kDigestHelp)
      ->required();
  AddCommand(*store, arguments, "forget",
             "Forget the result of an action key, or a dispute about it",
             [&] { return RunStoreForget(global, first); })
      ->add_option("key", first,
                   "<hex>/<size> or a prefix, as `galley records` and errors print it")
      ->required();
  AddPut(*store, arguments);
  AddStoreServe(*store, arguments);
  AddStoreGc(*store, arguments);
  AddStoreRevoke(*store, arguments);
  AddPins(*store, arguments);
  AddCommand(*store, arguments, "why", "Say what keeps a blob, or why it is gone",
             [&] { return RunStoreWhy(global, first); })
      ->add_option("digest", first, kDigestHelp)
      ->required();
}

}  // namespace galley::cli
