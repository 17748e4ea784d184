// RemoteWorker: how to run `galley worker` on another machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "director/launch/bundle.h"

namespace galley::director {

struct RemoteWorker {
  std::string program = "galley";  // path on the machines, or a name to look up there
  uint32_t slots = 1;              // 0: one for each core of the machine
  // Not null: the machines have no `program`, and get this bundle ([farm] program = "bundle").
  std::shared_ptr<BundleFile> bundle = nullptr;
  std::string bundle_folder = {};  // the bundle's folder on the machines; empty: they do not see it
};

// Returns `text` quoted as one word of a POSIX shell.
std::string ShellWord(std::string_view text);
// Returns a command that runs the script `text` by /bin/sh, under any login shell: a POSIX shell,
// csh or fish.
std::string CommandOfText(std::string_view text);

// Returns the last line of a POSIX shell script, which runs the worker in place of the shell. The
// worker's ticket is the first line of standard input. `rest`: further arguments, quoted for the
// shell. REQUIRES: with a bundle, the script begins with BundleScript.
std::string BecomeWorker(const RemoteWorker& worker, std::string_view rest);

}  // namespace galley::director
