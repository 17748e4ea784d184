// DeviceArguments: the options of commands that are a device's clients.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"

namespace galley::cli {

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

}  // namespace galley::cli
