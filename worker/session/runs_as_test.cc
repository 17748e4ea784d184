#include "worker/session/runs_as.h"

#include <map>

#include "gtest/gtest.h"

namespace galley::worker {
namespace {

std::string In(const std::map<std::string, std::string>& environment) {
  return RunsAs([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
  });
}

TEST(RunsAsTest, ATaskOfSlurmIsNamedAsSqueueNamesIt) {
  EXPECT_EQ(In({{"SLURM_JOB_ID", "125"},
                {"SLURM_ARRAY_JOB_ID", "123"},
                {"SLURM_ARRAY_TASK_ID", "4"},
                {"SLURMD_NODENAME", "node7"}}),
            "Slurm job 123_4 on node7");
  EXPECT_EQ(In({{"SLURM_JOB_ID", "125"}}), "Slurm job 125");
}

TEST(RunsAsTest, APodIsNamedWithItsNodeWhereTheManifestTells) {
  EXPECT_EQ(In({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                {"HOSTNAME", "galley-0-abc"},
                {"GALLEY_NODE", "node7"}}),
            "pod galley-0-abc on node7");
  EXPECT_EQ(In({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                {"HOSTNAME", "node7"},  // the pod has the network of its node
                {"GALLEY_POD", "galley-0-abc"}}),
            "pod galley-0-abc");
}

TEST(RunsAsTest, ElsewhereThereIsNothingToSay) {
  EXPECT_EQ(In({{"HOSTNAME", "desk"}}), "");
  EXPECT_LE(In({{"SLURM_JOB_ID", std::string(10'000, '1')}}).size(), 300u);
}

}  // namespace
}  // namespace galley::worker
