#include "director/cli/status_text.h"

#include <algorithm>
#include <cstdint>

#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using nlohmann::json;

uint64_t Done(const v1::CookCounters& counters) {
  return counters.results_cooked() + counters.results_cached() + counters.results_up_to_date() +
         counters.results_failed();
}

std::string AgeText(absl::Duration age) {
  const int64_t seconds = absl::ToInt64Seconds(age);
  if (seconds < 60) return fmt::format("{} s", std::max<int64_t>(seconds, 0));
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 86'400) return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
  return fmt::format("{} days", seconds / 86'400);
}

std::string LeftText(const v1::CookProgress& progress) {
  return progress.has_left_us() ? AgeText(absl::Microseconds(progress.left_us())) : "";
}

void AddCooks(const v1::StatusAnswer& status, absl::Time now, std::string& text) {
  if (status.cooks().empty()) {
    text += fmt::format("no cook runs; {} ended\n", status.cooks_ended());
    return;
  }
  text += fmt::format("{:>6} {:<8} {:<9} {:>9} {:>9} {:>7} {:>9} {:>9}  {}\n", "COOK", "CLASS",
                      "STATE", "DONE", "WANTED", "FAILED", "LEFT", "AGE", "WHAT");
  for (const v1::StatusAnswer::Cook& cook : status.cooks()) {
    const v1::CookCounters& counters = cook.progress().counters();
    text += fmt::format("{:>6} {:<8} {:<9} {:>9} {:>9} {:>7} {:>9} {:>9}  {}{}\n", cook.cook(),
                        cook.urgency_class(), cook.state(), Done(counters),
                        std::max(Done(counters), counters.results_wanted()),
                        counters.results_failed(), LeftText(cook.progress()),
                        AgeText(now - absl::FromUnixMicros(cook.started_us())),
                        EscapeControl(cook.what()), cook.is_detached() ? " (detached)" : "");
  }
}

void AddQueues(const v1::StatusAnswer& status, std::string& text) {
  uint64_t unknown = 0, to_cook = 0, pending = 0;
  std::string longest;
  for (const v1::StatusAnswer::Cook& cook : status.cooks()) {
    unknown += cook.progress().unknown();
    to_cook += cook.progress().to_cook();
    pending += cook.progress().pending();
    if (!cook.progress().longest().empty())
      longest = fmt::format("; longest {} ({})", EscapeControl(cook.progress().longest()),
                            AgeText(absl::Microseconds(cook.progress().longest_us())));
  }
  if (!status.cooks().empty())
    text += fmt::format("queues: {} to look up, {} to cook, {} pending{}\n", unknown, to_cook,
                        pending, longest);
}

void AddWorkers(const v1::StatusAnswer& status, std::string& text) {
  if (status.workers().empty()) {
    text += "no worker is attached\n";
    return;
  }
  text += fmt::format("{:<12} {:>8} {:>5} {:>5} {:>10}\n", "WORKER", "PROCESS", "SLOTS", "JOBS",
                      "MEMORY");
  for (const v1::StatusAnswer::Worker& worker : status.workers()) {
    text += fmt::format("{:<12} {:>8} {:>5} {:>5} {:>10}{}\n", worker.name(), worker.process(),
                        worker.slots(), worker.jobs(), HumanBytes(worker.memory_bytes()),
                        worker.is_draining() ? "  drains" : "");
  }
}

// No line is longer than a terminal is wide.
std::string Cut(const std::string& text, size_t columns) {
  std::string cut;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    cut += text.substr(at, std::min(end - at, columns)) + "\n";
    at = end + 1;
  }
  return cut;
}

json ProgressJson(const v1::CookProgress& progress) {
  const v1::CookCounters& counters = progress.counters();
  return {{"done", Done(counters)},
          {"wanted", std::max(Done(counters), counters.results_wanted())},
          {"cached", counters.results_cached() + counters.results_up_to_date()},
          {"failed", counters.results_failed()},
          {"to_look_up", progress.unknown()},
          {"to_cook", progress.to_cook()},
          {"pending", progress.pending()},
          {"per_second", progress.results_per_second()},
          {"longest", progress.longest().empty() ? json() : json(progress.longest())},
          {"seconds_left",
           progress.has_left_us() ? json(1e-6 * static_cast<double>(progress.left_us())) : json()}};
}

}  // namespace

std::string StatusText(const v1::StatusAnswer& status, absl::Time now, size_t columns) {
  std::string text = fmt::format(
      "{} in {}: process {}, up {}, {}\n", EscapeControl(status.project()),
      EscapeControl(status.root()), status.process(),
      AgeText(now - absl::FromUnixMicros(status.started_us())), HumanBytes(status.memory_bytes()));
  AddCooks(status, now, text);
  AddQueues(status, text);
  AddWorkers(status, text);
  text += fmt::format("store {}: {} free on its disk\n", EscapeControl(status.store().directory()),
                      HumanBytes(status.store().free_bytes()));
  for (const std::string& wrong : status.wrong())
    text += fmt::format("wrong: {}\n", EscapeControl(wrong));
  return Cut(text, columns);
}

json StatusJson(const v1::StatusAnswer& status) {
  json cooks = json::array(), workers = json::array();
  for (const v1::StatusAnswer::Cook& cook : status.cooks()) {
    json one = ProgressJson(cook.progress());
    one["cook"] = cook.cook();
    one["class"] = cook.urgency_class();
    one["state"] = cook.state();
    one["what"] = cook.what();
    one["platforms"] = cook.platforms();
    one["started"] = 1e-6 * static_cast<double>(cook.started_us());
    one["detached"] = cook.is_detached();
    one["readers"] = cook.readers();
    cooks.push_back(std::move(one));
  }
  for (const v1::StatusAnswer::Worker& worker : status.workers()) {
    workers.push_back({{"worker", worker.name()},
                       {"process", worker.process()},
                       {"slots", worker.slots()},
                       {"jobs", worker.jobs()},
                       {"memory_bytes", worker.memory_bytes()},
                       {"draining", worker.is_draining()}});
  }
  return {{"schema", "galley.status.v1"},
          {"project", status.project()},
          {"root", status.root()},
          {"process", status.process()},
          {"version", status.director().version()},
          {"build", status.director().build()},
          {"started", 1e-6 * static_cast<double>(status.started_us())},
          {"memory_bytes", status.memory_bytes()},
          {"cooks", std::move(cooks)},
          {"cooks_ended", status.cooks_ended()},
          {"workers", std::move(workers)},
          {"store",
           {{"directory", status.store().directory()},
            {"max_bytes", status.store().bytes_max()},
            {"free_bytes", status.store().free_bytes()},
            {"remote_down", status.store().remote_down()}}},
          {"wrong", status.wrong()}};
}

}  // namespace galley::cli
