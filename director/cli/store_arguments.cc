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
  gc->add_option("--max-size", o.max_size,
                 "How much may be left (\"100GiB\"; default: the project's [store] max_size)")
      ->type_name("S");
  gc->add_option(
        "--max-age", o.max_age,
        "Drop results that nobody asked for in this time, whatever the size (\"30d\", \"12h\")")
      ->type_name("T");
  gc->add_flag("--dry-run", o.is_dry, "Say what would be dropped, and drop nothing");
}

void AddStoreRevoke(CLI::App& store, Arguments& arguments) {
  StoreRevokeOptions& o = arguments.store_revoke;
  CLI::App* revoke =
      AddCommand(store, arguments, "revoke", "Take back what a worker made, for good",
                 [&] { return RunStoreRevoke(arguments.global, o); });
  revoke
      ->add_option("--worker", o.worker,
                   "A worker, a machine, or worker@machine, as `galley records` prints them")
      ->type_name("W")
      ->required();
  revoke
      ->add_option("--since", o.since,
                   "Only results that a director took from then on "
                   "(\"2026-11-27T10:00:00Z\", \"2026-11-27\", \"2h\")")
      ->type_name("T");
  revoke->add_flag("--dry-run", o.is_dry, "Say what would be taken back, and take nothing");
}

void AddStoreVerify(CLI::App& store, Arguments& arguments) {
  StoreVerifyOptions& o = arguments.store_verify;
  CLI::App* verify =
      AddCommand(store, arguments, "verify", "Read and check everything; quarantine what is wrong",
                 [&] { return RunStoreVerify(arguments.global, o); });
  verify->add_option("--rate", o.rate, "Read at most this much in a second (\"20MiB\")")
      ->type_name("S");
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
  serve
      ->add_option("--identities", o.identities,
                   "A file that says who may call, and what they may do")
      ->type_name("FILE");
  serve->add_option("--tls-cert", o.tls_cert, "This server's certificate chain (PEM)")
      ->type_name("FILE");
  serve->add_option("--tls-key", o.tls_key, "The key of that certificate (PEM)")->type_name("FILE");
  serve->add_option("--tls-ca", o.tls_ca, "The authority that signs clients' certificates (PEM)")
      ->type_name("FILE");
  serve
      ->add_option(
          "--max-size", o.max_size,
          "Keep the store within this size; the least recently used results are dropped first "
          "(default: the project's [store] max_size; with --store: any size)")
      ->type_name("S");
  serve->add_option("--instance", o.instance, "The only instance name that is served")
      ->type_name("NAME");
  serve
      ->add_option(
          "--max-connections", o.connections_max,
          "Have at most this many connections; further ones are refused (default: what the "
          "limit of open files allows, at most 4096)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u));
  serve
      ->add_option("--max-silent", o.silent_max,
                   "Have at most this many connections of one address that have said nothing yet, "
                   "or have not finished their TLS handshake (256)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u));
  serve
      ->add_option("--silent-timeout", o.silent_seconds,
                   "Close such a connection after this many seconds (20)")
      ->type_name("S")
      ->check(CLI::Range(1u, 3600u));
  serve
      ->add_option("--max-unread", o.max_unread,
                   "Hold at most this much in replies that clients have not read yet (default: a "
                   "quarter of the memory)")
      ->type_name("S");
  serve
      ->add_option(
          "--metrics", o.metrics,
          "Write the numbers of connections to this file every two seconds, for Prometheus "
          "(node_exporter's text collector reads it)")
      ->type_name("FILE");
}

void AddPut(CLI::App& store, Arguments& arguments) {
  std::string &path = arguments.first, &pin = arguments.second;
  CLI::App* put =
      AddCommand(store, arguments, "put", "Put a folder or a file, as a tree, and print its root",
                 [&] { return RunStorePut(arguments.global, path, pin); });
  put->add_option("path", path, "A folder or a file")->required();
  put->add_option("--pin", pin, "Keep the tree under this name until `galley store unpin`")
      ->type_name("NAME");
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
