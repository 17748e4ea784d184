// RemoteWorker: how `galley worker` is called on another machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "director/launch/bundle.h"

namespace galley::director {

struct RemoteWorker {
  std::string program = "galley";  // on the machines: a path, or a name that is looked up there
  uint32_t slots = 1;              // 0: one for each core of the machine
  // Not null: the machines have no `program`, but are given this one ([farm] program = "bundle").
  std::shared_ptr<BundleFile> bundle = nullptr;
  std::string bundle_folder = {};  // where the machines see its folder; empty: they do not
};

// As one word of a POSIX shell.
std::string ShellWord(std::string_view text);
// A command of any login shell (POSIX's, csh, fish): `text`, of many lines, run by /bin/sh.
std::string CommandOfText(std::string_view text);

// The end of a script of a POSIX shell, which becomes the worker whose ticket comes as the first
// line of its standard input; with a bundle after BundleScript. `rest`: further arguments, as the
// shell reads them.
std::string BecomeWorker(const RemoteWorker& worker, std::string_view rest);

}  // namespace galley::director
