#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/base/parse_whole.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "director/launch/launcher.h"
#include "director/launch/systems.h"
#include "director/launch/template_text.h"
#include "director/launch/text_fields.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint32_t kPodsMax = 1'000;
enum Field : size_t {
  kKind,
  kIndex,
  kFailedIndexes,
  kPhase,
  kConditions,
  kNode,
  kWaitsFor,  // "ImagePullBackOff"
  kName,
  kUnscheduled,  // "Unschedulable"; empty: the pod has a node
  kDeletedAt,    // empty: the pod is not deleted
  kExitCode,     // empty: the worker has not ended
  kEndedAs,      // "Error", "OOMKilled"
  kReason,       // "Evicted"
  kText,         // "0/3 nodes are available: ..."; the worker's last words
  kFieldCount,
};
// The fields of a Job or a Pod: a field that it does not have is empty.
using Row = std::vector<std::string>;
constexpr size_t kNoNodeMax = 200;

// Empty: the field is absent, or neither a text nor a number.
std::string TextAt(const nlohmann::json& at, std::initializer_list<const char*> path) {
  const nlohmann::json* here = &at;
  for (const char* const name : path) {
    if (!here->is_object()) return "";
    const auto found = here->find(name);
    if (found == here->end()) return "";
    here = &*found;
  }
  if (here->is_string()) return here->get<std::string>();
  return here->is_number_integer() ? here->dump() : "";
}

// Returns the first container.
nlohmann::json ContainerOf(const nlohmann::json& item) {
  const auto status = item.find("status");
  if (status == item.end() || !status->is_object()) return nullptr;
  const auto all = status->find("containerStatuses");
  return all == status->end() || !all->is_array() || all->empty() ? nullptr : all->front();
}

Row RowOf(const nlohmann::json& item) {
  const nlohmann::json container = ContainerOf(item);
  Row row(kFieldCount);
  row[kKind] = TextAt(item, {"kind"});
  row[kIndex] =
      TextAt(item, {"metadata", "annotations", "batch.kubernetes.io/job-completion-index"});
  row[kFailedIndexes] = TextAt(item, {"status", "failedIndexes"});
  row[kPhase] = TextAt(item, {"status", "phase"});
  row[kNode] = TextAt(item, {"spec", "nodeName"});
  row[kWaitsFor] = TextAt(container, {"state", "waiting", "reason"});
  row[kName] = TextAt(item, {"metadata", "name"});
  row[kDeletedAt] = TextAt(item, {"metadata", "deletionTimestamp"});
  row[kExitCode] = TextAt(container, {"state", "terminated", "exitCode"});
  row[kEndedAs] = TextAt(container, {"state", "terminated", "reason"});
  row[kReason] = TextAt(item, {"status", "reason"});
  row[kText] = TextAt(item, {"status", "message"});
  const auto status = item.find("status");
  if (status != item.end() && status->is_object() && status->contains("conditions")) {
    for (const nlohmann::json& one : (*status)["conditions"]) {
      const std::string type = TextAt(one, {"type"});
      if (TextAt(one, {"status"}) == "True") row[kConditions] += type + " ";
      if (type == "PodScheduled") row[kUnscheduled] = TextAt(one, {"reason"});
      if (type == "PodScheduled" || type == "DisruptionTarget" || type == "Failed")
        row[kText] += TextAt(one, {"message"});
    }
  }
  row[kText] += TextAt(container, {"state", "terminated", "message"});
  return row;
}

// Returns ": " and the end of `text`; nothing for an empty text.
std::string Saying(const std::string& text) {
  return text.empty() ? "" : ": " + EscapeInvalidUtf8(EndOf(text));
}

