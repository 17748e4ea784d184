// Systems: makes the BatchSystem of each kind.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/launch/batch_system.h"
#include "director/launch/remote_worker.h"

namespace galley::director {

// Slurm: a launch is an array of jobs, which may be requeued; the ticket is in the body of the
// script. A job gets SIGTERM 90 s before its time limit: the worker gives back its jobs and ends.
// `arguments`: of sbatch, after our own, which they may override.
// Source: sbatch(1), squeue(1), scancel(1) of Slurm 22.05.
std::unique_ptr<BatchSystem> SlurmSystem(RemoteWorker worker, std::vector<std::string> arguments);

// Kubernetes: a launch is `manifest`, a text with the placeholders {name}, {count}, {program},
// {slots}, {ticket}: usually an indexed Job and a Secret, all with the label galley.launch={name}.
// {ticket} is replaced by a YAML string in double quotes. `arguments`: of each call of kubectl.
// Source: kubectl(1); https://kubernetes.io/docs/concepts/workloads/controllers/job/.
std::unique_ptr<BatchSystem> KubernetesSystem(RemoteWorker worker,
                                              std::vector<std::string> arguments,
                                              std::string manifest);

// Any other system: three shell commands, with the placeholders {name}, {count}, {program},
// {slots}, {ticket_file}, {id} and, for `stop`, {index}; each is replaced by one word.
//
//   start   submits; the last word of its output is the id
//   status  exits with 0 while the launch exists, and with 1 after its end; its output may have
//           lines for single workers, "INDEX queued|running|gone [MACHINE [REASON]]", or "INDEX
//           held [REASON]" for a queued worker that will not start by itself; may be empty
//   stop    ends the launch, or one worker if {index} is not empty; may be empty
std::unique_ptr<BatchSystem> CommandSystem(RemoteWorker worker, std::string start,
                                           std::string status, std::string stop);
// INVALID_ARGUMENT: an unknown placeholder.
absl::Status CheckTemplate(const std::string& text);

}  // namespace galley::director
