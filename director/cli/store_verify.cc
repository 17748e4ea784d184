// StoreVerify: `galley store verify`: reads the store, reports damaged and lost content, and cooks
// it again with --repair.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <utility>

#include "common/base/counted.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "common/store/interface/pins.h"
#include "director/cli/commands.h"
#include "director/cli/interrupt.h"
#include "director/cli/lost_roots.h"
#include "director/cli/open_store.h"
#include "director/cli/print_line.h"
#include "director/cli/progress_line.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

constexpr size_t kRootsToldMax = 20;

absl::StatusOr<store::VerifyReport> Verify(const GlobalOptions& options, store::StoreAdmin& store,
                                           const StoreVerifyOptions& asked,
                                           uint64_t bytes_per_second,
                                           const std::atomic<bool>& is_stopped) {
  ProgressLine line(options);
  return store.Verify({.bytes_per_second = bytes_per_second,
                       .restart = asked.restart,
                       .on_progress = [&](const store::VerifyProgress& progress) {
                         line.Show(fmt::format("verify: {}; {}, {} of {}, {}", progress.phase,
                                               Counted(progress.blobs, "blob"),
                                               HumanBytes(progress.bytes),
                                               HumanBytes(progress.bytes_total),
                                               Counted(progress.problems, "problem")));
                         return !is_stopped;
                       }});
}

nlohmann::json ToJson(const LostRoot& lost) {
  return {{"project", lost.root.project_id},
          {"platform", lost.root.platform},
          {"sequence", lost.root.sequence},
          {"root", lost.root.root.ToString()},
          {"lost", lost.lost},
          {"example", lost.example}};
}

bool IsPin(const LostRoot& lost) { return lost.root.project_id == store::kPinProject; }

// Returns the outcome, for the last line.
std::string Outcome(const store::VerifyReport& report, const std::vector<LostRoot>& lost,
                    bool is_repaired) {
  if (!report.problems.empty())
    return fmt::format("{}, quarantined; {}", Counted(report.problems.size(), "problem"),
                       is_repaired ? "made again" : "the next cook makes again what it needs");
  if (lost.empty())
    return is_repaired ? "all whole; what roots lacked was made again" : "all whole";
  return fmt::format("all that is there is whole, and {} something: {}",
                     lost.size() == 1 ? "1 root lacks" : fmt::format("{} roots lack", lost.size()),
                     std::ranges::any_of(lost, IsPin)
                         ? "a cook makes again what it still makes; put the rest again"
                         : "the next cook makes again what it needs");
}

void PrintReport(const GlobalOptions& options, const store::VerifyReport& report,
                 const std::vector<LostRoot>& lost, bool is_repaired) {
  if (options.json) {
    nlohmann::json json = {{"blobs", report.blobs},
                           {"bytes", report.bytes},
                           {"problems", report.problems},
                           {"resumed", nullptr},
                           {"lost_roots", nlohmann::json::array()},
                           {"repaired", is_repaired}};
    if (report.resumed.has_value())
      json["resumed"] = absl::FormatTime(absl::RFC3339_sec, *report.resumed, absl::UTCTimeZone());
    for (const LostRoot& root : lost) json["lost_roots"].push_back(ToJson(root));
    return PrintJson(json);
  }
  for (const std::string& problem : report.problems) std::puts(problem.c_str());
  for (size_t i = 0; i < lost.size() && i < kRootsToldMax; ++i) {
    PrintLine("root {} lacks {} ({}): {}", NameOfRoot(lost[i].root),
              Counted(lost[i].lost, "file or folder", "files or folders"),
              lost[i].example.empty() ? "all of it" : lost[i].example,
              lost[i].root.root.ToString());
  }
  if (lost.size() > kRootsToldMax)
    PrintLine("and {}", Counted(lost.size() - kRootsToldMax, "more root"));
  if (options.quiet) return;
  PrintLine("{}, {}{}: {}", Counted(report.blobs, "blob"), HumanBytes(report.bytes),
            report.resumed.has_value()
                ? absl::FormatTime(" (going on with the verify of %Y-%m-%dT%H:%M:%SZ)",
                                   *report.resumed, absl::UTCTimeZone())
                : "",
            Outcome(report, lost, is_repaired));
}

