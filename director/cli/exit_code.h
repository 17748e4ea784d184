// ExitCode: the exit codes of `galley` (docs/cli.md). 3 wins over 1, and 130 wins over both.
#pragma once

namespace galley::cli {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,          // a package failed, or outputs conflict
  kUsage = 2,           // wrong usage or project file
  kInfrastructure = 3,  // no worker starts, the store is unreachable or damaged, or the disk full
  kInterrupted = 130,
};

}  // namespace galley::cli