// Advises on a reason for which a pod waits until somebody changes something. ErrImagePull may
// pass; it becomes ImagePullBackOff. Source: kubernetes/pkg/kubelet/images/types.go, kuberuntime.
std::string AdviceOnPod(std::string_view reason, const std::string& pod) {
  std::string what;
  if (reason == "ImagePullBackOff" || reason == "InvalidImageName" || reason == "ErrImageNeverPull")
    what = "Its image cannot be had: look at the image's name, and at imagePullSecrets, in the";
  if (reason == "CreateContainerConfigError" || reason == "CreateContainerError")
    what = "Its container cannot be made: look at the secrets and volumes of the";
  if (reason == "CrashLoopBackOff" || reason == "RunContainerError")
    what = "Its program does not stay up: look at [farm] program, and at the command of the";
  if (what.empty()) return "";
  return fmt::format("{} manifest that [farm] start names; `kubectl describe pod {}` says more",
                     what, pod);
}

class Kubernetes final : public BatchSystem {
 public:
  Kubernetes(RemoteWorker worker, std::vector<std::string> arguments, std::string manifest)
      : worker_(std::move(worker)),
        arguments_(std::move(arguments)),
        manifest_(std::move(manifest)) {}

  std::string kind() const override { return "kubernetes"; }
  uint32_t CountMax() const override { return kPodsMax; }
  bool LooksAtAll() const override { return false; }

  // `apply` would also write the ticket into an annotation of its Secret.
  Command Submit(const Launch& launch) const override {
    Command command = Kubectl({"create", "-f", "-"});
    command.input = FillIn(manifest_, {{"name", launch.name},
                                       {"count", fmt::format("{}", launch.count)},
                                       {"program", nlohmann::json(worker_.program).dump()},
                                       {"slots", fmt::format("{}", worker_.slots)},
                                       {"ticket", nlohmann::json(launch.ticket + "\n").dump()}});
    return command;
  }

  absl::StatusOr<std::string> ReadId(const Launch& launch, std::string_view) const override {
    return launch.name;
  }

  Command Look(const std::vector<Launch>& launches) const override {
    return Kubectl(
        {"get", "jobs,pods", "--selector", Selector(launches.front()), "--output", "json"});
  }

  // While its Job exists and is not over, an index without a pod waits for a pod.
  absl::StatusOr<std::vector<TaskView>> ReadLook(const std::vector<Launch>& launches,
                                                 const ExitStatus& exit,
                                                 const std::string& output) const override {
    if (!exit.ok()) return absl::UnavailableError("kubectl failed");
    const Launch& launch = launches.front();
    const nlohmann::json list = nlohmann::json::parse(output, nullptr, /*allow_exceptions=*/false);
    if (!list.is_object() || !list.contains("items") || !list["items"].is_array())
      return absl::UnavailableError("kubectl printed no list of objects");
    std::vector<Row> rows;
    for (const nlohmann::json& item : list["items"]) rows.push_back(RowOf(item));
    std::map<uint32_t, TaskView> views;
    for (const auto& row : rows) ReadJob(row, launch, views);
    for (const auto& row : rows) ReadPod(row, views);
    std::vector<TaskView> all;
    for (auto& [index, view] : views) all.push_back(std::move(view));
    return all;
  }

  // The manifest's Job does not replace a pod: the director asks for another worker.
  Command End(const Launch& launch, std::optional<uint32_t> index) const override {
    std::vector<std::string> what = {"delete", "jobs,secrets", "--selector", Selector(launch)};
    if (index.has_value()) {
      what[1] = "pods";
      what[3] += fmt::format(",batch.kubernetes.io/job-completion-index={}", *index);
    }
    what.insert(what.end(), {"--wait=false", "--ignore-not-found"});
    return Kubectl(std::move(what));
  }
  Command Clean(const Launch& launch) const override { return End(launch, std::nullopt); }

 private:
  static std::string Selector(const Launch& launch) { return "galley.launch=" + launch.name; }

  Command Kubectl(std::vector<std::string> rest) const {
    Command command{.argv = {"/usr/bin/env", "kubectl"}};
    command.argv.insert(command.argv.end(), arguments_.begin(), arguments_.end());
    command.argv.insert(command.argv.end(), rest.begin(), rest.end());
    return command;
  }

