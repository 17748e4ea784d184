// DeviceArguments: the options of `galley device ...`, and of other commands that are a device's
// clients.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"

namespace galley::cli {
namespace {

constexpr const char* kUrlHelp = "http(s)://HOST:PORT, as `galley serve --http` prints it";

CLI::App* AddDeviceCommand(CLI::App& parent, Arguments& arguments, const char* name,
                           const char* help,
                           int (*run)(const GlobalOptions&, const DeviceOptions&)) {
  DeviceOptions& o = arguments.device;
  CLI::App* const command = AddCommand(parent, arguments, name, help,
                                       [&arguments, &o, run] { return run(arguments.global, o); });
  AddOption(*command, "url URL", o.url, kUrlHelp)->required();
  AddDeviceConnection(*command, o);
  return command;
}

CLI::Option* AddPlatformArgument(CLI::App& command, DeviceOptions& o) {
  return command.add_option("platform", o.platform, "A platform of the project");
}

}  // namespace

void AddDeviceConnection(CLI::App& command, DeviceOptions& o) {
  AddOption(command, "--culture C", o.cultures, "See the files of this culture (repeatable)")
      ->allow_extra_args(false);
  AddOption(command, "--cache DIR", o.cache,
            "Folder for what was fetched (default: galley/device/HOST_PORT in $XDG_CACHE_HOME, or "
            "~/.cache)");
  AddOption(command, "--cache-size S", o.cache_size, "The cache's size (4GiB)");
  AddOption(command, "--token-file FILE", o.token_file,
            "File with the director's token, which lies in its .galley/state/http-token (default: "
            "the variable GALLEY_DEVICE_TOKEN)");
  CLI::Option* const ca = AddOption(command, "--ca FILE", o.ca,
                                    "For https: authority of its certificate, in PEM (default: "
                                    "those of the system)");
  AddOption(command, "--pin SHA256", o.pin,
            "For https: accept exactly the certificate with this SHA-256, whatever its name is")
      ->excludes(ca);
  AddOption(command, "--wait SECONDS", o.wait_s, "How long to wait for one file (300)")
      ->check(CLI::Range(1, 86'400));
  command.add_flag("--last-good", o.takes_last_good,
                   "Take the last good version of a package that fails");
}

void AddDeviceCommands(CLI::App& app, Arguments& arguments) {
  DeviceOptions& o = arguments.device;
  CLI::App* const device = app.add_subcommand(
      "device", "Read cooked files from a director that serves devices (galley serve --http)");
  device->require_subcommand(1);
  CLI::App* const get =
      AddDeviceCommand(*device, arguments, "get",
                       "Write a cooked file to standard output, or to FILE", &RunDeviceGet);
  AddPlatformArgument(*get, o)->required();
  get->add_option("path", o.path, "Its path in the cooked tree")->required();
  AddOption(*get, "-o,--output FILE", o.output, "The file to write");
  get->footer(
      "Examples:\n"
      "  galley device get http://127.0.0.1:8080 pc Game/ui/logo.png.ktx2 -o logo.ktx2\n"
      "  galley device get http://127.0.0.1:8080 pc Game/a.json.cbor | sha256sum");
  CLI::App* const list =
      AddDeviceCommand(*device, arguments, "ls", "List a folder of the cooked tree", &RunDeviceLs);
  AddPlatformArgument(*list, o)->required();
  list->add_option("path", o.path, "A folder, or a file (default: the top)");
  list->add_flag("--recursive", o.is_recursive, "List the folders in it, too");
  list->add_flag("--long", o.is_long, "With sizes, where they are known before a file is opened");
  list->footer(
      "Examples:\n"
      "  galley device ls http://127.0.0.1:8080 pc\n"
      "  galley device ls http://127.0.0.1:8080 pc Game/maps --recursive --long");
  CLI::App* const sync = AddDeviceCommand(
      *device, arguments, "sync",
      "Make a folder a copy of the cooked tree; what was put there by others stays",
      &RunDeviceSync);
  AddPlatformArgument(*sync, o)->required();
  AddOption(*sync, "directory DIR", o.directory, "The folder")->required();
  sync->add_option("paths", o.paths, "Copy only these files and folders of the tree")
      ->type_name("PATH");
  sync->footer(
      "Examples:\n"
      "  galley device sync http://127.0.0.1:8080 pc build/data\n"
      "  galley device sync https://10.0.0.7:8080 android data Game/maps --token-file token \\\n"
      "    --pin 3f9a...");
  CLI::App* const watch =
      AddDeviceCommand(*device, arguments, "watch",
                       "Print what changes in the cooked tree, until Ctrl-C", &RunDeviceWatch);
  AddPlatformArgument(*watch, o)->required();
  watch->footer("Example:\n  galley device watch http://127.0.0.1:8080 pc --json");
  CLI::App* const status = AddDeviceCommand(
      *device, arguments, "status",
      "Say whether the director answers (exit 3 when not), and what the cache holds",
      &RunDeviceStatus);
  AddPlatformArgument(*status, o);
  status->footer("Example:\n  galley device status http://127.0.0.1:8080 pc");
}

}  // namespace galley::cli
