// Systems: makes the known batch systems, one function for each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/launch/batch_system.h"
#include "director/launch/remote_worker.h"

namespace galley::director {

// Slurm: a launch is an array of jobs, which may be requeued; the ticket stands in the body of the
// script. A job is told 90 s before its time limit (SIGTERM: the worker gives back what it has in
// hand and ends). `arguments`: of sbatch, after our own, so that they may replace ours. Source:
// sbatch(1), squeue(1), scancel(1) of Slurm 22.05.
std::unique_ptr<BatchSystem> SlurmSystem(RemoteWorker worker, std::vector<std::string> arguments);

// Kubernetes: a launch is `manifest`, a text with the placeholders {name}, {count}, {program},
// {slots}, {ticket} (as a word in double quotes of YAML): usually an indexed Job and a Secret, all
// with the label galley.launch={name}. `arguments`: of each kubectl.
// Source: kubectl(1); https://kubernetes.io/docs/concepts/workloads/controllers/job/.
std::unique_ptr<BatchSystem> KubernetesSystem(RemoteWorker worker,
                                              std::vector<std::string> arguments,
                                              std::string manifest);

// Any other system: three commands of a shell, with the placeholders {name}, {count}, {program},
// {slots}, {ticket_file}, {id} and, for `stop`, {index}; each is replaced by one word. `start`
// submits, and the last word that it prints is the id. `status` ends with 0 while the launch exists
// and with 1 when it does not; its output may name single workers, in lines "INDEX
// queued|running|gone [MACHINE [REASON]]", and "INDEX held [REASON]" for a worker that waits and
// will not start by itself. `stop` ends the launch, or one worker if {index} is not empty. `status`
// and `stop` may be empty.
std::unique_ptr<BatchSystem> CommandSystem(RemoteWorker worker, std::string start,
                                           std::string status, std::string stop);
// INVALID_ARGUMENT: an unknown placeholder.
absl::Status CheckTemplate(const std::string& text);

}  // namespace galley::director
