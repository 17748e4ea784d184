// SystemsTest: the commands for batch systems, and the reading of their answers.
#include "director/launch/systems.h"

#include <nlohmann/json.hpp>

#include "common/base/program_output.h"
#include "director/launch/text_fields.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Launch ALaunch() {
  return {.name = "galley-tower-1a2b3c4d",
          .id = "17",
          .count = 3,
          .ticket = R"({"token":"it's secret"})",
          .ticket_file = "/state/ticket"};
}

std::string Joined(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& word : argv) text += word + " ";
  return text;
}

std::string Seen(const absl::StatusOr<std::vector<TaskView>>& views) {
  if (!views.ok()) return "error";
  std::string text;
  for (const TaskView& view : *views) {
    text += std::to_string(view.index);
    text += view.state == TaskView::State::kQueued    ? "q"
            : view.state == TaskView::State::kRunning ? "r"
                                                      : "g";
    text += view.where.empty() ? " " : "@" + view.where + " ";
  }
  return text;
}

TEST(SlurmTest, TheTicketIsInTheScriptAndNowhereElse) {
  const auto slurm = SlurmSystem({.program = "/opt/it's/galley", .slots = 4}, {"--partition=cook"});
  const BatchSystem::Command command = slurm->Submit(ALaunch());
  const std::string argv = Joined(command.argv);
  EXPECT_THAT(argv, HasSubstr("--array=0-2 "));
  EXPECT_THAT(argv, HasSubstr("--cpus-per-task=4 --partition=cook "));
  EXPECT_THAT(argv, Not(HasSubstr("secret")));
  EXPECT_EQ(command.input,
            "#!/bin/sh\nexec '/opt/it'\\''s/galley' worker --ticket - --slots 4 --index "
            "\"$SLURM_ARRAY_TASK_ID\" <<'GALLEY_TICKET_END'\n{\"token\":\"it's "
            "secret\"}\nGALLEY_TICKET_END\n");
}

TEST(SlurmTest, ItsNumberIsReadFromAmongWhatElseIsSaid) {
  const auto slurm = SlurmSystem({}, {});
  EXPECT_EQ(*slurm->ReadId(ALaunch(), "sbatch: welcome\n1234\n"), "1234");
  EXPECT_FALSE(slurm->ReadId(ALaunch(), "1234;cluster\n").ok()) << "1234 here is another job";
  EXPECT_EQ(*slurm->ReadId(ALaunch(), "1234\n"), "1234");
  EXPECT_FALSE(slurm->ReadId(ALaunch(), "sbatch: 12 jobs\n").ok());
}

TEST(SlurmTest, StatesOfTasksAreRead) {
  const auto slurm = SlurmSystem({}, {});
  EXPECT_EQ(
      Seen(slurm->ReadLook({ALaunch()}, {},
                           "17|0|RUNNING|n1|None\n17|1|PENDING||Resources\n"
                           "17|2|FAILED|n2|NonZeroExitCode\n18|0|RUNNING|n3|None\nnonsense\n")),
      "0r@n1 1q 2g@n2 ");
  const auto held = slurm->ReadLook({ALaunch()}, {},
                                    "17|0|PENDING||JobHeldUser\n17|1|PENDING||Priority\n"
                                    "17|2|REQUEUE_HOLD||launch failed requeued held\n");
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(held->at(0).advice, "`scontrol release 17` lets it run");
  EXPECT_EQ(held->at(1).advice, "") << "its turn comes";
  EXPECT_THAT(held->at(2).advice, HasSubstr("then `scontrol release 17`"));
  const auto gone = slurm->ReadLook({ALaunch()}, {}, "17|2|FAILED|n2|NonZeroExitCode\n");
  EXPECT_THAT(gone->front().reason,
              HasSubstr("Slurm job 17_2 is FAILED on n2 (NonZeroExitCode); its output is in "
                        "/tmp/galley-worker-17_2.log"));
  EXPECT_EQ(
      Seen(slurm->ReadLook({ALaunch()}, {.code = 1}, "slurm_load_jobs error: Invalid job id")), "");
  EXPECT_EQ(Seen(slurm->ReadLook({ALaunch()}, {.code = 1}, "Socket timed out")), "error");
}

