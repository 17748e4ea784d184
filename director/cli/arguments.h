// Arguments: the commands of `galley` and their options (docs/cli.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "director/cli/commands.h"

namespace CLI {
class App;
}

namespace galley::cli {

// Arguments: the parsed command line. Must not move after AddCommands.
struct Arguments {
  using Action = std::function<int()>;
  Action action;   // of the named command
  Action refusal;  // runs instead if a given option is not built yet
  GlobalOptions global;
  FarDirector far;  // for commands that only ask
  CookCommandOptions cook;
  ServeOptions serve;
  WorkerOptions by_hand;
  uint64_t cook_number = 0;
  std::string worker;
  LogsOptions logs;
  WhyOptions why;
  StoreGcOptions store_gc;
  StoreRevokeOptions store_revoke;
  StoreVerifyOptions store_verify;
  StoreServeOptions store_serve;
  MountOptions mount;
  std::string directory = ".", package, platform, export_directory, first, second, output;
  bool link = false;
  ListOptions list;
  QueryOptions query;
  DeviceOptions device;
  bool is_stage_check = false;
  std::vector<std::string> packages;
  std::string shell;  // of `completion`
};

// `arguments` outlives `app`, which fills it in when it parses.
void AddCommands(CLI::App& app, Arguments& arguments);

}  // namespace galley::cli
