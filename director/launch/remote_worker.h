// RemoteWorker: how `galley worker` is called on another machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace galley::director {

struct RemoteWorker {
  std::string program = "galley";  // on the machines: a path, or a name that is looked up there
  uint32_t slots = 1;              // 0: one for each core of the machine
};

// As one word of a POSIX shell.
std::string ShellWord(std::string_view text);

// A command of a POSIX shell: the worker whose ticket comes as the first line of its standard
// input. `rest`: further arguments, as the shell reads them.
std::string WorkerCommand(const RemoteWorker& worker, std::string_view rest);

}  // namespace galley::director