// The worker's output lies on its node; its comment comes with the states.
TEST(SlurmTest, WhatAnUnfitWorkerSaidLastIsInItsJobsComment) {
  const auto slurm = SlurmSystem({}, {});
  EXPECT_THAT(Joined(slurm->Look({ALaunch()}).argv), HasSubstr("|%r|%k"));
  const auto gone = slurm->ReadLook(
      {ALaunch()}, {},
      "17|1|FAILED|n1|NonZeroExitCode|galley-worker is unfit: another name | no less\n"
      "17|2|FAILED|n2|NonZeroExitCode|a comment of somebody\n");
  ASSERT_EQ(gone->size(), 2u);
  EXPECT_TRUE(gone->at(0).is_unfit);
  EXPECT_THAT(gone->at(0).reason, HasSubstr("; it said: another name | no less"));
  EXPECT_FALSE(gone->at(1).is_unfit);
  EXPECT_THAT(gone->at(1).reason, Not(HasSubstr("somebody")));
}

TEST(SlurmTest, OneIsEndedByItsNumberAndOneWithoutByItsName) {
  const auto slurm = SlurmSystem({}, {});
  EXPECT_THAT(Joined(slurm->End(ALaunch(), 2).argv),
              EndsWith("scancel --quiet --me --name=galley-tower-1a2b3c4d 17_2 "));
  Launch unknown = ALaunch();
  unknown.id.clear();
  EXPECT_THAT(Joined(slurm->End(unknown, std::nullopt).argv),
              EndsWith("--me --name=galley-tower-1a2b3c4d "));
}

