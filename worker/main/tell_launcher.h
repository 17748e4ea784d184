// TellLauncher: the last words of a worker that ends without having come to its director, told to
// what launched it, where that has a place for them which the director can read.
//
// Slurm: the job's comment (`squeue --format=%k`), written by scontrol. ssh and Kubernetes have
// what was printed. An error is nobody's concern: the words are in the log as well.
#pragma once

#include <string>

namespace galley::worker {

void TellLauncher(const std::string& words);

}  // namespace galley::worker
