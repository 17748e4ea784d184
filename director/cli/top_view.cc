#include "director/cli/top_view.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/counted.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/cli/status_text.h"
#include "director/core/events.h"
#include "director/core/packages/instigators.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr size_t kReasonsShown = 8;
constexpr std::string_view kKeysOfAll =
    "up/down, Enter: detail  (n)umber (l)eft (f)ailed: order  (q)uit";
constexpr std::string_view kKeysOfOne = "up/down, Enter: detail  Esc: back  (q)uit";

}  // namespace

TopView::Key TopView::KeyOf(std::string_view bytes) {
  if (bytes == "\x1b[A" || bytes == "\x1bOA" || bytes == "k") return Key::kUp;
  if (bytes == "\x1b[B" || bytes == "\x1bOB" || bytes == "j") return Key::kDown;
  if (bytes == "\n" || bytes == "\r") return Key::kOpen;
  if (bytes == "\x1b" || bytes == "\x7f" || bytes == "\x1b[D" || bytes == "\x1bOD")
    return Key::kBack;
  if (bytes == "n") return Key::kByNumber;
  if (bytes == "l") return Key::kByLeft;
  if (bytes == "f") return Key::kByFailed;
  return bytes == "q" ? Key::kQuit : Key::kNone;
}

bool TopView::Press(Key key) {
  Screen& shown = screens_.back();
  switch (key) {
    case Key::kNone:
      break;
    case Key::kUp:
      if (shown.chosen > 0) --shown.chosen;
      break;
    case Key::kDown:
      if (shown.chosen + 1 < leading_.size()) ++shown.chosen;
      break;
    case Key::kOpen:
      if (shown.chosen < leading_.size()) {
        const Row& row = leading_[shown.chosen];
        screens_.push_back({.kind = row.opens, .name = row.name});
        leading_.clear();
      }
      break;
    case Key::kBack:
      if (screens_.size() > 1) screens_.pop_back();
      leading_.clear();
      break;
    case Key::kByNumber:
      order_ = Order::kNumber;
      break;
    case Key::kByLeft:
      order_ = Order::kLeft;
      break;
    case Key::kByFailed:
      order_ = Order::kFailed;
      break;
    case Key::kQuit:
      return false;
  }
  return true;
}

std::string TopView::worker() const {
  return screens_.back().kind == Kind::kWorker ? screens_.back().name : "";
}

void TopView::Sort(v1::StatusAnswer& status) const {
  const auto key = [this](const v1::StatusAnswer::Cook& cook) -> int64_t {
    if (order_ == Order::kFailed)
      return -static_cast<int64_t>(cook.progress().counters().results_failed());
    if (order_ == Order::kLeft)
      return cook.progress().has_left_us() ? cook.progress().left_us() : INT64_MAX;
    return static_cast<int64_t>(cook.cook());
  };
  std::ranges::stable_sort(*status.mutable_cooks(), [&](const auto& one, const auto& other) {
    return key(one) < key(other);
  });
  if (order_ == Order::kNumber) return;
  std::ranges::stable_sort(*status.mutable_workers(), [](const auto& one, const auto& other) {
    return one.jobs() > other.jobs();
  });
}

void TopView::AddAll(const v1::StatusAnswer& status, absl::Time now, Rows& rows) {
  rows.push_back({CookHeading(status)});
  for (const v1::StatusAnswer::Cook& cook : status.cooks())
    rows.push_back({CookRow(cook, now), Kind::kCook, fmt::format("{}", cook.cook())});
  if (!status.cooks().empty()) rows.push_back({QueueLine(status)});
  rows.push_back({WorkerHeading(status)});
  for (const v1::StatusAnswer::Worker& worker : status.workers())
    rows.push_back({WorkerRow(worker), Kind::kWorker, worker.name()});
  rows.push_back({StoreLine(status)});
  for (const std::string& wrong : status.wrong())
    rows.push_back({fmt::format("wrong: {}", EscapeControl(wrong))});
  for (std::string& line : LastCookLines(status, now)) rows.push_back({std::move(line)});
}

