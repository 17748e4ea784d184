// TellLauncher: leaves the last words of a worker that never reached its director with the
// launcher, where the director can read them.
//
// For Slurm, `words` go into the job's comment (`squeue --format=%k`), written by scontrol. ssh and
// Kubernetes have the printed output already. Errors are ignored: the log has the words as well.
#pragma once

#include <string>

namespace galley::worker {

void TellLauncher(const std::string& words);

}  // namespace galley::worker
