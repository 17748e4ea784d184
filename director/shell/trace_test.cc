#include "director/shell/trace.h"

#include <map>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace galley::director {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns the rows in the order of their numbers, each with its spans: "node7 / slurm-3 slot 0:
// load /a".
std::vector<std::string> RowsOf(const std::string& text) {
  const json trace = json::parse(text);
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name")
      processes[event["pid"]] = event["args"]["name"].get<std::string>();
    if (event["name"] == "thread_name")
      threads[{event["pid"], event["tid"]}] = event["args"]["name"].get<std::string>();
  }
  std::map<std::pair<int, int>, std::string> rows;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["ts"], 0);
    EXPECT_GE(event["dur"], 0);
    std::string& row = rows[{event["pid"], event["tid"]}];
    if (row.empty())
      row = processes.at(event["pid"]) + " / " + threads[{event["pid"], event["tid"]}] + ":";
    row += fmt::format(" {} {}", event["cat"].get<std::string>(), event["name"].get<std::string>());
  }
  std::vector<std::string> all;
  for (const auto& [key, row] : rows) all.push_back(row);
  return all;
}

TEST(TraceTest, EachMachineHasARowWithItsWorkersSlots) {
  Trace trace;
  trace.WorkerIs("local-1", "attached", "here", absl::Now());
  const Trace::Recording recording(trace);
  trace.WorkerIs("slurm-1", "attached", "node7", absl::Now());
  trace.WorkerIs("slurm-2", "attached", "node7", absl::Now());
  trace.Add({.name = "scan", .category = "scan", .worker = "director", .started_us = 1});
  trace.Add({.name = "/a", .category = "save", .worker = "local-1", .started_us = 2});
  trace.Add({.name = "/b", .category = "load", .worker = "slurm-1", .slot = 1, .started_us = 3});
  trace.Add({.name = "/c", .category = "load", .worker = "slurm-2", .started_us = 4});
  trace.Add({.name = "/b", .category = "fetch", .worker = "slurm-1", .slot = 1, .started_us = 5});
  trace.Add({.name = "/b", .category = "upload", .worker = "slurm-1", .slot = 1, .started_us = 6});
  trace.Add({.name = "/d", .category = "load", .worker = "nobody", .started_us = 7});
  trace.WorkerIs("slurm-2", "gone", "", absl::Now());
  EXPECT_THAT(
      RowsOf(recording.ToJson()),
      ElementsAre("director / : scan scan", "launches / local-1: worker attached",
                  "launches / slurm-1: worker attached", "launches / slurm-2: worker attached",
                  "here / local-1 slot 0: save /a", "nobody / nobody slot 0: load /d",
                  "node7 / slurm-1 slot 1: load /b fetch /b", "node7 / slurm-1 uploads: upload /b",
                  "node7 / slurm-2 slot 0: load /c"));
}

TEST(TraceTest, ALaunchIsARowOfItsStates) {
  Trace trace;
  const Trace::Recording recording(trace);
  absl::Time now = absl::Now();
  for (const char* state : {"asked for", "queued", "starting", "attached", "draining", "gone"})
    trace.WorkerIs("slurm-1", state, "", now += absl::Seconds(1));
  const std::string text = recording.ToJson();
  EXPECT_THAT(RowsOf(text), ElementsAre("launches / slurm-1: worker asked for worker queued "
                                        "worker starting worker attached worker draining"));
  const json parsed = json::parse(text);
  for (const json& event : parsed["traceEvents"]) {
    if (event["ph"] == "X") {
      EXPECT_EQ(event["dur"], 1'000'000);
    }
  }
}

TEST(TraceTest, ARecordingHasItsOwnTimeOnly) {
  Trace trace;
  {
    const Trace::Recording before(trace);
    trace.Add({.name = "/a", .category = "load", .worker = "local-1", .started_us = 1});
  }
  trace.Add({.name = "/b", .category = "load", .worker = "local-1", .started_us = 2});
  trace.WorkerIs("local-1", "attached", "here", absl::Now() - absl::Hours(1));
  trace.WorkerIs("local-2", "attached", "here", absl::Now() - absl::Hours(1));
  trace.WorkerIs("local-2", "gone", "", absl::Now());
  const Trace::Recording recording(trace);
  const std::string text = recording.ToJson();
  EXPECT_THAT(RowsOf(text), ElementsAre("launches / local-1: worker attached"));
  EXPECT_LT(json::parse(text)["traceEvents"].back()["dur"], 60'000'000) << "not the hour before";
}

}  // namespace
}  // namespace galley::director
