#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/parse_whole.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/wire/unfit_comment.h"
#include "director/launch/systems.h"
#include "director/launch/template_text.h"
#include "director/launch/text_fields.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint32_t kArraySizeMax = 1'000;                         // MaxArraySize is usually 1001
constexpr int kNoticeSeconds = 90;                                // before a job's time limit
constexpr const char* kNodeLog = "/tmp/galley-worker-%A_%a.log";  // on the node
constexpr std::string_view kHereEnd = "GALLEY_TICKET_END";

// HeldFor: reasons (squeue %r) with which a job waits until a person does something. Source:
// squeue(1), JOB REASON CODES.
struct HeldFor {
  std::string_view reason, advice;
};
constexpr HeldFor kHeldFor[] = {
    {"JobHeldUser", "`scontrol release {job}` lets it run"},
    {"JobHeldAdmin", "An administrator of Slurm holds it: ask them to release job {job}"},
    {"launch failed requeued held",
     "Its node could not start it: read slurmd's log there, then `scontrol release {job}`"},
    {"JobHoldMaxRequeue",
     "It was requeued too often: find out why its nodes fail, then `scontrol release {job}`"},
    {"BadConstraints", "No node has what [farm] arguments ask for: change them"},
    {"PartitionNodeLimit", "[farm] arguments ask for more nodes than the partition has"},
    {"PartitionTimeLimit",
     "[farm] arguments ask for more time than the partition allows: change --time"},
    {"PartitionDown", "The partition starts no jobs: choose another one in [farm] arguments"},
    {"PartitionInactive", "The partition takes no jobs: choose another one in [farm] arguments"},
    {"InvalidAccount", "Slurm does not know the account: change --account in [farm] arguments"},
    {"InvalidQOS", "Slurm does not know the QOS: change --qos in [farm] arguments"},
};

std::string AdviceOnJob(std::string_view reason, const std::string& job) {
  const auto* const found = std::find_if(std::begin(kHeldFor), std::end(kHeldFor),
                                         [&](const HeldFor& one) { return one.reason == reason; });
  return found == std::end(kHeldFor) ? "" : FillIn(std::string(found->advice), {{"job", job}});
}

class Slurm final : public BatchSystem {
 public:
  Slurm(RemoteWorker worker, std::vector<std::string> arguments)
      : worker_(std::move(worker)), arguments_(std::move(arguments)) {}

  std::string kind() const override { return "slurm"; }
  uint32_t CountMax() const override { return kArraySizeMax; }
  bool LooksAtAll() const override { return true; }

  absl::Status Prepare() override {
    if (worker_.bundle == nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Bundle bundle, worker_.bundle->Look());
    RETURN_IF_ERROR(worker_.bundle->Write().status());
    const std::string file = JoinPath(worker_.bundle_folder, BundleFile::FileNameOf(bundle));
    bundle_script_ =
        BundleScript(bundle) + fmt::format(
                                   "galley_whole \"$galley_dir\" || {{\n"
                                   "  [ -r {0} ] || galley_fail {0} \"is not there, or cannot be "
                                   "read: [farm] shared_path has to be the project itself, as the "
                                   "nodes see it\"\n"
                                   "  galley_unpack {0}\n}} || exit 3\n",
                                   ShellWord(file));
    return absl::OkStatus();
  }

  // `exec`: the worker gets the signals. The ticket is the worker's standard input.
  Command Submit(const Launch& launch) const override {
    Command command;
    command.argv = {"/usr/bin/env",
                    "sbatch",
                    "--parsable",
                    fmt::format("--job-name={}", launch.name),
                    fmt::format("--array=0-{}", launch.count - 1),
                    "--ntasks=1",
                    "--requeue",
                    "--open-mode=append",
                    "--chdir=/",
                    "--export=PATH,HOME,USER,LANG",
                    fmt::format("--output={}", kNodeLog),
                    fmt::format("--signal=B:TERM@{}", kNoticeSeconds)};
    if (worker_.slots > 1) command.argv.push_back(fmt::format("--cpus-per-task={}", worker_.slots));
    command.argv.insert(command.argv.end(), arguments_.begin(), arguments_.end());
    command.input = fmt::format("#!/bin/sh\n{}{} <<'{}'\n{}\n{}\n", bundle_script_,
                                BecomeWorker(worker_, "--index \"$SLURM_ARRAY_TASK_ID\""), kHereEnd,
                                launch.ticket, kHereEnd);
    return command;
  }

