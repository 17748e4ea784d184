#include "director/host/farm_plan.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/record/programs.h"
#include "director/launch/systems.h"
#include "director/launch/template_text.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr const char* kLaunchesFolder = "launches";
constexpr const char* kBundleFolder = "bundle";
constexpr uint32_t kWorkersMax = 64;  // default of [farm] workers
constexpr uint64_t kManifestBytesMax = 1 << 20;
constexpr const char* kAnyPort = "127.0.0.1:0";

// The usual time until a worker has its first job, when nothing waits in a queue.
absl::Duration StartOf(const std::string& launcher) {
  if (launcher == "ssh") return absl::Seconds(1);
  if (launcher == "slurm") return absl::Seconds(2);
  return absl::Seconds(10);
}

absl::Status Wrong(const std::string& what) { return InvalidArgumentError("[farm] {}", what); }

absl::Status ReadSsh(const project::FarmSection& farm, FarmPlan& plan) {
  if (farm.hosts.empty())
    return Wrong(
        "launcher = \"ssh\" needs hosts = \"FILE\": a line for each machine, as "
        "\"build@node7 slots=8\"");
  auto hosts = ReadHosts(farm.hosts);
  if (!hosts.ok()) return Wrong(fmt::format("hosts: {}", MessageOf(hosts.status())));
  plan.launch.hosts = *std::move(hosts);
  plan.launch.forward = farm.listen.empty();
  if (farm.listen.empty()) plan.listen = kAnyPort;
  const auto count = static_cast<uint32_t>(plan.launch.hosts.size());
  plan.fleet.max = std::min(plan.fleet.max, count);
  plan.fleet.failures_max = std::max(plan.fleet.failures_max, count);
  const auto least = std::ranges::min_element(
      plan.launch.hosts, [](const FarmHost& a, const FarmHost& b) { return a.slots < b.slots; });
  plan.fleet.slots = std::max(least->slots, 1u);
  return absl::OkStatus();
}

absl::Status ReadKubernetes(const project::Project& project, FarmPlan& plan) {
  const std::string& start = project.farm.start;
  if (start.empty())
    return Wrong(
        "launcher = \"kubernetes\" needs start = \"FILE\": the manifest of its workers, as "
        "deploy/kubernetes/worker-job.yaml");
  auto manifest = ReadFile(AbsolutePath(start, project.root), kManifestBytesMax);
  if (!manifest.ok()) return Wrong(fmt::format("start: {}", MessageOf(manifest.status())));
  const absl::Status known =
      CheckPlaceholders(*manifest, {"name", "count", "program", "slots", "ticket"});
  if (!known.ok()) return Wrong(fmt::format("start: {}: {}", start, MessageOf(known)));
  if (manifest->find("{ticket}") == std::string::npos)
    return Wrong(fmt::format("start: {} has no {{ticket}}: no worker could attach", start));
  plan.launch.manifest = *std::move(manifest);
  return absl::OkStatus();
}

absl::Status ReadCommand(const project::FarmSection& farm, FarmPlan& plan) {
  if (farm.start.empty())
    return Wrong(
        "launcher = \"command\" needs start = \"COMMAND\", which submits {count} workers with the "
        "ticket in {ticket_file}");
  for (const auto& [key, text] :
       {std::pair{"start", &farm.start}, std::pair{"status", &farm.status},
        std::pair{"stop", &farm.stop}}) {
    if (const absl::Status known = CheckTemplate(*text); !known.ok())
      return Wrong(fmt::format("{}: {}", key, MessageOf(known)));
  }
  if (farm.start.find("{ticket_file}") == std::string::npos)
    return Wrong("start has no {ticket_file}: no worker could attach");
  plan.launch.start = farm.start;
  plan.launch.status = farm.status;
  plan.launch.stop = farm.stop;
  return absl::OkStatus();
}

// Reads the programs that the machines are given.
absl::Status ReadBundle(const project::Project& project, RemoteWorker& worker) {
  const project::FarmSection& farm = project.farm;
  if (farm.launcher == "kubernetes")
    return Wrong(
        "program = \"bundle\" is not for launcher = \"kubernetes\": the image of a pod has the "
        "programs (deploy/container); set program to the path of galley in the image");
  if (farm.launcher == "slurm" && farm.shared_path.empty())
    return Wrong(
        "program = \"bundle\" with launcher = \"slurm\" needs shared_path, where the nodes see the "
        "project's folder: Slurm carries no files to a node that waits for its turn; or set "
        "program to the path of galley on the nodes");
  const std::string folder = JoinPath(project.state_directory(), kBundleFolder);
  worker.bundle = std::make_shared<BundleFile>(ProgramDirectory(), folder);
  if (!farm.shared_path.empty())
    worker.bundle_folder = JoinPath(farm.shared_path, folder.substr(project.root.size() + 1));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FarmPlan> FarmPlanOf(const project::Project& project) {
  const project::FarmSection& farm = project.farm;
  FarmPlan plan{.listen = farm.listen};
  if (farm.launcher == "local" || farm.launcher == "none") return plan;
  FarmLaunch& launch = plan.launch;
  launch.kind = farm.launcher;
  launch.worker = {
      .program = farm.program.empty() ? JoinPath(ProgramDirectory(), "galley") : farm.program,
      .slots = farm.slots};
  if (farm.program == project::kBundle) RETURN_IF_ERROR(ReadBundle(project, launch.worker));
  launch.arguments = farm.arguments;
  launch.shared_path = farm.shared_path;
  launch.advertise = farm.advertise;
  launch.folder = JoinPath(project.state_directory(), kLaunchesFolder);
  launch.project = project.name;
  plan.fleet = {.max = farm.workers != 0 ? farm.workers : kWorkersMax,
                .min = farm.workers_min,
                .slots = farm.slots,
                .start = StartOf(farm.launcher),
                .idle_max = absl::Seconds(farm.idle_s),
                .helpers_max = std::max(1u, std::thread::hardware_concurrency())};
  plan.fleet.offer = farm.offer;
  if (!farm.far_programs) plan.fleet.lacks = {std::string(record::kProgramCooker)};
  if (farm.launcher == "ssh") RETURN_IF_ERROR(ReadSsh(farm, plan));
  if (farm.launcher == "kubernetes") RETURN_IF_ERROR(ReadKubernetes(project, plan));
  if (farm.launcher == "command") RETURN_IF_ERROR(ReadCommand(farm, plan));
  if (plan.listen.empty())
    return Wrong(fmt::format(
        "launcher = \"{}\" needs listen = \"HOST:PORT\": where its workers attach", farm.launcher));
  return plan;
}

}  // namespace galley::director
