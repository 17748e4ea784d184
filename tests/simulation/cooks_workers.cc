#include "tests/simulation/cooks_workers.h"

#include <algorithm>
#include <iterator>

namespace galley::simulation {

using namespace director;  // NOLINT: workers of it

namespace {

constexpr uint32_t kSlots = 2;

}  // namespace

void CooksWorkers::LoseDirector() {
  listener_ = {};
  for (auto& [id, worker] : workers_) worker.is_attached = false;
}

void CooksWorkers::Adopt(const std::set<WorkerId>& workers) {
  std::erase_if(workers_, [&](const auto& worker) { return !workers.contains(worker.first); });
  for (const WorkerId worker : workers) AttachSoon(worker, 100);
}

void CooksWorkers::Start(WorkerId worker) {
  workers_[worker];
  AttachSoon(worker, 50);
}

void CooksWorkers::AttachSoon(WorkerId id, int64_t ms_max) {
  schedule_.After(Delay(ms_max), [this, id] { Attach(id); });
}

void CooksWorkers::Attach(WorkerId id) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || found->second.is_attached || !listener_.attached) return;
  Worker& worker = found->second;
  worker.is_attached = true;
  ++worker.streams;
  worker.sent = 0;
  WorkerAttached attached{.worker = id, .slots = kSlots, .in_hand = {}, .session = 1 + id.value()};
  for (const auto& [attempt, job] : worker.in_hand) attached.in_hand.push_back(attempt);
  attached.begun.assign(worker.running.begin(), worker.running.end());
  attached.persisted = worker.kept.empty() ? worker.last : worker.kept.begin()->first - 1;
  listener_.attached(attached);
  Flush(id);
}

void CooksWorkers::Give(WorkerId id, const CooksJob& job) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || !found->second.is_attached) return;
  found->second.in_hand[job.attempt] = job;
  found->second.queue.insert({-static_cast<int>(job.urgency), job.attempt});
  BeginSome(id);
}

void CooksWorkers::Take(const Desire& desire) {
  const auto found = workers_.find(desire.worker);
  if (found == workers_.end() || !found->second.is_attached) return;
  for (const ReportId report : desire.persisted) found->second.kept.erase(report);
  for (const AttemptId attempt : desire.cancel) Cancel(desire.worker, attempt, true);
  for (const AttemptId attempt : desire.retract) Cancel(desire.worker, attempt, false);
  for (const Desire::Part& part : desire.retract_part) {
    CooksJob* job = Find(desire.worker, part.attempt);
    if (job == nullptr) continue;
    job->platforms &= ~part.platforms;
    if (job->platforms == 0) Cancel(desire.worker, part.attempt, false);
  }
}

CooksJob* CooksWorkers::Find(WorkerId id, AttemptId attempt) {
  const auto worker = workers_.find(id);
  if (worker == workers_.end()) return nullptr;
  const auto job = worker->second.in_hand.find(attempt);
  return job == worker->second.in_hand.end() ? nullptr : &job->second;
}

// What runs goes on, unless it is stopped.
void CooksWorkers::Cancel(WorkerId id, AttemptId attempt, bool is_stopped) {
  if (Find(id, attempt) == nullptr) return;
  if (is_stopped || !workers_.at(id).running.contains(attempt)) End(id, attempt);
}

std::optional<WorkerId> CooksWorkers::KillOne() {
  if (workers_.empty()) return std::nullopt;
  const auto at =
      std::next(workers_.begin(), static_cast<std::ptrdiff_t>(random_.Below(workers_.size())));
  const WorkerId worker = at->first;
  workers_.erase(at);
  return worker;
}

void CooksWorkers::BreakAStream() {
  if (workers_.empty()) return;
  const auto at =
      std::next(workers_.begin(), static_cast<std::ptrdiff_t>(random_.Below(workers_.size())));
  if (!std::exchange(at->second.is_attached, false)) return;
  AttachSoon(at->first, 500);
}

std::set<WorkerId> CooksWorkers::alive() const {
  std::set<WorkerId> alive;
  for (const auto& [id, worker] : workers_) alive.insert(id);
  return alive;
}

bool CooksWorkers::IsIdle() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) {
    return worker.second.is_attached && worker.second.in_hand.empty() && worker.second.kept.empty();
  });
}

void CooksWorkers::Report(WorkerId id, AttemptId attempt, decltype(WorkerReport::what) what) {
  Worker& worker = workers_.at(id);
  const ReportId report = ++worker.last;
  worker.kept.emplace(report, WorkerReport{report, attempt, std::move(what)});
  schedule_.After(Delay(5), [this, id, stream = worker.streams] {
    const auto found = workers_.find(id);
    if (found != workers_.end() && found->second.streams == stream) Flush(id);
  });
}