  // Parses "0,3-5" of Job.status.failedIndexes.
  static std::vector<uint32_t> IndexesIn(const std::string& text) {
    std::vector<uint32_t> indexes;
    for (const std::string& part : SplitAt(text, ',')) {
      const size_t dash = part.find('-');
      const auto first = ParseWhole<uint32_t>(part.substr(0, dash));
      const auto last =
          dash == std::string::npos ? first : ParseWhole<uint32_t>(part.substr(dash + 1));
      for (uint32_t i = first.value_or(1); first && last && i <= *last && i < kPodsMax; ++i)
        indexes.push_back(i);
    }
    return indexes;
  }

  static void ReadJob(const Row& row, const Launch& launch, std::map<uint32_t, TaskView>& views) {
    if (row[kKind] != "Job") return;
    const bool is_over = row[kConditions].find("Complete") != std::string::npos ||
                         row[kConditions].find("Failed") != std::string::npos;
    for (uint32_t index = 0; index < launch.count; ++index) {
      TaskView& view = views[index] = {.launch = launch.name, .index = index};
      if (!is_over) continue;
      view.state = TaskView::State::kGone;
      view.reason = fmt::format("Job {} is over{}", row[kName], Saying(row[kText]));
    }
    for (const uint32_t index : IndexesIn(row[kFailedIndexes])) {
      if (!views.contains(index)) continue;
      views[index].state = TaskView::State::kGone;
      views[index].reason = "its pod failed";
    }
  }

  // A failed pod means a failed index, unless its Job tries again.
  static void ReadPod(const Row& row, std::map<uint32_t, TaskView>& views) {
    const std::optional<uint32_t> index = ParseWhole<uint32_t>(row[kIndex]);
    if (row[kKind] != "Pod" || !index || !views.contains(*index)) return;
    TaskView& view = views[*index];
    if (!row[kNode].empty()) view.where = row[kNode];
    if (row[kPhase] == "Failed") {
      if (view.state == TaskView::State::kGone) view.reason = HowItFailed(row);
      view.is_unfit = row[kExitCode] == fmt::format("{}", kExitUnfit);
    } else if (row[kPhase] == "Succeeded") {
      view.state = TaskView::State::kGone;
      view.reason = fmt::format("pod {} is done", row[kName]);
    } else if (!row[kDeletedAt].empty()) {
      // On a node that is gone the pod stays so until somebody deletes the node.
      view.state = TaskView::State::kGone;
      view.reason = fmt::format("pod {} was deleted{}", row[kName], Saying(row[kText]));
    } else if (row[kPhase] == "Running" && row[kWaitsFor].empty()) {
      view.state = TaskView::State::kRunning;
    } else if (view.state == TaskView::State::kQueued && !row[kUnscheduled].empty()) {
      view.reason = fmt::format("{}: {}", row[kUnscheduled], row[kText].substr(0, kNoNodeMax));
    } else if (view.state == TaskView::State::kQueued && !row[kWaitsFor].empty()) {
      view.reason = row[kWaitsFor];
      view.advice = AdviceOnPod(view.reason, row[kName]);
    }
  }

  // Returns "pod a-0-x1y2z ended with exit code 137 (OOMKilled)", "pod a-0-x1y2z failed (Evicted):
  // The node was low on resource: memory."
  static std::string HowItFailed(const Row& row) {
    std::string how = row[kExitCode].empty() ? "failed" : "ended with exit code " + row[kExitCode];
    const std::string& why = row[kReason].empty() ? row[kEndedAs] : row[kReason];
    if (!why.empty() && why != "Error") how += fmt::format(" ({})", why);
    return fmt::format("pod {} {}{}", row[kName], how, Saying(row[kText]));
  }

  const RemoteWorker worker_;
  const std::vector<std::string> arguments_;
  const std::string manifest_;
};

}  // namespace

std::unique_ptr<BatchSystem> KubernetesSystem(RemoteWorker worker,
                                              std::vector<std::string> arguments,
                                              std::string manifest) {
  return std::make_unique<Kubernetes>(std::move(worker), std::move(arguments), std::move(manifest));
}

}  // namespace galley::director
