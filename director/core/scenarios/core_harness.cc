#include "director/core/scenarios/core_harness.h"

#include <algorithm>
#include <bit>
#include <sstream>

#include "common/base/fnv.h"
#include "common/base/status_macros.h"
#include "director/core/jobs/worker_table.h"

namespace galley::director {

TextProject::TextProject(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, kind, word;
    if (!(words >> name)) continue;
    TextPackage& package = packages_[name];
    if (!(words >> kind)) continue;
    if (kind == "=") words >> package.work >> package.around;
    if (kind == "!") std::getline(words >> std::ws, package.verdict);
    if (kind == "@never") package.entry.never_cook = true;
    if (kind == "@warns" && words >> word)
      package.warnings.push_back(record::KeptWarning(*record::WarningKindNamed(word), "is odd"));
    if (kind == "@strict" && words >> word)
      package.rules.error.set(static_cast<size_t>(*record::WarningKindNamed(word)));
    if (kind == "@gpu") package.entry.resources = {{"gpu", 1}};
    while (kind == "@on" && words >> word) {
      if (const size_t equals = word.find('='); equals != word.npos)
        package.entry.resources[word.substr(0, equals)] =
            static_cast<uint32_t>(std::stoul(word.substr(equals + 1)));
      else
        package.entry.labels.push_back(word);
    }
    if (kind == "%") {
      words >> package.entry.cooker;
      while (words >> kind && kind != "~") package.entry.programs = kind;
    }
    if (kind == "~") words >> package.entry.source_bytes;
    while (kind == "<" && words >> word) package.inputs.push_back(word);
    while (kind == "@culture" && words >> word) {
      const size_t equals = word.find('=');
      package.variants.emplace_back(equals == word.npos ? "" : word.substr(0, equals),
                                    equals == word.npos ? word : word.substr(equals + 1));
    }
    while (kind == ":" && words >> word)
      package.generated.push_back({"_gen/" + word, Digest::Of(name + word), "", ""});
    while (kind == "->" && words >> word) {
      const bool is_soft = word.ends_with("?");
      package.references.push_back(
          {is_soft ? word.substr(0, word.size() - 1) : word,
           is_soft ? record::ReferenceKind::kSoft : record::ReferenceKind::kHard});
    }
  }
}

std::optional<CatalogEntry> TextProject::Find(std::string_view name) const {
  const auto found = packages_.find(std::string(name));
  if (found == packages_.end()) return std::nullopt;
  return found->second.entry;
}

std::optional<std::string> TextProject::NameOfFile(std::string_view file) const {
  if (!file.starts_with("content/")) return std::nullopt;
  const std::string name(file.substr(file.find('/') + 1));
  return packages_.contains(name) ? std::optional(name) : std::nullopt;
}

ReferenceTarget TextProject::Resolve(std::string_view, std::string_view written) const {
  const std::string base(written.substr(0, written.rfind("/_gen/")));
  return {.name = std::string(written), .error = packages_.contains(base) ? "" : "no such file"};
}

std::vector<std::string> TextProject::VariantsOf(std::string_view name,
                                                 const Cultures& cultures) const {
  std::vector<std::string> names;
  for (const auto& [culture, variant] : At(std::string(name)).variants) {
    const bool is_asked =
        cultures ? std::ranges::find(*cultures, culture) != cultures->end() : culture.empty();
    if (is_asked && packages_.contains(variant)) names.push_back(variant);
  }
  return names;
}

const TextPackage& TextProject::At(const std::string& name) const {
  const auto found = packages_.find(name);
  return found == packages_.end() ? generated_ : found->second;
}

RootBuilt WholeRoot(const BuildRoot& asked) {
  RootBuilt built{asked.platform, Digest::Of("root"), {}, asked.platform_set};
  built.request = asked.request;
  built.round = asked.round;
  return built;
}