TEST(CommandTest, PlaceholdersBecomeSingleWords) {
  const auto system = CommandSystem({.program = "/a b/galley", .slots = 2},
                                    "q -n {count} {name} {ticket_file} {program} {slots} ${HOME}",
                                    "q stat {id}", "q del {id} {index}");
  Launch launch = ALaunch();
  launch.ticket_file = "/a b/ticket";
  EXPECT_THAT(system->Submit(launch).argv,
              ElementsAre("/bin/sh", "-c",
                          "q -n 3 'galley-tower-1a2b3c4d' '/a b/ticket' '/a b/galley' 2 ${HOME}"));
  EXPECT_EQ(system->Look({launch}).argv.back(), "q stat '17'");
  EXPECT_EQ(system->End(launch, 1).argv.back(), "q del '17' 1");
  EXPECT_EQ(system->CountMax(), 1'000u);
  EXPECT_EQ(CommandSystem({}, "q {ticket_file}", "", "")->CountMax(), 1u) << "no {count}";
  EXPECT_TRUE(CommandSystem({}, "q", "", "q del {id}")->End(launch, 1).argv.empty())
      << "all of it would be ended";
}

TEST(CommandTest, TheLastWordIsTheId) {
  const auto system = CommandSystem({}, "q", "", "");
  EXPECT_EQ(*system->ReadId(ALaunch(), "1 job(s) submitted to cluster 4711.\n"), "4711.");
  EXPECT_EQ(*system->ReadId(ALaunch(), "\n"), "galley-tower-1a2b3c4d");
}

TEST(CommandTest, AStatusNamesAllOrSomeOfItsWorkers) {
  const auto system = CommandSystem({}, "q {count}", "q stat", "");
  EXPECT_EQ(Seen(system->ReadLook({ALaunch()}, {}, "anything\n")), "0q 1q 2q ");
  EXPECT_EQ(
      Seen(system->ReadLook({ALaunch()}, {}, "1 running n7\n2 gone n8 out of memory\n9 gone")),
      "0q 1r@n7 2g@n8 ");
  EXPECT_EQ(Seen(system->ReadLook({ALaunch()}, {.code = 1}, "")), "");
  EXPECT_EQ(Seen(system->ReadLook({ALaunch()}, {.code = 2}, "")), "error");
  const auto held = system->ReadLook({ALaunch()}, {}, "1 held no such queue\n2 held\n");
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(held->at(0).advice, "");
  EXPECT_EQ(held->at(1).reason, "no such queue");
  EXPECT_NE(held->at(2).advice, "");
}

TEST(KubernetesTest, TheManifestIsFilledIn) {
  const auto system = KubernetesSystem({.program = "/opt/galley", .slots = 4}, {"--context=farm"},
                                       "name: {name}\ncount: {count}\nargs: [{program}, {slots}]\n"
                                       "ticket: {ticket}\nlimits: {cpu: 1}\n");
  const BatchSystem::Command command = system->Submit(ALaunch());
  EXPECT_EQ(Joined(command.argv), "/usr/bin/env kubectl --context=farm create -f - ");
  EXPECT_EQ(command.input,
            "name: galley-tower-1a2b3c4d\ncount: 3\nargs: [\"/opt/galley\", 4]\n"
            "ticket: \"{\\\"token\\\":\\\"it's secret\\\"}\\n\"\nlimits: {cpu: 1}\n");
  EXPECT_THAT(Joined(system->End(ALaunch(), std::nullopt).argv),
              HasSubstr("--selector galley.launch=galley-tower-1a2b3c4d "));
  EXPECT_THAT(Joined(system->End(ALaunch(), 1).argv),
              HasSubstr("delete pods --selector galley.launch=galley-tower-1a2b3c4d,"
                        "batch.kubernetes.io/job-completion-index=1 "));
}

// Row: what kubectl prints of one object.
struct Row {
  std::string kind = "Pod", index, failed_indexes, phase, conditions, node, waits_for, name = "p",
              unscheduled, deleted_at, exit_code, ended_as, reason, text;

  nlohmann::json Json() const {
    nlohmann::json item = {{"kind", kind}, {"metadata", {{"name", name}}}};
    nlohmann::json& status = item["status"] = {{"conditions", nlohmann::json::array()}};
    if (!index.empty())
      item["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] = index;
    if (!deleted_at.empty()) item["metadata"]["deletionTimestamp"] = deleted_at;
    if (!node.empty()) item["spec"]["nodeName"] = node;
    if (!failed_indexes.empty()) status["failedIndexes"] = failed_indexes;
    if (!phase.empty()) status["phase"] = phase;
    if (!reason.empty()) status["reason"] = reason;
    for (const std::string& type : WordsOf(conditions))
      status["conditions"].push_back({{"type", type}, {"status", "True"}});
    nlohmann::json container;
    if (!waits_for.empty()) container["state"]["waiting"]["reason"] = waits_for;
    if (!unscheduled.empty()) {
      status["conditions"].push_back({{"type", "PodScheduled"},
                                      {"status", "False"},
                                      {"reason", unscheduled},
                                      {"message", text}});
    } else if (!exit_code.empty()) {
      container["state"]["terminated"] = {
          {"exitCode", std::stoi(exit_code)}, {"reason", ended_as}, {"message", text}};
    } else if (!text.empty()) {
      status["message"] = text;
    }
    if (!container.is_null()) status["containerStatuses"] = {container};
    return item;
  }
};

std::vector<TaskView> Views(const std::vector<Row>& rows) {
  nlohmann::json list = {{"kind", "List"}, {"items", nlohmann::json::array()}};
  for (const Row& row : rows) list["items"].push_back(row.Json());
  list["items"].push_back({{"kind", "Pod"}, {"metadata", 7}, {"status", {{"conditions", "none"}}}});
  list["items"].push_back("nonsense");
  const auto views = KubernetesSystem({}, {}, "")->ReadLook({ALaunch()}, {}, list.dump(4));
  EXPECT_TRUE(views.ok());
  return views.value_or(std::vector<TaskView>());
}

std::string SeenOf(const std::vector<Row>& rows) { return Seen(Views(rows)); }

TEST(KubernetesTest, WhileItsJobIsThereAnIndexWithoutALivePodWaits) {
  const Row job = {.kind = "Job"};
  EXPECT_EQ(SeenOf({job}), "0q 1q 2q ") << "it has no pods yet";
  EXPECT_EQ(SeenOf({job,
                    {.index = "0", .phase = "Running", .node = "n2"},
                    {.index = "1", .phase = "Failed", .node = "n3"},
                    {.index = "2", .phase = "Succeeded", .node = "n4"},
                    {.index = "7", .phase = "Running"}}),
            "0r@n2 1q@n3 2g@n4 ")
      << "a Job of somebody else's manifest may try again";
  EXPECT_EQ(SeenOf({{.index = "0", .phase = "Running"}}), "") << "its Job was deleted";
  EXPECT_EQ(SeenOf({}), "");
  EXPECT_EQ(Seen(KubernetesSystem({}, {}, "")->ReadLook({ALaunch()}, {.code = 1}, "no server")),
            "error");
  for (const char* output : {"", "Warning: ...", "[]", "{\"items\": 7}", "{\"items\": ["})
    EXPECT_EQ(Seen(KubernetesSystem({}, {}, "")->ReadLook({ALaunch()}, {}, output)), "error");
}

// A worker's last words are what its program writes into a file.
TEST(KubernetesTest, WhatAPodSaysIsNoOtherObject) {
  for (const std::string& text :
       {std::string("void\n\x1ePod|1||Succeeded||||p|||||||\x1ePod|2||Succeeded||||p|||||||"),
        std::string(
            "\"}}]}, {\"kind\": \"Pod\", \"status\": {\"phase\": \"Succeeded\"}}, {\"a\": \""),
        std::string("Pod\t1\tSucceeded\nPod\t2\tSucceeded")}) {
    const Row failed = {.index = "0",
                        .phase = "Failed",
                        .name = "a",
                        .exit_code = "3",
                        .ended_as = "Error",
                        .text = text};
    EXPECT_EQ(SeenOf({{.kind = "Job", .failed_indexes = "0"}, failed}), "0g 1q 2q ") << text;
  }
}

TEST(KubernetesTest, WhatBecameOfAPodIsTold) {
  const Row job = {.kind = "Job", .failed_indexes = "0,2-7"};
  const Row failed = {.index = "0",
                      .phase = "Failed",
                      .node = "n1",
                      .name = "a",
                      .exit_code = "3",
                      .ended_as = "Error",
                      .text = "first\nthe ticket | is void\n"};
  EXPECT_EQ(SeenOf({job, failed}), "0g@n1 1q 2g ");
  EXPECT_EQ(Views({job, failed})[0].reason,
            "pod a ended with exit code 3: first\nthe ticket | is void");
  EXPECT_EQ(Views({job, failed})[2].reason, "its pod failed");
  Row evicted = {.index = "0",
                 .phase = "Failed",
                 .name = "a",
                 .reason = "Evicted",
                 .text = "The node was low on resource: memory."};
  EXPECT_EQ(Views({job, evicted})[0].reason,
            "pod a failed (Evicted): The node was low on resource: memory.");
  // The Job of one worker is over with it.
  const Row over = {
      .kind = "Job", .failed_indexes = "0", .conditions = "FailureTarget Failed", .name = "galley"};
  EXPECT_EQ(SeenOf({over, failed}), "0g@n1 1g 2g ");
  EXPECT_EQ(Views({over, failed})[0].reason,
            "pod a ended with exit code 3: first\nthe ticket | is void");
  EXPECT_EQ(Views({over})[1].reason, "Job galley is over");
  evicted.text.assign(10'000, 'x');
  EXPECT_LT(Views({job, evicted})[0].reason.size(), 2 * kSaidBytesMax);
}

TEST(KubernetesTest, APodThatIsDeletedDoesNotComeAnyMore) {
  const Row deleted = {.index = "1",
                       .phase = "Pending",
                       .node = "n1",
                       .name = "a",
                       .deleted_at = "2026-11-27T18:00:00Z",
                       .text = "Taint manager: deleting"};
  EXPECT_EQ(SeenOf({{.kind = "Job"}, deleted}), "0q 1g@n1 2q ");
  EXPECT_EQ(Views({{.kind = "Job"}, deleted})[1].reason,
            "pod a was deleted: Taint manager: deleting");
}

TEST(KubernetesTest, WhatAPodWaitsForIsTold) {
  const auto waits =
      Views({{.kind = "Job"},
             {.index = "1", .phase = "Pending", .node = "n1", .waits_for = "ImagePullBackOff"},
             {.index = "2",
              .phase = "Pending",
              .name = "q",
              .unscheduled = "Unschedulable",
              .text = "0/3 nodes are available: 3 cpu|gpu."}});
  EXPECT_EQ(waits[0].reason, "");
  EXPECT_EQ(waits[0].advice, "");
  EXPECT_EQ(waits[1].reason, "ImagePullBackOff");
  EXPECT_THAT(waits[1].advice, HasSubstr("`kubectl describe pod p`"));
  EXPECT_EQ(waits[2].reason, "Unschedulable: 0/3 nodes are available: 3 cpu|gpu.");
}

}  // namespace
}  // namespace galley::director