void CooksWorkers::Flush(WorkerId id) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || !found->second.is_attached) return;
  WorkerReported reported{id, {}};
  for (auto at = found->second.kept.upper_bound(found->second.sent); at != found->second.kept.end();
       ++at)
    reported.reports.push_back(at->second);
  if (reported.reports.empty()) return;
  found->second.sent = reported.reports.back().report;
  listener_.reported(reported);
}

void CooksWorkers::BeginSome(WorkerId id) {
  Worker& worker = workers_.at(id);
  while (worker.running.size() < kSlots && !worker.queue.empty()) {
    const AttemptId attempt = worker.queue.begin()->second;
    worker.queue.erase(worker.queue.begin());
    worker.running.insert(attempt);
    const absl::Duration takes = Delay(100);
    schedule_.After(takes, [this, id, attempt, takes] { Load(id, attempt, takes); });
  }
}

void CooksWorkers::End(WorkerId id, AttemptId attempt) {
  Worker& worker = workers_.at(id);
  worker.queue.erase({-static_cast<int>(worker.in_hand.at(attempt).urgency), attempt});
  worker.running.erase(attempt);
  worker.in_hand.erase(attempt);
  Report(id, attempt, WorkerReport::Ended{});
  BeginSome(id);
}

std::optional<decltype(WorkerReport::what)> CooksWorkers::WhyItEnds(const CooksJob& job) {
  for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
    if ((job.platforms & MaskOf(p)) == 0) continue;
    if (!is_calm_ && random_.Percent(3)) return WorkerReport::Failed{.error = "no route to host"};
    if (!job.project->Has(job.name)) continue;
    const ProjectPackage& package = job.project->Of(job.name);
    if (package.is_poison)
      return WorkerReport::Failed{
          .fault = WorkerReport::Fault::kCrashed, .error = "signal 11", .executor_lost = true};
    for (const std::string& input : package.inputs) {
      const auto given = job.cooked.find({input, p});
      if (given == job.cooked.end()) return WorkerReport::Needs{input, p};
      if (!store_.IsThere(given->second))
        return WorkerReport::Failed{.error = input + " cannot be read"};
    }
  }
  return std::nullopt;
}

void CooksWorkers::Load(WorkerId id, AttemptId attempt, absl::Duration took) {
  const CooksJob* found = Find(id, attempt);
  if (found == nullptr) return;
  const CooksJob job = *found;
  if (auto why = WhyItEnds(job)) {
    Report(id, attempt, *std::move(why));
    return End(id, attempt);
  }
  // What is known of a package whose cook fails would depend on whether it was tried here.
  for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
    if ((job.platforms & MaskOf(p)) == 0 || !random_.Percent(50)) continue;
    const ResultViewPtr view = Make(job, p);
    if (!view->is_verdict) Report(id, attempt, WorkerReport::Loaded{MaskOf(p), view, took});
  }
  Save(id, attempt, 0);
}

void CooksWorkers::Save(WorkerId id, AttemptId attempt, PlatformIndex platform) {
  const CooksJob* job = Find(id, attempt);
  while (platform < kCooksPlatforms && (job->platforms & MaskOf(platform)) == 0) ++platform;
  if (platform == kCooksPlatforms) return End(id, attempt);
  const absl::Duration takes = Delay(100);
  schedule_.After(takes, [this, id, attempt, platform, takes] {
    const CooksJob* now = Find(id, attempt);
    if (now == nullptr) return;
    if (now->platforms & MaskOf(platform))
      Report(id, attempt, WorkerReport::Saved{platform, Make(*now, platform), takes});
    Save(id, attempt, platform + 1);
  });
}

ResultViewPtr CooksWorkers::Make(const CooksJob& job, PlatformIndex platform) {
  CooksStore::Result result{
      .name = job.name,
      .platform = platform,
      .content = job.name + " " + job.made_of + " " + std::to_string(platform),
      .inputs = {},
      .made_of = job.made_of,
      .view = nullptr};
  ResultView view;
  if (job.project->Has(job.name)) {
    const ProjectPackage& package = job.project->Of(job.name);
    for (const std::string& input : package.inputs) {
      const auto given = job.cooked.find({input, platform});
      result.inputs[input] = given == job.cooked.end() ? "" : store_.At(given->second).content;
      result.content += " (" + result.inputs[input] + ")";
    }
    view.references = package.references[platform];
    for (const std::string& generated : package.generates)
      view.generated.push_back({generated, Digest::Of(job.name + generated + job.made_of), "", ""});
    view.is_verdict = package.is_verdict;
    if (view.is_verdict) view.error = "not fit";
  }
  view.outputs.push_back({.suffix = "", .digest = Digest::Of(result.content)});
  return store_.Add(std::move(result), std::move(view));
}

}  // namespace galley::simulation
