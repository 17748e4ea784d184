// RemoteWorker: the call of `galley worker` on another machine.
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

// Returns `text` as one word of a POSIX shell.
std::string ShellWord(std::string_view text);
// Returns a command for any login shell (POSIX's, csh, fish) that runs `text`, of many lines, by
// /bin/sh.
std::string CommandOfText(std::string_view text);

// Returns the end of a script of a POSIX shell, which becomes the worker whose ticket comes as the
// first line of its standard input; with a bundle after BundleScript. `rest`: further arguments, as
// the shell reads them.
std::string BecomeWorker(const RemoteWorker& worker, std::string_view rest);

}  // namespace galley::director
