#include "director/cli/farm_doctor.h"

#include <algorithm>
#include <future>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/wire/tls_probe.h"
#include "director/cli/farm_check.h"
#include "director/host/farm_plan.h"
#include "director/launch/remote_worker.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::cli {
namespace {

using Level = FarmFinding::Level;

constexpr absl::Duration kAskMax = absl::Seconds(15);
constexpr size_t kAtOnceMax = 16;  // hosts
constexpr int kSshFailed = 255, kNotFound = 127;
constexpr uint64_t kPemBytesMax = 1 << 20;

absl::StatusOr<ProgramOutput> Ask(std::vector<std::string> argv, std::string input = "") {
  return RunToEnd({.argv = std::move(argv),
                   .environment = {"LC_ALL=C"},
                   .input = std::move(input),
                   .with_errors = true,
                   .takes_privileges = true,
                   .wait_max = kAskMax,
                   .output_bytes_max = 4 << 20});
}

absl::StatusOr<ProgramOutput> AskHost(const director::FarmHost& host,
                                      const std::vector<std::string>& arguments,
                                      const std::string& script) {
  std::vector<std::string> argv = {"/usr/bin/env", "ssh"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  argv.insert(argv.end(), {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10"});
  if (host.port != 0) argv.insert(argv.end(), {"-p", fmt::format("{}", host.port)});
  argv.insert(argv.end(), {"--", host.name, director::CommandOfText(script)});
  return Ask(std::move(argv));
}

void LookAtHosts(const director::FarmLaunch& launch,
                 const std::vector<record::CookerDescription>& own,
                 std::vector<FarmFinding>& findings) {
  const bool brings = launch.worker.bundle != nullptr;
  const std::string program = brings ? "" : launch.worker.program;
  for (size_t begin = 0; begin < launch.hosts.size(); begin += kAtOnceMax) {
    const size_t end = std::min(begin + kAtOnceMax, launch.hosts.size());
    std::vector<std::future<absl::StatusOr<ProgramOutput>>> answers;
    for (size_t i = begin; i < end; ++i) {
      answers.push_back(std::async(std::launch::async, [&, i] {
        return AskHost(launch.hosts[i], launch.arguments, HostScript(program));
      }));
    }
    for (size_t i = begin; i < end; ++i)
      findings.push_back(JudgeHost(launch.hosts[i].name, program, answers[i - begin].get(), own));
  }
}

void LookAtTools(const std::string& kind, std::vector<FarmFinding>& findings) {
  std::vector<std::vector<std::string>> tools;
  if (kind == "slurm")
    tools = {{"sbatch", "--version"}, {"squeue", "--version"}, {"scancel", "--version"}};
  if (kind == "kubernetes") tools = {{"kubectl", "version", "--client"}};
  for (std::vector<std::string>& tool : tools) {
    const std::string name = tool.front();
    tool.insert(tool.begin(), "/usr/bin/env");
    findings.push_back(JudgeTool(name, Ask(std::move(tool))));
  }
}

// If a director listens there already, looks at its door as a worker would see it.
void LookAtDoor(const project::FarmSection& farm, const std::string& address,
                std::vector<FarmFinding>& findings) {
  const auto certificate = ReadFile(farm.tls_cert, kPemBytesMax);
  const auto authority = ReadFile(farm.tls_ca, kPemBytesMax);
  if (!certificate.ok() || !authority.ok()) return;  // CheckFarm told the error
  FarmFinding found = JudgeCertificate(*certificate, address);
  if (found.level == Level::kOk && !address.ends_with(":0")) {
    const absl::Status probed = wire::ProbeTls(address, {.ca = *authority}, absl::Seconds(2));
    if (absl::IsFailedPrecondition(probed)) {
      found.level = Level::kError;
      found.text += fmt::format("; but who listens there now will not do: {}", MessageOf(probed));
    } else {
      found.text +=
          probed.ok() ? "; a director listens there, with TLS" : "; no director listens there now";
    }
  }
  findings.push_back(std::move(found));
}

std::string Differences(const std::vector<record::CookerDescription>& own,
                        const std::vector<record::CookerDescription>& there) {
  std::vector<std::string> differ;
  for (const record::CookerDescription& cooker : own) {
    const auto same = std::ranges::find_if(there, [&](const auto& other) {
      return other.name == cooker.name && other.identity == cooker.identity;
    });
    if (same == there.end()) differ.push_back(cooker.name);
  }
  return fmt::format("{}", fmt::join(differ, ", "));
}

}  // namespace

std::string HostScript(const std::string& program) {
  if (program.empty()) return "uname -m\n";
  return fmt::format(
      "p=$(command -v {}) || exit {}\n"
      "exec \"$(dirname \"$(readlink -f \"$p\")\")/galley-worker\" describe\n",
      director::ShellWord(program), kNotFound);
}

FarmFinding JudgeHost(const std::string& host, const std::string& program,
                      const absl::StatusOr<ProgramOutput>& answer,
                      const std::vector<record::CookerDescription>& own) {
  const auto found = [&](Level level, const std::string& text) {
    return FarmFinding{"farm host", level, fmt::format("{}: {}", host, EscapeControl(text))};
  };
  if (!answer.ok()) return found(Level::kError, fmt::format("ssh: {}", MessageOf(answer.status())));
  if (answer->exit.code == kSshFailed) {
    return found(Level::kError,
                 fmt::format("ssh does not reach it without a password: {}; try `ssh -o "
                             "BatchMode=yes {} true`",
                             EndOf(answer->errors), host));
  }
  if (answer->exit.code == kNotFound) {
    return found(Level::kError,
                 fmt::format("{} is not there, or not its galley-worker: install it, set [farm] "
                             "program to its path, or to \"bundle\"",
                             program));
  }
  if (!answer->exit.ok()) return found(Level::kError, HowItEnded(*answer));
  if (program.empty()) return found(Level::kOk, "reached; it is given the programs");
  const auto there = record::DecodeDescriptions(answer->output);
  if (!there.ok()) {
    return found(Level::kError, fmt::format("{} there is of another build ({}): install this one",
                                            program, MessageOf(there.status())));
  }
  if (const std::string differ = Differences(own, *there); !differ.empty()) {
    return found(Level::kError,
                 fmt::format("{} there is of another build, so that it gets no jobs of these "
                             "cookers: {}; install this one, or set [farm] program = \"bundle\"",
                             program, differ));
  }
  return found(Level::kOk, fmt::format("reached; {} is there, with the same cookers", program));
}

FarmFinding JudgeTool(const std::string& tool, const absl::StatusOr<ProgramOutput>& answer) {
  const std::string name = "farm " + tool;
  if (!answer.ok()) return {name, Level::kError, MessageOf(answer.status())};
  if (answer->exit.code == kNotFound) {
    return {
        name, Level::kError,
        fmt::format("{} is not found: [farm] launcher needs it on this machine, in PATH", tool)};
  }
  if (!answer->exit.ok()) return {name, Level::kError, EscapeControl(HowItEnded(*answer))};
  const std::string said = answer->output.substr(0, answer->output.find('\n'));
  return {name, Level::kOk, EscapeControl(said)};
}

FarmFinding JudgeCertificate(const std::string& certificate, const std::string& address) {
  const absl::Status status = wire::CheckServerName(certificate, address);
  if (!status.ok()) return {"farm door", Level::kError, MessageOf(status)};
  return {"farm door", Level::kOk, fmt::format("its certificate is for {}", address)};
}

std::vector<FarmFinding> LookAtFarm(const project::Project& project,
                                    const std::vector<record::CookerDescription>& own) {
  const project::FarmSection& farm = project.farm;
  if (farm.launcher == "local" && farm.listen.empty()) return {};
  std::vector<FarmFinding> findings;
  if (const absl::Status can = CheckFarm(project); !can.ok())
    return {{"farm", Level::kError, MessageOf(can)}};
  const absl::StatusOr<director::FarmPlan> plan = director::FarmPlanOf(project);
  if (!plan.ok()) return {{"farm", Level::kError, MessageOf(plan.status())}};
  const std::string address = director::AddressFor(plan->launch, plan->listen);
  findings.push_back(
      {"farm", Level::kOk,
       fmt::format("launcher = \"{}\"; {}", farm.launcher,
                   plan->launch.forward ? "workers attach through ssh"
                                        : fmt::format("workers attach at {}", address))});
  if (!farm.listen.empty() && !farm.tls_cert.empty()) LookAtDoor(farm, address, findings);
  if (!plan->launch.manifest.empty())
    findings.push_back(
        {"farm start", Level::kOk, fmt::format("the manifest {} is there", farm.start)});
  LookAtHosts(plan->launch, own, findings);
  LookAtTools(plan->launch.kind, findings);
  return findings;
}

}  // namespace galley::cli
