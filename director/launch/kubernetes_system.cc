#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/status_macros.h"
#include "director/launch/systems.h"
#include "director/launch/template_text.h"
#include "director/launch/text_fields.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint32_t kPodsMax = 1'000;
constexpr const char* kIndex = "batch.kubernetes.io/job-completion-index";

class Kubernetes final : public BatchSystem {
 public:
  Kubernetes(RemoteWorker worker, std::vector<std::string> arguments, std::string manifest)
      : worker_(std::move(worker)),
        arguments_(std::move(arguments)),
        manifest_(std::move(manifest)) {}

  std::string kind() const override { return "kubernetes"; }
  uint32_t CountMax() const override { return kPodsMax; }
  bool LooksAtAll() const override { return false; }

  Command Submit(const Launch& launch) const override {
    Command command = Kubectl({"apply", "-f", "-"});
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
    return Kubectl({"get", "pods", "--selector", Selector(launches.front()), "--output", "json"});
  }

  // An index may have several pods: those that failed, and the one in their place.
  absl::StatusOr<std::vector<TaskView>> ReadLook(const std::vector<Launch>& launches,
                                                 const ExitStatus& exit,
                                                 const std::string& output) const override {
    const auto pods = nlohmann::json::parse(output, nullptr, /*allow_exceptions=*/false);
    if (!exit.ok() || !pods.is_object() || !pods.contains("items") || !pods["items"].is_array())
      return absl::UnavailableError("kubectl printed no list of pods");
    std::map<uint32_t, TaskView> views;
    for (const nlohmann::json& pod : pods["items"]) {
      TaskView view{.launch = launches.front().name};
      if (!ReadPod(pod, view)) continue;
      const auto [at, is_new] = views.try_emplace(view.index, view);
      if (!is_new && RankOf(view) > RankOf(at->second)) at->second = view;
    }
    std::vector<TaskView> all;
    for (auto& [index, view] : views) all.push_back(std::move(view));
    return all;
  }

  // A Job's single pods are not ended: it would replace them. (A worker that is drained is done.)
  Command End(const Launch& launch, std::optional<uint32_t> index) const override {
    if (index.has_value()) return {};
    return Kubectl({"delete", "jobs,deployments,secrets", "--selector", Selector(launch), "--wait=false",
                    "--ignore-not-found"});
  }
  Command Clean(const Launch& launch) const override { return End(launch, std::nullopt); }

 private:
  static std::string Selector(const Launch& launch) { return "galley.launch=" + launch.name; }

  static int RankOf(const TaskView& view) {
    return view.state == TaskView::State::kRunning ? 2 : view.state == TaskView::State::kQueued;
  }

  Command Kubectl(std::vector<std::string> rest) const {
    Command command{.argv = {"/usr/bin/env", "kubectl"}};
    command.argv.insert(command.argv.end(), arguments_.begin(), arguments_.end());
    command.argv.insert(command.argv.end(), rest.begin(), rest.end());
    return command;
  }

  static std::string TextAt(const nlohmann::json& json, const char* pointer) {
    const nlohmann::json::json_pointer at(pointer);
    if (!json.contains(at) || !json.at(at).is_string()) return "";
    return json.at(at).get<std::string>();
  }

  // False: it is no pod of an index.
  static bool ReadPod(const nlohmann::json& pod, TaskView& view) {
    if (!pod.is_object()) return false;
    std::string index;
    for (const char* where : {"/metadata/annotations", "/metadata/labels"}) {
      const nlohmann::json::json_pointer at(where);
      if (index.empty() && pod.contains(at) && pod.at(at).is_object() &&
          pod.at(at).contains(kIndex) && pod.at(at)[kIndex].is_string())
        index = pod.at(at)[kIndex].get<std::string>();
    }
    const std::optional<uint32_t> number = NumberIn(index);
    if (!number) return false;
    view.index = *number;
    const std::string phase = TextAt(pod, "/status/phase");
    view.where = TextAt(pod, "/spec/nodeName");
    view.reason = TextAt(pod, "/status/containerStatuses/0/state/waiting/reason");
    if (phase == "Running") {
      view.state = TaskView::State::kRunning;
    } else if (phase == "Succeeded" || phase == "Failed") {
      view.state = TaskView::State::kGone;
      view.reason = fmt::format("pod {} is {}{}", TextAt(pod, "/metadata/name"), phase,
                                view.where.empty() ? "" : " on " + view.where);
    }
    return true;
  }

  const RemoteWorker worker_;
  const std::vector<std::string> arguments_;
  const std::string manifest_;
};

}  // namespace

std::unique_ptr<BatchSystem> KubernetesSystem(RemoteWorker worker,
                                              std::vector<std::string> arguments,
                                              std::string manifest) {
  return std::make_unique<Kubernetes>(std::move(worker), std::move(arguments),
                                      std::move(manifest));
}

}  // namespace galley::director