size_t CountOf(std::string_view part, std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

CoreHarness::CoreHarness(const std::string& project, CookOptions options)
    : project_(std::make_shared<TextProject>(project)),
      core_(std::make_unique<CookCore>(options, project_)),
      takes_several_(options.cooks_max > 1),
      platforms_(MaskOf(options.platform_count) - 1) {}

void CoreHarness::Request(const std::vector<std::string>& selected, CookRequested request) {
  for (const std::string& name : selected)
    request.selected.push_back({name, InstigatorCategory::kCommandLinePackage});
  if (request.platforms == 0) request.platforms = platforms_;
  has_ended_ = false;
  Send(request);
  while (core_->has_agenda()) Send(Tick{});
}

void CoreHarness::Send(const Event& event) {
  inbox_.push_back(event);
  if (is_sending_) return;
  is_sending_ = true;
  for (; !inbox_.empty(); inbox_.pop_front()) {
    std::vector<Effect> effects;
    core_->Step(now_, inbox_.front(), effects);
    core_->CheckInvariants();
    for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
    if (inbox_.size() == 1 && core_->has_agenda()) inbox_.emplace_back(Tick{});
  }
  is_sending_ = false;
}

void CoreHarness::SendAtOnce(const std::vector<Event>& events) {
  inbox_.insert(inbox_.end(), events.begin(), events.end() - 1);
  Send(events.back());
}

void CoreHarness::Pass(absl::Duration duration) {
  for (; duration > absl::ZeroDuration(); duration -= absl::Seconds(1)) {
    now_ += std::min(duration, absl::Duration(absl::Seconds(1)));
    Send(Tick{});
  }
}

void CoreHarness::Work() {
  const std::vector<HarnessJob> jobs = jobs_;
  for (const HarnessJob& job : jobs) {
    for (PlatformIndex p = 0; p < 32 && !answered_.contains(job.start.attempt); ++p) {
      if (job.start.platforms & MaskOf(p))
        Report(job, WorkerReport::Saved{p, MakeResult(core_->NameOf(job.start.package)),
                                        absl::Milliseconds(1)});
    }
    answered_.insert(job.start.attempt);
  }
}

void CoreHarness::Finish() {
  for (int i = 0; i < 1000 && !has_ended_; ++i) {
    Work();
    Pass(absl::Seconds(1));
  }
}

const HarnessJob& CoreHarness::JobOf(const std::string& name) const {
  const auto found = std::find_if(jobs_.rbegin(), jobs_.rend(), [&](const HarnessJob& job) {
    return core_->NameOf(job.start.package) == name;
  });
  GALLEY_CHECK(found != jobs_.rend());
  return *found;
}

bool CoreHarness::HasOpenJob(const std::string& name) const {
  return std::ranges::any_of(jobs_, [&](const HarnessJob& job) {
    return core_->NameOf(job.start.package) == name && !answered_.contains(job.start.attempt);
  });
}

std::vector<HarnessJob> CoreHarness::TakeJobs() {
  const size_t first = std::exchange(jobs_taken_, jobs_.size());
  return {jobs_.begin() + static_cast<std::ptrdiff_t>(first), jobs_.end()};
}

ReportId CoreHarness::Report(const HarnessJob& job, decltype(WorkerReport::what) what,
                             WorkerReport::Bytes bytes) {
  const ReportId number = reports_.size() + 1;
  const WorkerReported report{job.worker,
                              {WorkerReport{number, job.start.attempt, std::move(what), bytes}}};
  reports_.emplace(number, report);
  Send(report);
  return number;
}

void CoreHarness::Resend(ReportId report) { Send(WorkerReported(reports_.at(report))); }

ReportId CoreHarness::Loaded(const std::string& name) {
  const HarnessJob job = JobOf(name);
  return Report(job,
                WorkerReport::Loaded{job.start.platforms, MakeResult(name), absl::Milliseconds(1)});
}

ReportId CoreHarness::Saved(const std::string& name, PlatformIndex platform, bool is_current) {
  return Saved(HarnessJob(JobOf(name)), platform, is_current);
}

ReportId CoreHarness::Saved(const HarnessJob& job, PlatformIndex platform, bool is_current) {
  answered_.insert(job.start.attempt);
  WorkerReport::Saved saved{platform, MakeResult(core_->NameOf(job.start.package)),
                            absl::Milliseconds(1)};
  saved.is_current = is_current;
  return Report(job, saved);
}

ReportId CoreHarness::Failed(const std::string& name, WorkerReport::Fault fault,
                             const std::string& error) {
  const HarnessJob job = JobOf(name);
  answered_.insert(job.start.attempt);
  const bool executor_lost = fault == WorkerReport::Fault::kCrashed ||
                             fault == WorkerReport::Fault::kMemory ||
                             fault == WorkerReport::Fault::kTimeout;
  return Report(
      job, WorkerReport::Failed{.fault = fault, .error = error, .executor_lost = executor_lost});
}

void CoreHarness::ChangeProject(const std::string& project) {
  project_ = std::make_shared<TextProject>(project);
}

ResultViewPtr CoreHarness::MakeResult(const std::string& name, const std::string& output) {
  const TextPackage& package = project_->At(name);
  std::vector<record::Output> outputs;
  if (!output.empty()) outputs.push_back({.suffix = "", .digest = Digest::Of(output)});
  auto view = std::make_shared<ResultView>(ResultView{.id = ResultId(results_++),
                                                      .references = package.references,
                                                      .generated = package.generated,
                                                      .outputs = std::move(outputs),
                                                      .is_verdict = !package.verdict.empty(),
                                                      .error = package.verdict});
  if (!package.warnings.empty())
    view->warnings = std::make_shared<const std::vector<std::string>>(package.warnings);
  if (!package.inputs.empty())
    view->inputs = std::make_shared<const std::vector<std::string>>(package.inputs);
  return view;
}

std::string CoreHarness::TakeLog() { return std::exchange(log_, ""); }

void CoreHarness::Do(const LookUp& effect) {
  for (const LookUp::Item& item : effect.items) {
    if (hold_look_ups) {
      look_ups.push_back(item);
      continue;
    }
    LookedUp answer;
    for (PlatformIndex p = 0; p < 32; ++p) {
      if (item.platforms & MaskOf(p)) answer.items.push_back(Answer(item, p));
    }
    Send(answer);
  }
}

WorkId CoreHarness::WorkOf(const std::string& work, PlatformIndex platform) {
  return Fnv1a(work) + platform;
}

LookedUp::Item CoreHarness::Answer(const LookUp::Item& question, PlatformIndex platform) {
  const std::string& name = core_->NameOf(question.package);
  const TextPackage& package = project_->At(name);
  LookedUp::Item answer{question.package, platform, question.generation, LookedUp::Miss{}};
  if (package.work.empty()) return answer;
  if (cache_.contains({package.work, package.around, platform})) {
    answer.outcome = LookedUp::Hit{MakeResult(name), false};
  } else if (const auto limit = limits_.find({package.work, package.around});
             limit != limits_.end()) {
    answer.outcome = LookedUp::Kept{.error = "kept: " + limit->second, .log = ""};
  } else {
    answer.outcome = LookedUp::Miss{.work = WorkOf(package.work, platform)};
  }
  return answer;
}

void CoreHarness::Do(const Desire& effect) {
  acknowledged_.insert(effect.persisted.begin(), effect.persisted.end());
  if (effect.drain)
    Say("drain " + std::to_string(effect.worker.value()) +
        (effect.start_another ? " start another" : ""));
  if (effect.resend_all) Say("resend all " + std::to_string(effect.worker.value()));
  for (const AttemptId attempt : effect.cancel) {
    answered_.insert(attempt);
    const auto job = std::ranges::find_if(
        jobs_, [&](const HarnessJob& j) { return j.start.attempt == attempt; });
    Say("cancel " + (job == jobs_.end() ? "unknown" : core_->NameOf(job->start.package)));
  }
  for (const AttemptId attempt : effect.retract) {
    const auto job = std::ranges::find_if(
        jobs_, [&](const HarnessJob& j) { return j.start.attempt == attempt; });
    Say("retract " + (job == jobs_.end() ? "unknown" : core_->NameOf(job->start.package)));
  }
  for (const Desire::Part& part : effect.retract_part) {
    const auto job = std::ranges::find_if(
        jobs_, [&](const HarnessJob& j) { return j.start.attempt == part.attempt; });
    Say("retract " + (job == jobs_.end() ? "unknown" : core_->NameOf(job->start.package)) + " of " +
        std::to_string(part.platforms));
  }
  for (const Desire::Start& start : effect.start) {
    Say("start " + core_->NameOf(start.package) + " " + std::to_string(effect.worker.value()));
    jobs_.push_back({effect.worker, start});
  }
}

void CoreHarness::Do(const Spawn& effect) {
  Say("spawn " + std::to_string(effect.worker.value()));
  spawn_delays.push_back(effect.delay);
  if (hold_workers) return spawned.push_back(effect.worker);
  Send(WorkerAttached{effect.worker, slots, {}});
}

void CoreHarness::Do(const Stop& effect) { Say("stop " + std::to_string(effect.worker.value())); }

void CoreHarness::Do(const Persist& effect) {
  urgent_persists += effect.is_urgent;
  Persisted answer;
  for (const Persist::Item& item : effect.items) {
    if (hold_commits && item.was_cooked) {
      commits.push_back(item);
    } else {
      const TextPackage& package = project_->At(core_->NameOf(item.package));
      if (!package.work.empty()) cache_.insert({package.work, package.around, item.platform});
      answer.items.push_back({item.package, item.platform, item.result});
    }
  }
  if (!answer.items.empty()) Send(answer);
}

void CoreHarness::Do(const Rescan& effect) {
  std::string line = "rescan";
  for (const std::string& path : effect.paths) line += " " + path;
  Say(line);
}

void CoreHarness::Do(const BuildRoot& effect) {
  std::string line = takes_several_ ? "root of " + std::to_string(effect.request) + ":" : "root";
  for (const auto& [package, result] : effect.packages) line += " " + core_->NameOf(package);
  Say(line);
  if (hold_roots) return roots.push_back(effect);
  RootBuilt built{effect.platform, Digest::Of(line), {}, effect.platform_set};
  built.round = effect.round;
  built.request = effect.request;
  Send(built);
}

void CoreHarness::Do(const PublishRoot& effect) {
  Say("publish " + std::to_string(effect.platform) +
      (takes_several_ ? " of " + std::to_string(effect.request) : ""));
  if (hold_publish) return publishes.push_back(effect);
  Send(RootPublished{effect.platform, "", effect.platform_set, effect.round, effect.request});
}

void CoreHarness::Do(const StageRoots& effect) {
  Say("stage");
  if (hold_stages) return stages.push_back(effect);
  Send(RootsStaged{.loss = "", .round = effect.round, .request = effect.request});
}

void CoreHarness::Do(const LookForLost& effect) {
  Say("look for lost");
  if (hold_looks) return looks_for_lost.push_back(effect);
  Send(LostFound{.look = effect.look, .lost = {}, .error = ""});
}

std::string CoreHarness::Listeners(CookMask cooks) const {
  if (!takes_several_) return "";
  std::string text;
  for (; cooks != 0; cooks &= cooks - 1) {
    const auto slot = static_cast<CookSlot>(std::countr_zero(cooks));
    text += (text.empty() ? " [" : " ") + std::to_string(cooks_.at(slot));
  }
  return text + "]";
}

void CoreHarness::Do(const Notify& effect) {
  if (const auto* began = std::get_if<CookBegan>(&effect.notice))
    cooks_[began->slot] = began->request;
  const std::string to = Listeners(effect.cooks);
  if (const auto* failed = std::get_if<PackageFailed>(&effect.notice)) {
    Say("failed " + core_->NameOf(failed->package) +
        (failed->platform ? " " + std::to_string(*failed->platform) : "") + ": " + failed->error +
        (failed->log.empty() ? "" : " log=" + failed->log) +
        (failed->cause == FailureCause::kLimit ? " cause=limit" : "") + to);
    if (failed->cause == FailureCause::kLimit) {
      const TextPackage& package = project_->At(core_->NameOf(failed->package));
      limits_.emplace(std::pair(package.work, package.around), failed->error);
    }
  } else if (const auto* warned = std::get_if<PackageWarned>(&effect.notice)) {
    Say("warned " + core_->NameOf(warned->package) + ": " + warned->text + to);
  } else if (const auto* blamed = std::get_if<PackageBlamed>(&effect.notice)) {
    Say("blamed " + core_->NameOf(blamed->package) + " " + std::to_string(blamed->own_faults) +
        ": " + blamed->what + ": " + blamed->error);
  } else if (const auto* odd = std::get_if<WorkerQuarantined>(&effect.notice)) {
    std::string line = "quarantined " + std::to_string(odd->worker.value() - kForeignWorkers) +
                       " for " + core_->NameOf(odd->package) + ", unlike " + odd->others +
                       "; unproven:";
    for (const PackageId package : odd->unproven) line += " " + core_->NameOf(package);
    Say(line);
  } else if (const auto* held = std::get_if<WorkerHeld>(&effect.notice)) {
    const std::string who = held->worker.valid()
                                ? std::to_string(held->worker.value() % kLaunchedWorkers)
                                : "all of " + held->machine;
    Say(held->is_over ? "used again " + who : "held " + who + ": " + held->why + to);
  } else if (const auto* violated = std::get_if<WorkerViolated>(&effect.notice)) {
    Say("ended " + std::to_string(violated->worker.value() % kLaunchedWorkers) + ": " +
        violated->why);
  } else if (const auto* done = std::get_if<PackageDone>(&effect.notice)) {
    Say("done " + core_->NameOf(done->package) + to);
  } else if (const auto* left = std::get_if<PackageLeft>(&effect.notice)) {
    Say("left " + core_->NameOf(left->package) + to);
  } else if (const auto* asked = std::get_if<AskEnded>(&effect.notice)) {
    Say("ask " + std::to_string(asked->ask) + ": " +
        (asked->result.valid()                  ? (asked->was_cooked ? "done, cooked" : "done")
         : !asked->infrastructure_error.empty() ? asked->infrastructure_error
                                                : "failed: " + asked->failed->error));
  } else if (const auto* began = std::get_if<CookBegan>(&effect.notice)) {
    if (takes_several_) Say("began " + std::to_string(began->request));
  } else if (const auto* ended = std::get_if<CookEnded>(&effect.notice)) {
    has_ended_ = true;
    Say(std::string("ended") + (ended->is_interrupted ? " interrupted" : "") +
        (ended->is_fail_fast ? " fail-fast" : "") +
        (ended->infrastructure_error.empty() ? "" : ": " + ended->infrastructure_error) + to);
  }
}

}  // namespace galley::director