  // Parses "1234" or "1234;cluster". Other output of sbatch, such as a plug-in's greeting, comes
  // before.
  absl::StatusOr<std::string> ReadId(const Launch&, std::string_view output) const override {
    for (const std::string& line : SplitAt(output, '\n')) {
      if (ParseWhole<uint32_t>(line)) return line;
      if (ParseWhole<uint32_t>(line.substr(0, line.find(';'))))
        return InvalidArgumentError(
            "sbatch gave the job to another cluster ({}): that cannot be followed; leave "
            "--clusters out, and submit from a machine of that cluster",
            line);
    }
    return InvalidArgumentError("sbatch printed no number of a job, but: {}", output);
  }

  Command Look(const std::vector<Launch>& launches) const override {
    std::string ids;
    for (const Launch& launch : launches) ids += (ids.empty() ? "" : ",") + launch.id;
    return {.argv = {"/usr/bin/env", "squeue", "--noheader", "--array", "--states=all",
                     "--format=%F|%K|%T|%N|%r|%k", "--jobs=" + ids}};
  }

  // A job that ended minutes ago is no longer known, and a list of only such jobs is an error.
  absl::StatusOr<std::vector<TaskView>> ReadLook(const std::vector<Launch>& launches,
                                                 const ExitStatus& exit,
                                                 const std::string& output) const override {
    if (!exit.ok() && output.find("Invalid job id") == std::string::npos)
      return absl::UnavailableError("squeue failed");
    std::map<std::string, std::string, std::less<>> names;
    for (const Launch& launch : launches) names[launch.id] = launch.name;
    std::vector<TaskView> views;
    for (const std::string& line : SplitAt(output, '\n')) {
      const std::vector<std::string> fields = SplitAt(line, '|', 6);
      if (fields.size() < 5) continue;
      const auto launch = names.find(fields[0]);
      const std::optional<uint32_t> index = ParseWhole<uint32_t>(fields[1]);
      if (launch == names.end() || !index) continue;
      views.push_back(ViewOf(launch->second, launch->first, *index, fields));
    }
    return views;
  }

  Command End(const Launch& launch, std::optional<uint32_t> index) const override {
    // Ends by name in any case: another job may have the number after Slurm was set up anew.
    Command command{
        .argv = {"/usr/bin/env", "scancel", "--quiet", "--me", "--name=" + launch.name}};
    if (!launch.id.empty())
      command.argv.push_back(index ? fmt::format("{}_{}", launch.id, *index) : launch.id);
    return command;
  }

 private:
  static TaskView ViewOf(const std::string& launch, const std::string& id, uint32_t index,
                         const std::vector<std::string>& fields) {
    const std::string& state = fields[2];
    TaskView view{.launch = launch, .index = index, .where = fields[3]};
    if (state == "PENDING" || state == "CONFIGURING" || state == "REQUEUED" ||
        state == "REQUEUE_HOLD" || state == "SUSPENDED" || state == "RESIZING") {
      view.state = TaskView::State::kQueued;
      view.reason = fields[4];
      view.advice = AdviceOnJob(view.reason, id);
    } else if (state == "RUNNING" || state == "COMPLETING" || state == "STAGE_OUT" ||
               state == "SIGNALING" || state == "STOPPED") {
      view.state = TaskView::State::kRunning;
    } else {
      view.state = TaskView::State::kGone;
      view.reason = fmt::format(
          "Slurm job {}_{} is {}{}{}; its output is in /tmp/galley-worker-{}_{}"
          ".log there",
          id, index, state, view.where.empty() ? "" : " on " + view.where,
          fields[4] == "None" ? "" : " (" + fields[4] + ")", id, index);
      // The worker wrote the comment, if it could: worker/main/tell_launcher.h.
      if (fields.size() > 5 && fields[5].starts_with(wire::kUnfitComment)) {
        view.is_unfit = true;
        view.reason += "; it said: " +
                       EscapeInvalidUtf8(EndOf(fields[5].substr(std::strlen(wire::kUnfitComment))));
      }
    }
    return view;
  }

  const RemoteWorker worker_;
  const std::vector<std::string> arguments_;
  std::string bundle_script_;  // comes before the worker; empty: nothing does
};

}  // namespace

std::unique_ptr<BatchSystem> SlurmSystem(RemoteWorker worker, std::vector<std::string> arguments) {
  return std::make_unique<Slurm>(std::move(worker), std::move(arguments));
}

}  // namespace galley::director
