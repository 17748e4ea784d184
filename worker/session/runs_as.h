// RunsAs: the name that the cluster of this worker has for it, as far as the environment tells:
// "Slurm job 123_4 on node7", "pod galley-tower-1a2b-0-x1y2z on node7". For people.
#pragma once

#include <functional>
#include <string>

namespace galley::worker {

// `variable`: returns the value of an environment variable; "": the variable is not set. Returns ""
// for a cluster that is not known here. Sources: sbatch(1), OUTPUT ENVIRONMENT VARIABLES;
// Kubernetes sets KUBERNETES_SERVICE_HOST and HOSTNAME in each pod, deploy/kubernetes/ the rest.
std::string RunsAs(const std::function<std::string(const char* name)>& variable);
// RunsAs for the environment of this process.
std::string RunsAs();

}  // namespace galley::worker
