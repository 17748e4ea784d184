#include <map>
#include <utility>

#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "director/launch/systems.h"
#include "director/launch/template_text.h"
#include "director/launch/text_fields.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint32_t kTemplateCountMax = 1'000;
constexpr int kExitGone = 1;  // exit code of `status`

class CommandTemplates final : public BatchSystem {
 public:
  CommandTemplates(RemoteWorker worker, std::string start, std::string status, std::string stop)
      : worker_(std::move(worker)),
        start_(std::move(start)),
        status_(std::move(status)),
        stop_(std::move(stop)) {}

  std::string kind() const override { return "command"; }
  // A command without {count} starts one worker.
  uint32_t CountMax() const override {
    return start_.find("{count}") == std::string::npos ? 1 : kTemplateCountMax;
  }
  bool LooksAtAll() const override { return false; }

  absl::Status Prepare() override {
    if (worker_.bundle == nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(worker_.program, worker_.bundle->Write());
    return absl::OkStatus();
  }
  Command Submit(const Launch& launch) const override { return Shell(start_, launch, ""); }

  absl::StatusOr<std::string> ReadId(const Launch& launch, std::string_view output) const override {
    const std::vector<std::string> words = WordsOf(output);
    return words.empty() ? launch.name : words.back();
  }

  Command Look(const std::vector<Launch>& launches) const override {
    return status_.empty() ? Command() : Shell(status_, launches.front(), "");
  }

  absl::StatusOr<std::vector<TaskView>> ReadLook(const std::vector<Launch>& launches,
                                                 const ExitStatus& exit,
                                                 const std::string& output) const override {
    const Launch& launch = launches.front();
    if (exit.signal != 0 || exit.code > kExitGone)
      return absl::UnavailableError("`status` ended with neither 0 nor 1");
    std::map<uint32_t, TaskView> views;
    for (uint32_t index = 0; exit.code == 0 && index < launch.count; ++index)
      views[index] = {.launch = launch.name, .index = index};
    for (const std::string& line : SplitAt(output, '\n')) {
      const std::vector<std::string> words = SplitAt(line, ' ', 4);
      const std::optional<uint32_t> index = ParseWhole<uint32_t>(words[0]);
      if (words.size() < 2 || !index || *index >= launch.count) continue;
      TaskView view{.launch = launch.name, .index = *index};
      if (words[1] == "running") {
        view.state = TaskView::State::kRunning;
      } else if (words[1] == "gone") {
        view.state = TaskView::State::kGone;
      } else if (words[1] == "held") {
        if (words.size() > 2) view.reason = words[2];
        if (words.size() > 3) view.reason += " " + words[3];
        view.advice =
            "What runs them knows more: ask it, and end them there if they are not wanted";
        views[view.index] = std::move(view);
        continue;
      } else if (words[1] != "queued") {
        continue;
      }
      if (words.size() > 2) view.where = words[2];
      if (words.size() > 3) view.reason = words[3];
      views[view.index] = std::move(view);
    }
    std::vector<TaskView> all;
    for (auto& [index, view] : views) all.push_back(std::move(view));
    return all;
  }

  Command End(const Launch& launch, std::optional<uint32_t> index) const override {
    const bool takes_one = stop_.find("{index}") != std::string::npos;
    if (stop_.empty() || (index.has_value() && !takes_one)) return {};
    return Shell(stop_, launch, index ? fmt::format("{}", *index) : "");
  }

 private:
  Command Shell(const std::string& text, const Launch& launch, const std::string& index) const {
    return {.argv = {"/bin/sh", "-c",
                     FillIn(text, {{"name", ShellWord(launch.name)},
                                   {"count", fmt::format("{}", launch.count)},
                                   {"program", ShellWord(worker_.program)},
                                   {"slots", fmt::format("{}", worker_.slots)},
                                   {"ticket_file", ShellWord(launch.ticket_file)},
                                   {"id", ShellWord(launch.id)},
                                   {"index", index}})}};
  }

  RemoteWorker worker_;
  const std::string start_, status_, stop_;
};

}  // namespace

std::unique_ptr<BatchSystem> CommandSystem(RemoteWorker worker, std::string start,
                                           std::string status, std::string stop) {
  return std::make_unique<CommandTemplates>(std::move(worker), std::move(start), std::move(status),
                                            std::move(stop));
}

absl::Status CheckTemplate(const std::string& text) {
  return CheckPlaceholders(text,
                           {"name", "count", "program", "slots", "ticket_file", "id", "index"});
}

}  // namespace galley::director