CookCommandOptions CookOf(const GlobalOptions& options) {
  CookCommandOptions cook;
  cook.global = options;
  cook.global.json = false;
  cook.global.quiet = true;
  cook.ask.set_no_stage(true);
  return cook;
}

absl::StatusOr<std::vector<LostRoot>> LostRootsOf(const GlobalOptions& options) {
  ASSIGN_OR_RETURN(const OpenedStore opened, OpenStoreAndProject(options));
  return FindLostRoots(*opened.store, opened.project_id);
}

// Cooks again what the store lost of the project: packages by their names; a folder of a tree is
// made by a cook of the whole. Stages nothing. Returns the cook's exit code.
int Repair(const GlobalOptions& options) {
  CookCommandOptions cook = CookOf(options);
  cook.ask.set_repair(true);
  if (const int code = RunCook(cook); code != kDone) return code;
  const absl::StatusOr<std::vector<LostRoot>> lost = LostRootsOf(options);
  if (!lost.ok()) return Fail(options, kInfrastructure, MessageOf(lost.status()));
  for (const LostRoot& root : *lost) {
    if (root.lacks_folder) return RunCook(CookOf(options));
  }
  return kDone;
}

}  // namespace

int RunStoreVerify(const GlobalOptions& options, const StoreVerifyOptions& asked) {
  uint64_t bytes_per_second = 0;
  if (!asked.rate.empty()) {
    const absl::StatusOr<uint64_t> rate = ParseSize(asked.rate);
    if (!rate.ok() || *rate == 0)
      return Fail(
          options, kUsage,
          fmt::format("--rate: `{}` is no size, like 20MiB: what is read in a second", asked.rate));
    bytes_per_second = *rate;
  }
  const bool has_project = OpenProject(options).ok();
  std::optional<store::VerifyReport> report;
  std::vector<LostRoot> lost;
  {
    std::atomic<bool> is_stopped = false;
    const InterruptWatch interrupt([&] { is_stopped = true; });  // before the store is open
    auto opened = OpenStoreAndProject(options);
    if (!opened.ok())
      return Fail(options, absl::IsInvalidArgument(opened.status()) ? kUsage : kInfrastructure,
                  MessageOf(opened.status()));
    auto verified = Verify(options, *opened->store, asked, bytes_per_second, is_stopped);
    if (absl::IsAborted(verified.status()))
      return Fail(options, kInterrupted, MessageOf(verified.status()));
    if (!verified.ok()) return Fail(options, kInfrastructure, MessageOf(verified.status()));
    report = *std::move(verified);
    auto found = FindLostRoots(*opened->store, has_project ? opened->project_id : "");
    if (absl::IsDataLoss(found.status())) {
      // The error concerns the index, which the next opening makes again.
      report->problems.push_back("which roots lack something was not found out: " +
                                 MessageOf(found.status()));
    } else if (!found.ok()) {
      return Fail(options, kInfrastructure, MessageOf(found.status()));
    } else {
      lost = *std::move(found);
    }
  }
  const bool had_problems = !report->problems.empty(), have_lacked = !lost.empty();
  int code = kDone;
  if (asked.repair && has_project) {
    // The store is closed: the cook owns it.
    code = Repair(options);
    auto left = LostRootsOf(options);
    if (!left.ok()) return Fail(options, kInfrastructure, MessageOf(left.status()));
    lost = *std::move(left);
  }
  const bool is_repaired =
      asked.repair && has_project && code == kDone && lost.empty() && (had_problems || have_lacked);
  PrintReport(options, *report, lost, is_repaired);
  if (code != kDone) return code;
  // Somebody may want a root that lacks something tonight: until the root is whole again the exit
  // code says so, even if the next cook will make it whole.
  return !had_problems && lost.empty() ? kDone : kFailed;
}

}  // namespace galley::cli
