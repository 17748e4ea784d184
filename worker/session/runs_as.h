// RunsAs: what the cluster that runs this worker calls it, as far as the environment tells: "Slurm
// job 123_4 on node7", "pod galley-tower-1a2b-0-x1y2z on node7". For people.
#pragma once

#include <functional>
#include <string>

namespace galley::worker {

// `variable`: the value of a variable of the environment; "": it is not set. "": no cluster that is
// known here. Sources: sbatch(1), OUTPUT ENVIRONMENT VARIABLES; Kubernetes sets
// KUBERNETES_SERVICE_HOST and HOSTNAME in each pod, deploy/kubernetes/ the rest.
std::string RunsAs(const std::function<std::string(const char* name)>& variable);
// By the environment of this process.
std::string RunsAs();

}  // namespace galley::worker
