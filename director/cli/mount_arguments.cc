// MountArguments: the options of `galley mount`.
#include "CLI/CLI.hpp"
#include "director/cli/add_commands.h"

namespace galley::cli {

void AddMount(CLI::App& app, Arguments& arguments) {
  MountOptions& o = arguments.mount;
  CLI::App* const mount = AddCommand(
      app, arguments, "mount",
      "Show a cooked tree as a file system, until Ctrl-C; what is read is cooked if need be",
      [&arguments, &o] {
        o.global = arguments.global;
        return RunMount(o);
      });
  mount
      ->add_option("shown", o.shown,
                   "A platform, which is followed; or a root, as `galley tree` takes it")
      ->type_name("PLATFORM|ROOT")
      ->required();
  AddOption(*mount, "directory DIR", o.folder, "An empty folder")->required();
  AddOption(*mount, "--url URL", o.device.url,
            "The director, as `galley serve --http` prints it (default: the project's)");
  mount->add_flag("--allow-other", o.is_for_all_users,
                  "Let other users read, too (others than root need user_allow_other in "
                  "/etc/fuse.conf)");
  AddDeviceConnection(*mount, o.device);
  mount->footer(
      "Examples:\n"
      "  galley mount pc /mnt/game\n"
      "  galley mount pc@latest /mnt/nightly\n"
      "  galley mount android /mnt/game --url http://10.0.0.7:8080 --wait 60");
}

}  // namespace galley::cli
