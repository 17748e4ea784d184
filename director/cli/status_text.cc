#include "director/cli/status_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::cli {
namespace {

uint64_t Done(const v1::CookCounters& counters) {
  return counters.results_cooked() + counters.results_cached() + counters.results_up_to_date() +
         counters.results_failed();
}

uint64_t Wanted(const v1::CookCounters& counters) {
  return std::max(Done(counters), counters.results_wanted());
}

nlohmann::json ProgressJson(const v1::CookProgress& progress) {
  const v1::CookCounters& counters = progress.counters();
  return {{"done", Done(counters)},
          {"wanted", Wanted(counters)},
          {"cached", counters.results_cached() + counters.results_up_to_date()},
          {"failed", counters.results_failed()},
          {"to_look_up", progress.unknown()},
          {"to_cook", progress.to_cook()},
          {"pending", progress.pending()},
          {"per_second", progress.results_per_second()},
          {"longest",
           progress.longest().empty() ? nlohmann::json() : nlohmann::json(progress.longest())},
          {"seconds_left", progress.has_left_us()
                               ? nlohmann::json(1e-6 * static_cast<double>(progress.left_us()))
                               : nlohmann::json()}};
}

nlohmann::json EndedJson(const v1::EndedCook& cook) {
  return {{"cook", cook.cook() == 0 ? nlohmann::json() : nlohmann::json(cook.cook())},
          {"class", cook.urgency_class()},
          {"what", cook.what()},
          {"asked_by", cook.asked_by()},
          {"started", 1e-6 * static_cast<double>(cook.started_us())},
          {"seconds", 1e-6 * static_cast<double>(cook.took_us())},
          {"cooked", cook.cooked()},
          {"cached", cook.cached()},
          {"failed", cook.failed()},
          {"exit_code", cook.exit_code()},
          {"why", cook.why().empty() ? nlohmann::json() : nlohmann::json(cook.why())}};
}

nlohmann::json KeptSourcesJson(const v1::StatusAnswer::Store& store) {
  if (!store.has_kept_sources()) return nullptr;
  const v1::StatusAnswer::KeptSources& kept = store.kept_sources();
  return {{"files", kept.files()},
          {"files_kept", kept.files_kept()},
          {"bytes", kept.bytes()},
          {"bytes_kept", kept.bytes_kept()}};
}

// "12,345"
std::string Grouped(uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

// "1.2 of 3.4 GiB", or with two units where they differ.
std::string BytesOf(uint64_t part, uint64_t whole) {
  std::string of_part = HumanBytes(part);
  const std::string of_whole = HumanBytes(whole);
  const std::string unit = of_whole.substr(of_whole.rfind(' '));
  if (of_part.ends_with(unit)) of_part.resize(of_part.size() - unit.size());
  return fmt::format("{} of {}", of_part, of_whole);
}

// A cook that was refused has no number.
std::string NumberText(uint64_t cook) { return cook == 0 ? "-" : fmt::format("{}", cook); }

absl::Duration SinceEnd(const v1::EndedCook& cook, absl::Time now) {
  return now - absl::FromUnixMicros(cook.started_us() + cook.took_us());
}

std::string LastCookRow(const v1::EndedCook& cook, absl::Time now) {
  return fmt::format("{:>6} {:<7} {:>4} {:>8} {:>8} {:>6} {:>8.1f} {:>10}  {}, by {}{}",
                     NumberText(cook.cook()), cook.urgency_class(), cook.exit_code(), cook.cooked(),
                     cook.cached(), cook.failed(), 1e-6 * static_cast<double>(cook.took_us()),
                     AgeText(SinceEnd(cook, now)) + " ago", EscapeControl(cook.what()),
                     EscapeControl(cook.asked_by()),
                     cook.why().empty() ? "" : ": " + EscapeControl(cook.why()));
}

std::string DevicesLine(const v1::StatusAnswer& status) {
  const v1::StatusAnswer::Devices& devices = status.devices();
  return fmt::format("devices: {}; open connections: {}, streams of changes: {}",
                     EscapeControl(devices.url()), Grouped(devices.connections()),
                     Grouped(devices.streams()));
}

// The share of hits in what is known: hits, and packages that were made for nothing.
std::optional<double> HitRate(const v1::StatusAnswer::Ahead& ahead) {
  const uint64_t known = ahead.hits() + ahead.wasted();
  if (known == 0) return std::nullopt;
  return static_cast<double>(ahead.hits()) / static_cast<double>(known);
}

std::string AheadLine(const v1::StatusAnswer::Ahead& ahead) {
  const std::optional<double> rate = HitRate(ahead);
  return fmt::format(
      "cooked ahead: {}; asked for later: {}, for nothing: {}, not known yet: {}{}; to come: {}{}",
      Grouped(ahead.made()), Grouped(ahead.hits()), Grouped(ahead.wasted()),
      Grouped(ahead.unasked()), rate ? fmt::format(" (hit rate {:.0f} %)", 100 * *rate) : "",
      Grouped(ahead.waiting() + ahead.open()),
      ahead.pause().empty() ? "" : fmt::format("; pauses: {}", EscapeControl(ahead.pause())));
}

nlohmann::json AheadJson(const v1::StatusAnswer::Devices& devices) {
  if (!devices.has_ahead()) return nullptr;
  const v1::StatusAnswer::Ahead& ahead = devices.ahead();
  const std::optional<double> rate = HitRate(ahead);
  return {{"made", ahead.made()},
          {"hits", ahead.hits()},
          {"wasted", ahead.wasted()},
          {"unasked", ahead.unasked()},
          {"hit_rate", rate ? nlohmann::json(*rate) : nlohmann::json()},
          {"waiting", ahead.waiting()},
          {"open", ahead.open()},
          {"killed", ahead.killed()},
          {"pause", ahead.pause().empty() ? nlohmann::json() : nlohmann::json(ahead.pause())}};
}

nlohmann::json DevicesJson(const v1::StatusAnswer& status) {
  if (!status.has_devices()) return nullptr;
  return {{"url", status.devices().url()},
          {"connections", status.devices().connections()},
          {"streams", status.devices().streams()},
          {"ahead", AheadJson(status.devices())}};
}

}  // namespace

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

std::string CutLine(std::string_view line, size_t columns) {
  size_t end = 0, width = 0;
  while (end < line.size() && width < columns) {
    if (!NextCodePoint(line, end).has_value()) ++end;
    ++width;
  }
  return std::string(line.substr(0, end));
}

std::string HeadLine(const v1::StatusAnswer& status, absl::Time now) {
  return fmt::format("{} in {}: process {}{}, up {}, {}", EscapeControl(status.project()),
                     EscapeControl(status.root()), status.process(),
                     status.is_hosted() ? " (`galley cook`, for its own cook)" : "",
                     AgeText(now - absl::FromUnixMicros(status.started_us())),
                     HumanBytes(status.memory_bytes()));
}

std::string CookHeading(const v1::StatusAnswer& status) {
  if (status.cooks().empty()) return fmt::format("no cook runs; {} ended", status.cooks_ended());
  return fmt::format("{:>6} {:<7} {:<8} {:>8} {:>8} {:>6} {:>8} {:>8}  {}", "COOK", "CLASS",
                     "STATE", "DONE", "WANTED", "FAILED", "LEFT", "AGE", "WHAT");
}

std::string CookRow(const v1::StatusAnswer::Cook& cook, absl::Time now) {
  const v1::CookCounters& counters = cook.progress().counters();
  return fmt::format("{:>6} {:<7} {:<8} {:>8} {:>8} {:>6} {:>8} {:>8}  {}{}",
                     NumberText(cook.cook()), cook.urgency_class(), cook.state(), Done(counters),
                     Wanted(counters), counters.results_failed(), LeftText(cook.progress()),
                     AgeText(now - absl::FromUnixMicros(cook.started_us())),
                     EscapeControl(cook.what()), cook.is_detached() ? " (detached)" : "");
}

std::string QueueLine(const v1::StatusAnswer& status) {
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
  return fmt::format("queues: {} to look up, {} to cook, {} pending{}", unknown, to_cook, pending,
                     longest);
}

std::string WorkerHeading(const v1::StatusAnswer& status) {
  if (status.workers().empty()) return "no worker is attached";
  return fmt::format("{:<12} {:>8} {:>5} {:>5} {:>10}  {:<9} {}", "WORKER", "PROCESS", "SLOTS",
                     "JOBS", "MEMORY", "STATE", "MACHINE");
}

std::string WorkerRow(const v1::StatusAnswer::Worker& worker) {
  const std::string note = worker.note().empty() ? "" : ": " + worker.note();
  std::vector<std::string> has(worker.labels().begin(), worker.labels().end());
  has.insert(has.end(), worker.resources().begin(), worker.resources().end());
  const std::string runs_as = worker.runs_as().empty() ? "" : " (" + worker.runs_as() + ")";
  return fmt::format(
      "{:<12} {:>8} {:>5} {:>5} {:>10}  {:<9} {}{}{}{}", worker.name(), worker.process(),
      worker.slots(), worker.jobs(), HumanBytes(worker.memory_bytes()), worker.state(),
      EscapeControl(worker.machine()), EscapeControl(runs_as),
      has.empty() ? "" : fmt::format(" [{}]", fmt::join(has, " ")), EscapeControl(note));
}

std::string StoreLine(const v1::StatusAnswer& status) {
  const v1::StatusAnswer::Store& store = status.store();
  return fmt::format("store {}: {}{} free on its disk", EscapeControl(store.directory()),
                     store.bytes() == 0 ? ""
                                        : fmt::format("{} of {}, ", HumanBytes(store.bytes()),
                                                      HumanBytes(store.bytes_max())),
                     HumanBytes(store.free_bytes()));
}

std::string KeptSourcesLine(const v1::StatusAnswer& status) {
  const v1::StatusAnswer::KeptSources& kept = status.store().kept_sources();
  return fmt::format("sources kept: {} of {} files ({})", Grouped(kept.files_kept()),
                     Grouped(kept.files()), BytesOf(kept.bytes_kept(), kept.bytes()));
}

std::vector<std::string> LastCookLines(const v1::StatusAnswer& status, absl::Time now) {
  std::vector<std::string> lines;
  if (status.last_cooks().empty()) return lines;
  lines.push_back(fmt::format("{:>6} {:<7} {:>4} {:>8} {:>8} {:>6} {:>8} {:>10}  {}", "LAST",
                              "CLASS", "EXIT", "COOKED", "CACHED", "FAILED", "SECONDS", "ENDED",
                              "WHAT"));
  for (const v1::EndedCook& cook : status.last_cooks()) lines.push_back(LastCookRow(cook, now));
  return lines;
}

std::string EndText(const v1::EndedCook& cook, absl::Time now) {
  return fmt::format("{} ended {} ago: exit {}, {} cooked, {} cached, {} failed{}",
                     cook.cook() == 0 ? "a cook" : fmt::format("cook {}", cook.cook()),
                     AgeText(SinceEnd(cook, now)), cook.exit_code(), cook.cooked(), cook.cached(),
                     cook.failed(), cook.why().empty() ? "" : ": " + EscapeControl(cook.why()));
}

std::string StatusText(const v1::StatusAnswer& status, absl::Time now, size_t columns) {
  std::vector<std::string> lines = {HeadLine(status, now), CookHeading(status)};
  for (const v1::StatusAnswer::Cook& cook : status.cooks()) lines.push_back(CookRow(cook, now));
  if (!status.cooks().empty()) lines.push_back(QueueLine(status));
  lines.push_back(WorkerHeading(status));
  for (const v1::StatusAnswer::Worker& worker : status.workers())
    lines.push_back(WorkerRow(worker));
  lines.push_back(StoreLine(status));
  if (status.store().has_kept_sources()) lines.push_back(KeptSourcesLine(status));
  if (status.has_devices()) lines.push_back(DevicesLine(status));
  if (status.devices().has_ahead()) lines.push_back(AheadLine(status.devices().ahead()));
  if (!status.watch().empty())
    lines.push_back(fmt::format("files: {}", EscapeControl(status.watch())));
  for (const std::string& wrong : status.wrong())
    lines.push_back(fmt::format("wrong: {}", EscapeControl(wrong)));
  for (std::string& line : LastCookLines(status, now)) lines.push_back(std::move(line));
  std::string text;
  for (const std::string& line : lines) text += CutLine(line, columns) + "\n";
  return text;
}

nlohmann::json StatusJson(const v1::StatusAnswer& status) {
  nlohmann::json cooks = nlohmann::json::array(), workers = nlohmann::json::array(),
                 last = nlohmann::json::array();
  for (const v1::EndedCook& cook : status.last_cooks()) last.push_back(EndedJson(cook));
  for (const v1::StatusAnswer::Cook& cook : status.cooks()) {
    nlohmann::json one = ProgressJson(cook.progress());
    one["cook"] = cook.cook();
    one["class"] = cook.urgency_class();
    one["state"] = cook.state();
    one["what"] = cook.what();
    one["platforms"] = cook.platforms();
    one["started"] = 1e-6 * static_cast<double>(cook.started_us());
    one["detached"] = cook.is_detached();
    one["asked_by"] = cook.asked_by();
    one["readers"] = cook.readers();
    cooks.push_back(std::move(one));
  }
  for (const v1::StatusAnswer::Worker& worker : status.workers()) {
    workers.push_back({{"worker", worker.name()},
                       {"process", worker.process()},
                       {"slots", worker.slots()},
                       {"jobs", worker.jobs()},
                       {"memory_bytes", worker.memory_bytes()},
                       {"draining", worker.is_draining()},
                       {"state", worker.state()},
                       {"machine", worker.machine()},
                       {"runs_as", worker.runs_as()},
                       {"labels", worker.labels()},
                       {"resources", worker.resources()},
                       {"note", worker.note()}});
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
          {"last_cooks", std::move(last)},
          {"hosted", status.is_hosted()},
          {"workers", std::move(workers)},
          {"store",
           {{"directory", status.store().directory()},
            {"bytes", status.store().bytes()},
            {"max_bytes", status.store().bytes_max()},
            {"free_bytes", status.store().free_bytes()},
            {"remote_down", status.store().remote_down()},
            {"kept_sources", KeptSourcesJson(status.store())}}},
          {"devices", DevicesJson(status)},
          {"watch", status.watch()},
          {"wrong", status.wrong()}};
}

}  // namespace galley::cli