void TopView::AddCook(const v1::StatusAnswer& status, const std::string& name, Rows& rows) {
  const auto found = std::ranges::find_if(
      status.cooks(), [&](const auto& cook) { return fmt::format("{}", cook.cook()) == name; });
  if (found == status.cooks().end()) return rows.push_back({fmt::format("cook {} is over", name)});
  const v1::CookProgress& progress = found->progress();
  const v1::CookCounters& counters = progress.counters();
  rows.push_back({fmt::format("cook {}, {}: {}{}", name, found->urgency_class(), found->state(),
                              found->is_detached() ? ", detached" : "")});
  rows.push_back({fmt::format("what       {}", EscapeControl(found->what()))});
  rows.push_back({fmt::format("packages   {} in the cook, {} failed, {} skipped",
                              counters.in_cook(), counters.failed(), counters.skipped())});
  rows.push_back({fmt::format("results    {} cooked, {} cached, {} up to date, {} failed of {}",
                              counters.results_cooked(), counters.results_cached(),
                              counters.results_up_to_date(), counters.results_failed(),
                              counters.results_wanted())});
  rows.push_back({fmt::format("queues     {} to look up, {} to cook, {} pending",
                              progress.unknown(), progress.to_cook(), progress.pending())});
  rows.push_back({fmt::format("rate       {:.1f} results a second, {:.1f} of them cooked",
                              progress.results_per_second(), progress.cooked_per_second())});
  rows.push_back({fmt::format("left       {}", LeftText(progress))});
  rows.push_back(
      {fmt::format("jobs       {} tried again, {} retracted, {} split", counters.jobs_retried(),
                   counters.jobs_retracted(), counters.jobs_split())});
  rows.push_back({fmt::format("workers    {} lost, {} executors lost", counters.workers_lost(),
                              counters.executors_lost())});
  if (progress.longest().empty()) return;
  rows.push_back({fmt::format("longest    {} ({})", EscapeControl(progress.longest()),
                              AgeText(absl::Microseconds(progress.longest_us()))),
                  Kind::kPackage, progress.longest()});
}

void TopView::AddWorker(const v1::StatusAnswer& status, const std::string& name, absl::Time now,
                        Rows& rows) {
  const auto found = std::ranges::find_if(
      status.workers(), [&](const auto& worker) { return worker.name() == name; });
  if (found == status.workers().end())
    return rows.push_back({fmt::format("{} is not attached any more", EscapeControl(name))});
  rows.push_back(
      {fmt::format("{}: process {}, {}, {}, {}{}", EscapeControl(name), found->process(),
                   Counted(found->slots(), "slot"), Counted(found->jobs(), "job"),
                   HumanBytes(found->memory_bytes()), found->is_draining() ? ", drains" : "")});
  if (!found->note().empty()) rows.push_back({EscapeControl(found->note())});
  rows.push_back({fmt::format("{:>9}  {}", "SINCE", "PACKAGE")});
  for (const v1::StatusAnswer::Job& job : found->in_hand())
    rows.push_back({fmt::format("{:>9}  {}", AgeText(now - absl::FromUnixMicros(job.given_us())),
                                EscapeControl(job.package())),
                    Kind::kPackage, job.package()});
}

void TopView::AddPackage(const std::string& name, const AskPackage& ask, Rows& rows) {
  rows.push_back({EscapeControl(name)});
  const absl::StatusOr<v1::PackageAnswer> answer = ask(name);
  if (!answer.ok()) return rows.push_back({MessageOf(answer.status())});
  rows.push_back({fmt::format("state      {}", answer->state())});
  rows.push_back({fmt::format("urgency    {}", answer->urgency())});
  if (!answer->worker().empty())
    rows.push_back({fmt::format("worker     {}, attempt {}", answer->worker(), answer->attempt())});
  rows.push_back({fmt::format("handed     {}; faults: {} its own, {} of the machine",
                              Counted(answer->attempts(), "time"), answer->own_faults(),
                              answer->infrastructure_faults())});
  for (const v1::PackageAnswer::Reason& reason : answer->reasons()) {
    const auto category = static_cast<director::InstigatorCategory>(reason.category());
    rows.push_back({fmt::format("because    {} {}", director::CategoryName(category),
                                EscapeControl(reason.referencer()))});
    if (rows.size() > kReasonsShown + 5) return;
  }
}

std::string TopView::Draw(v1::StatusAnswer status, absl::Time now, const Size& size,
                          const AskPackage& ask) {
  Sort(status);
  Screen& shown = screens_.back();
  Rows rows;
  switch (shown.kind) {
    case Kind::kAll:
      AddAll(status, now, rows);
      break;
    case Kind::kCook:
      AddCook(status, shown.name, rows);
      break;
    case Kind::kWorker:
      AddWorker(status, shown.name, now, rows);
      break;
    case Kind::kPackage:
      AddPackage(shown.name, ask, rows);
      break;
  }
  leading_.clear();
  for (const Row& row : rows) {
    if (row.opens != Kind::kAll) leading_.push_back(row);
  }
  shown.chosen = std::min(shown.chosen, leading_.empty() ? 0 : leading_.size() - 1);
  std::vector<std::string> lines;
  size_t leads = 0, marked = 0;
  for (const Row& row : rows) {
    const bool is_chosen = row.opens != Kind::kAll && leads++ == shown.chosen;
    if (is_chosen) marked = lines.size();
    lines.push_back((is_chosen ? ">" : " ") + row.text);
  }
  // The head and the keys are always there.
  const size_t room = std::max<size_t>(size.lines, 4) - 3;
  const size_t first = marked < room ? 0 : marked - room + 1;
  std::string text = CutLine(HeadLine(status, now), size.columns) + "\n";
  for (size_t i = first; i < std::min(lines.size(), first + room); ++i)
    text += CutLine(lines[i], size.columns) + "\n";
  const std::string_view keys = screens_.size() == 1 ? kKeysOfAll : kKeysOfOne;
  return text + CutLine(keys, size.columns) + "\n";
}

}  // namespace galley::cli
