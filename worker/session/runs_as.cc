#include "worker/session/runs_as.h"

#include <cstdlib>

namespace galley::worker {
namespace {

constexpr size_t kTextMax = 300;

std::string Joined(const std::string& what, const std::string& node) {
  return (node.empty() ? what : what + " on " + node).substr(0, kTextMax);
}

}  // namespace

std::string RunsAs(const std::function<std::string(const char* name)>& variable) {
  if (const std::string job = variable("SLURM_JOB_ID"); !job.empty()) {
    const std::string array = variable("SLURM_ARRAY_JOB_ID");
    const std::string task = variable("SLURM_ARRAY_TASK_ID");
    return Joined("Slurm job " + (array.empty() || task.empty() ? job : array + "_" + task),
                  variable("SLURMD_NODENAME"));
  }
  if (!variable("KUBERNETES_SERVICE_HOST").empty()) {
    std::string pod = variable("GALLEY_POD");
    if (pod.empty()) pod = variable("HOSTNAME");
    if (!pod.empty()) return Joined("pod " + pod, variable("GALLEY_NODE"));
  }
  return "";
}

std::string RunsAs() {
  return RunsAs([](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  });
}

}  // namespace galley::worker
