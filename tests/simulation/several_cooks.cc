#include "tests/simulation/several_cooks.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/fnv.h"
#include "director/core/cook_core.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/cooks_project.h"
#include "tests/simulation/schedule.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

constexpr uint64_t kActsMax = 200'000;
constexpr CookClass kClasses[] = {CookClass::kNow, CookClass::kCommit, CookClass::kNightly,
                                  CookClass::kAhead};

// What one cook came to, as text.
struct Ending {
  bool is_over = false;
  bool is_whole = false;  // by itself, with nothing left out
  std::map<PlatformIndex, std::string> roots;
  std::set<std::string> failures;
  std::set<std::string> warnings;
  std::set<std::string> members;  // that it was told of
  bool was_opened_again = false;  // what it warned of stays said
};

// One core with the world around it. A calm one has no chance in what it does but the order of
// nothing: it says what a cook comes to.
class Stage {
 public:
  struct Options {
    uint64_t seed = 0;
    uint32_t cooks_max = 1;
    bool is_calm = true;
  };

  Stage(const Options& options, CooksProject project, Checks& checks)
      : options_(options),
        random_(options.seed),
        checks_(checks),
        project_(std::make_shared<CooksProject>(std::move(project))),
        core_(
            std::make_unique<CookCore>(CookOptions{.platform_count = kCooksPlatforms,
                                                   .workers = 2,
                                                   .units_per_step = options.is_calm ? 4096u : 16u,
                                                   .resources = {{"gpu", 1}},
                                                   .cooks_max = options.cooks_max},
                                       CatalogOf(project_))) {
    for (const auto& [name, package] : project_->packages) Tell(name, package);
    Tick();
  }

  void Ask(const CookRequested& request) {
    requests_[request.request] = request;
    std::string line = "ask " + std::to_string(request.request) + " on " +
                       std::to_string(request.platforms) + (request.force ? " forced" : "") +
                       (request.follow_soft ? "" : " no soft") + ":";
    for (const SelectedPackage& one : request.selected) line += " " + one.name;
    Say(line);
    Step(request);
  }
  void Cancel(uint64_t request) { Step(CancelRequested{request}); }
  void Edit() {
    CooksProject next = *project_;
    const std::string name = next.Edit(random_);
    project_ = std::make_shared<CooksProject>(std::move(next));
    Say("edit");
    Tell(name, project_->packages.at(name));
    Step(FilesChanged{CatalogOf(project_), {name}, {}});
  }
  void LoseAWorker() {
    if (attached_.empty()) return;
    const auto at =
        std::next(attached_.begin(), static_cast<std::ptrdiff_t>(random_.Below(attached_.size())));
    const WorkerId worker = *at;
    attached_.erase(at);
    std::erase_if(jobs_, [&](const auto& job) { return job.second.worker == worker; });
    Say("lost worker " + std::to_string(worker.value()));
    Step(WorkerLost{worker, "it was killed"});
  }

  // False: nothing happens any more.
  bool RunNext() { return schedule_.RunNext(); }
  void TellStates() {
    for (uint32_t i = 0; i < core_->package_count(); ++i)
      Say(core_->NameOf(PackageId(i)) + ": " + core_->StateText(PackageId(i)));
    for (const auto& [slot, request] : slots_) {
      const Counters& counters = core_->counters(request);
      Say("cook " + std::to_string(request) + ": " + std::to_string(counters.in_cook) +
          " packages, wants " + std::to_string(counters.results_wanted) + " results, has " +
          std::to_string(counters.results_cooked + counters.results_cached +
                         counters.results_up_to_date + counters.results_failed));
    }
  }
  bool IsOver() const {
    return std::all_of(requests_.begin(), requests_.end(), [&](const auto& request) {
      const auto found = endings_.find(request.first);
      return found != endings_.end() && found->second.is_over;
    });
  }
  const std::map<uint64_t, Ending>& endings() const { return endings_; }
  // The project of which the cook's roots were built.
  const CooksProject& ProjectOf(uint64_t request) const { return *settled_.at(request).project; }
  uint64_t at_once() const { return at_once_; }
  uint64_t shared() const { return shared_; }
  Schedule& schedule() { return schedule_; }
  Random& random() { return random_; }

 private:
  struct Result {
    std::string name;
    PlatformIndex platform = 0;
    std::string content;
    std::map<std::string, std::string> inputs;  // what it read of them
    std::string made_of;
    ResultViewPtr view;
  };
  struct Job {
    WorkerId worker;
    Desire::Start start;
    CooksProjectPtr project;
    std::string made_of;
  };
  struct Settled {
    uint32_t round = 0;
    CooksProjectPtr project;
    std::map<PlatformIndex, std::string> built;
  };

  void Tell(const std::string& name, const ProjectPackage& package) {
    std::string line = name + ":";
    for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
      for (const record::Reference& one : package.references[p])
        line += " " + std::to_string(p) + ">" + one.path +
                (one.kind == record::ReferenceKind::kSoft ? "?" : "");
    }
    for (const std::string& one : package.generates) line += " " + one;
    for (const std::string& one : package.inputs) line += " (" + one + ")";
    line += std::string(package.is_verdict ? " verdict" : "") +
            (package.is_poison ? " poison" : "") + (package.is_never ? " never" : "");
    Say(line);
  }
  void Say(const std::string& line) { checks_.Trace(std::string_view(line)); }
  absl::Duration Delay(int64_t ms_max) {
    return options_.is_calm ? absl::Milliseconds(1) : random_.Some(ms_max);
  }
  void After(int64_t ms_max, std::function<void()> act) {
    schedule_.After(Delay(ms_max), std::move(act));
  }
  void Tick() {
    schedule_.After(absl::Milliseconds(100), [this] {
      Step(director::Tick{});
      Tick();
    });
  }

  void Step(const Event& event) {
    StepOnce(event);
    for (size_t turns = 0; core_->has_agenda(); ++turns) {
      if (turns > 100'000) return checks_.Break("liveness: the agenda never ends");
      // Between two steps others have their say.
      if (!options_.is_calm && random_.Percent(10)) {
        schedule_.After(absl::ZeroDuration(), [this] { Step(director::Tick{}); });
        break;
      }
      StepOnce(director::Tick{});
    }
  }

  void StepOnce(const Event& event) {
    std::vector<Effect> effects;
    core_->Step(schedule_.now(), event, effects);
    core_->CheckInvariants();
    for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
  }

  // What the package is made of, but for its inputs.
  std::string MadeOf(const CooksProject& project, PackageId package) const {
    const std::string& name = core_->NameOf(package);
    const size_t generated = name.find("/_gen/");
    if (generated != std::string::npos) {
      const record::Generated* listed = core_->GeneratedOf(package);
      return listed == nullptr ? "nothing" : listed->source.ToString();
    }
    return project.Has(name) ? std::to_string(project.Of(name).version) : "nothing";
  }

  void Do(const Reply&) {}
  void Do(const Stop&) {}

  void Do(const LookUp& effect) {
    After(20, [this, effect] {
      LookedUp answer;
      for (const LookUp::Item& item : effect.items) {
        for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
          if (item.platforms & MaskOf(p)) answer.items.push_back(Answer(item, p));
        }
      }
      Step(answer);
    });
  }

  LookedUp::Item Answer(const LookUp::Item& item, PlatformIndex platform) {
    LookedUp::Item answer{item.package, platform, item.generation, LookedUp::Miss{}};
    const auto found = cache_.find({core_->NameOf(item.package), platform});
    if (found == cache_.end()) return answer;
    const std::string made_of = MadeOf(*project_, item.package);
    for (const ResultId id : found->second) {
      const Result& result = results_.at(id);
      if (result.made_of != made_of) continue;
      LookedUp::NeedsCooked needs;
      bool is_equal = true;
      for (const auto& [input, content] : result.inputs) {
        const auto given =
            std::find_if(item.cooked.begin(), item.cooked.end(), [&](const CookedResult& one) {
              return one.platform == platform && core_->NameOf(one.package) == input;
            });
        if (given == item.cooked.end()) {
          needs.packages.push_back(input);
        } else {
          is_equal &= results_.at(given->result).content == content;
        }
      }
      if (!is_equal) continue;
      if (!needs.packages.empty()) {
        answer.outcome = needs;
      } else {
        answer.outcome = LookedUp::Hit{result.view, false};
      }
      return answer;
    }
    return answer;
  }

  void Do(const Spawn& effect) {
    After(50, [this, worker = effect.worker] {
      attached_.insert(worker);
      Step(WorkerAttached{worker, 2, {}});
    });
  }

  void Do(const Desire& effect) {
    for (const AttemptId attempt : effect.cancel) jobs_.erase(attempt);
    for (const Desire::Part& part : effect.retract_part) {
      const auto job = jobs_.find(part.attempt);
      if (job != jobs_.end()) job->second.start.platforms &= ~part.platforms;
    }
    for (const Desire::Start& start : effect.start) {
      Say("start " + core_->NameOf(start.package));
      jobs_[start.attempt] = {effect.worker, start, project_, MadeOf(*project_, start.package)};
      After(100, [this, attempt = start.attempt] { Load(attempt); });
    }
  }

  void Report(const Job& job, decltype(WorkerReport::what) what) {
    Step(
        WorkerReported{job.worker, {WorkerReport{++reports_, job.start.attempt, std::move(what)}}});
  }

  // False: the attempt ended.
  bool Ends(const Job& job, PlatformIndex platform) {
    const std::string& name = core_->NameOf(job.start.package);
    if (!options_.is_calm && random_.Percent(3)) {
      Report(job, WorkerReport::Failed{.error = "no route to host"});
      return true;
    }
    if (!job.project->Has(name)) return false;
    const ProjectPackage& package = job.project->Of(name);
    if (package.is_poison) {
      Report(job, WorkerReport::Failed{.fault = WorkerReport::Fault::kCrashed,
                                       .error = "signal 11",
                                       .executor_lost = true});
      return true;
    }
    for (const std::string& input : package.inputs) {
      if (InputOf(job, platform, input) != nullptr) continue;
      Report(job, WorkerReport::Needs{input, platform});
      return true;
    }
    return false;
  }

  const Result* InputOf(const Job& job, PlatformIndex platform, const std::string& input) const {
    for (const CookedResult& one : job.start.cooked) {
      if (one.platform == platform && core_->NameOf(one.package) == input)
        return &results_.at(one.result);
    }
    return nullptr;
  }

  void Load(AttemptId attempt) {
    const auto found = jobs_.find(attempt);
    if (found == jobs_.end()) return;
    const Job job = found->second;
    for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
      if ((job.start.platforms & MaskOf(p)) == 0) continue;
      if (!Ends(job, p)) continue;
      jobs_.erase(attempt);
      return;
    }
    // What is known of a package whose cook fails would depend on whether it was tried here.
    for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
      const ResultViewPtr view = ViewOf(job, p);
      if ((job.start.platforms & MaskOf(p)) != 0 && !view->is_verdict && random_.Percent(50))
        Report(job, WorkerReport::Loaded{MaskOf(p), view, absl::Milliseconds(1)});
    }
    Save(attempt, 0);
  }

  void Save(AttemptId attempt, PlatformIndex platform) {
    After(100, [this, attempt, platform] {
      const auto found = jobs_.find(attempt);
      if (found == jobs_.end()) return;
      const Job job = found->second;
      if (job.start.platforms & MaskOf(platform)) {
        const ResultViewPtr view = ViewOf(job, platform);
        WorkerReport::Saved saved{platform, view, absl::Milliseconds(1)};
        saved.is_current = MadeOf(*project_, job.start.package) == job.made_of;
        Report(job, saved);
      }
      if (platform + 1 < kCooksPlatforms) return Save(attempt, platform + 1);
      jobs_.erase(attempt);
    });
  }

  ResultViewPtr ViewOf(const Job& job, PlatformIndex platform) {
    const std::string& name = core_->NameOf(job.start.package);
    Result result{.name = name,
                  .platform = platform,
                  .content = "",
                  .inputs = {},
                  .made_of = job.made_of,
                  .view = nullptr};
    result.content = name + " " + job.made_of + " " + std::to_string(platform);
    ResultView view{.id = ResultId(static_cast<uint32_t>(results_.size()))};
    if (job.project->Has(name)) {
      const ProjectPackage& package = job.project->Of(name);
      for (const std::string& input : package.inputs) {
        const Result* given = InputOf(job, platform, input);
        result.inputs[input] = given == nullptr ? "" : given->content;
        result.content += " (" + result.inputs[input] + ")";
      }
      view.references = package.references[platform];
      for (const std::string& generated : package.generates)
        view.generated.push_back({generated, Digest::Of(name + generated + job.made_of), "", ""});
      view.is_verdict = package.is_verdict;
      if (view.is_verdict) view.error = "not fit";
    }
    view.outputs.push_back({.suffix = "", .digest = Digest::Of(result.content)});
    result.view = std::make_shared<ResultView>(view);
    results_.emplace(view.id, result);
    return result.view;
  }

  void Do(const Persist& effect) {
    After(30, [this, effect] {
      Persisted done;
      for (const Persist::Item& item : effect.items) {
        const Result& result = results_.at(item.result);
        std::vector<ResultId>& known = cache_[{result.name, result.platform}];
        if (std::find(known.begin(), known.end(), item.result) == known.end())
          known.push_back(item.result);
        done.items.push_back({item.package, item.platform, item.result});
      }
      Step(done);
    });
  }

  void Do(const Rescan& effect) {
    After(20, [this, effect] { Step(FilesChanged{CatalogOf(project_), {}, effect.paths}); });
  }

  void Do(const BuildRoot& effect) {
    Say("root of " + std::to_string(effect.request));
    Settled& settled = settled_[effect.request];
    if (settled.project == nullptr || settled.round != effect.round) {
      endings_[effect.request].was_opened_again |= settled.project != nullptr;
      settled = {effect.round, project_, {}};
    }
    std::string text;
    std::map<std::string, PackageId> names;
    for (const auto& [package, result] : effect.packages) {
      const Result& one = results_.at(result);
      names[one.name] = package;
      text += one.name + " = " + one.content + "\n";
      if (!told_done_[effect.request].contains({package, effect.platform}))
        checks_.Break("safety: a cook was not told of " + one.name + " in its root");
      if (core_->NameOf(package) != one.name || one.platform != effect.platform)
        checks_.Break("safety: another's result in the root: " + one.name);
    }
    settled.built[effect.platform] = text;
    RootBuilt built{.platform = effect.platform, .root = Digest::Of(text)};
    built.platform_set = effect.platform_set;
    built.round = effect.round;
    built.request = effect.request;
    for (const auto& [a, b] : settled.project->conflicts) {
      if (names.contains(a) && names.contains(b))
        built.conflicts.push_back({names[a], names[b], "x", "the same path"});
    }
    After(50, [this, built] { Step(built); });
  }

  void Do(const PublishRoot& effect) {
    endings_[effect.request].roots[effect.platform] =
        settled_.at(effect.request).built.at(effect.platform);
    After(50, [this, effect] {
      Step(RootPublished{.platform = effect.platform,
                         .error = "",
                         .platform_set = effect.platform_set,
                         .round = effect.round,
                         .request = effect.request});
    });
  }

  void Do(const StageRoots& effect) {
    After(50, [this, effect] {
      Step(RootsStaged{.loss = "", .round = effect.round, .request = effect.request});
    });
  }

  void Do(const LookForLost& effect) {
    After(20, [this, effect] { Step(LostFound{.look = effect.look, .lost = {}, .error = ""}); });
  }

  // Failures that depend on how often something was tried are told with other words.
  static std::string TextOf(const PackageFailed& failed) {
    return failed.cause == FailureCause::kProject || failed.cause == FailureCause::kVerdict
               ? failed.error
               : std::string(FailureCauseName(failed.cause));
  }

  void Do(const Notify& effect) {
    if (const auto* began = std::get_if<CookBegan>(&effect.notice)) {
      if (slots_.contains(began->slot)) checks_.Break("safety: two cooks in one slot");
      slots_[began->slot] = began->request;
      at_once_ = std::max<uint64_t>(at_once_, slots_.size());
    }
    if (std::holds_alternative<PackageDone>(effect.notice))
      shared_ += std::popcount(effect.cooks) > 1;
    if (const auto* ended = std::get_if<CookEnded>(&effect.notice)) {
      Ending& ending = endings_[ended->request];
      Say("ended " + std::to_string(ended->request) + " " + ended->infrastructure_error);
      if (ending.is_over) checks_.Break("safety: a cook ended twice");
      ending.is_over = true;
      ending.is_whole =
          !ended->is_interrupted && !ended->is_fail_fast && ended->infrastructure_error.empty();
      if (!ended->infrastructure_error.empty())
        checks_.Break("safety: ended for no reason: " + ended->infrastructure_error);
    }
    for (CookMask cooks = effect.cooks; cooks != 0; cooks &= cooks - 1) {
      const auto slot = static_cast<CookSlot>(std::countr_zero(cooks));
      if (!slots_.contains(slot)) {
        checks_.Break("safety: news for a cook that does not run");
        continue;
      }
      Take(slots_.at(slot), effect.notice);
    }
    if (std::holds_alternative<CookEnded>(effect.notice)) {
      for (CookMask cooks = effect.cooks; cooks != 0; cooks &= cooks - 1)
        slots_.erase(static_cast<CookSlot>(std::countr_zero(cooks)));
    }
  }

  void Take(uint64_t request, const Notice& notice) {
    std::map<std::pair<PackageId, PlatformIndex>, std::string>& now = failing_[request];
    const auto each = [&](const std::optional<PlatformIndex>& platform, auto act) {
      for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
        if ((requests_.at(request).platforms & MaskOf(p)) && (!platform || *platform == p)) act(p);
      }
    };
    if (const auto* done = std::get_if<PackageDone>(&notice)) {
      Say("done " + core_->NameOf(done->package) + " for " + std::to_string(request));
      told_done_[request].insert({done->package, done->platform});
      endings_[request].members.insert(core_->NameOf(done->package));
      now.erase({done->package, done->platform});
    } else if (const auto* failed = std::get_if<PackageFailed>(&notice)) {
      Say("failed " + core_->NameOf(failed->package) + " for " + std::to_string(request) + ": " +
          failed->error);
      endings_[request].members.insert(core_->NameOf(failed->package));
      each(failed->platform, [&](PlatformIndex p) { now[{failed->package, p}] = TextOf(*failed); });
    } else if (const auto* warned = std::get_if<PackageWarned>(&notice)) {
      if (warned->text.find("Unsolicited") == std::string::npos)
        endings_[request].warnings.insert(core_->NameOf(warned->package) + ": " + warned->text);
    } else if (std::holds_alternative<CookEnded>(notice)) {
      Ending& ending = endings_[request];
      for (const auto& [where, text] : now)
        ending.failures.insert(core_->NameOf(where.first) + " " + std::to_string(where.second) +
                               ": " + text);
      const Counters& counters = core_->counters(request);
      if (counters.results_failed != now.size() && ending.is_whole)
        checks_.Break("safety: a cook counts other failures than it was told of: " +
                      std::to_string(counters.results_failed) + ", " + std::to_string(now.size()));
    }
  }

  const Options options_;
  Random random_;
  Checks& checks_;
  Schedule schedule_;
  CooksProjectPtr project_;
  std::unique_ptr<CookCore> core_;
  std::map<uint64_t, CookRequested> requests_;
  std::map<uint64_t, Ending> endings_;
  std::map<uint64_t, Settled> settled_;
  std::map<uint64_t, std::map<std::pair<PackageId, PlatformIndex>, std::string>> failing_;
  std::map<uint64_t, std::set<std::pair<PackageId, PlatformIndex>>> told_done_;
  std::map<CookSlot, uint64_t> slots_;
  std::map<ResultId, Result> results_;
  std::map<std::pair<std::string, PlatformIndex>, std::vector<ResultId>> cache_;
  std::map<AttemptId, Job> jobs_;
  std::set<WorkerId> attached_;
  ReportId reports_ = 0;
  uint64_t at_once_ = 0, shared_ = 0;
};

CookRequested RandomRequest(uint64_t number, const CooksProject& project, Random& random) {
  CookRequested request{.request = number,
                        .platforms = static_cast<PlatformMask>(1 + random.Below(3)),
                        .by_the_book = false,
                        .force = random.Percent(10),
                        .fail_fast = random.Percent(5),
                        .follow_soft = !random.Percent(20),
                        .is_staged = random.Percent(50),
                        .of_class = kClasses[random.Below(4)]};
  for (uint64_t i = 1 + random.Below(4); i > 0; --i) {
    auto at = std::next(project.packages.begin(),
                        static_cast<std::ptrdiff_t>(random.Below(project.packages.size())));
    std::string name = at->first;
    if (!at->second.generates.empty() && random.Percent(20)) name += "/" + at->second.generates[0];
    request.selected.push_back({name, random.Percent(50) ? InstigatorCategory::kCommandLinePackage
                                                         : InstigatorCategory::kCookMap});
  }
  return request;
}

std::string Lines(const std::set<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

// A reason stays for the cook though an edit took the reference that gave it: what such packages
// came to is told, and is in no root. Lines begin with a package, and may name another.
std::set<std::string> Of(const std::set<std::string>& members, const std::set<std::string>& lines) {
  std::set<std::string> kept;
  for (const std::string& line : lines) {
    const std::string name = line.substr(0, line.find_first_of(": "));
    const size_t at = line.find("refers to P");
    const size_t from = at + std::string("refers to ").size();
    const bool is_of_other = at != std::string::npos &&
                             !members.contains(line.substr(from, line.find(',', from) - from));
    if (members.contains(name) && !is_of_other) kept.insert(line);
  }
  return kept;
}

std::string Difference(const Ending& alone, const Ending& among, const CookRequested& request) {
  const std::string of = "cook " + std::to_string(request.request);
  for (const auto& [platform, root] : alone.roots) {
    const auto found = among.roots.find(platform);
    if (found == among.roots.end()) return "safety: " + of + " lacks a root";
    if (found->second != root)
      return "safety: " + of + ": another root than alone, for platform " +
             std::to_string(platform) + ":\n" + found->second + "alone:\n" + root;
  }
  if (alone.roots.size() != among.roots.size()) return "safety: " + of + " has a root too many";
  const std::set<std::string> failures = Of(alone.members, among.failures);
  const std::set<std::string> warnings = Of(alone.members, among.warnings);
  if (alone.failures != failures)
    return "safety: " + of + ": other failures than alone:\n" + Lines(failures) + "alone:\n" +
           Lines(alone.failures);
  const std::set<std::string> expected = Of(alone.members, alone.warnings);
  const bool is_as_expected =
      among.was_opened_again
          ? std::includes(warnings.begin(), warnings.end(), expected.begin(), expected.end())
          : warnings == expected;
  if (!is_as_expected)
    return "safety: " + of + ": other warnings than alone:\n" + Lines(warnings) + "alone:\n" +
           Lines(alone.warnings);
  return "";
}

}  // namespace

SeveralCooksOutcome RunSeveralCooks(const SeveralCooksOptions& options) {
  Random random(options.seed);
  Checks checks(options.is_told);
  SeveralCooksOutcome outcome;
  outcome.cooks = 2 + random.Below(7);
  const CooksProject project = CooksProject::Make(random);
  Stage stage({.seed = options.seed * 7 + 1,
               .cooks_max = static_cast<uint32_t>(2 + random.Below(4)),
               .is_calm = false},
              project, checks);
  std::map<uint64_t, CookRequested> requests;
  for (uint64_t number = 1; number <= outcome.cooks; ++number)
    requests[number] = RandomRequest(number, project, random);
  uint64_t asked = 0;
  for (const auto& [number, request] : requests) {
    const absl::Duration when = random.Some(3000);
    stage.schedule().After(when, [&stage, &asked, request = request] {
      ++asked;
      stage.Ask(request);
    });
    if (random.Percent(20))
      stage.schedule().After(when + random.Some(1000),
                             [&stage, number = number] { stage.Cancel(number); });
  }
  for (uint64_t i = random.Percent(70) ? random.Below(6) : 0; i > 0; --i)
    stage.schedule().After(random.Some(4000), [&stage] { stage.Edit(); });
  for (uint64_t i = random.Percent(30) ? random.Below(3) : 0; i > 0; --i)
    stage.schedule().After(random.Some(4000), [&stage] { stage.LoseAWorker(); });
  for (uint64_t acts = 0; asked < outcome.cooks || !stage.IsOver(); ++acts) {
    checks.set_now(stage.schedule().elapsed());
    if (acts > kActsMax || !stage.RunNext()) {
      stage.TellStates();
      checks.Break("liveness: a cook does not end");
    }
    if (!checks.broken().empty()) break;
  }
  outcome.wrong = checks.broken();
  outcome.trace = checks.trace();
  outcome.at_once = stage.at_once();
  outcome.shared = stage.shared();
  for (const auto& [number, ending] : stage.endings()) {
    if (!outcome.wrong.empty() || !ending.is_whole || ending.roots.empty()) continue;
    CookRequested request = requests.at(number);
    Stage alone({.seed = 1}, stage.ProjectOf(number), checks);
    alone.Ask(request);
    for (uint64_t acts = 0; !alone.IsOver() && acts < kActsMax && alone.RunNext();) ++acts;
    ++outcome.compared;
    outcome.wrong = Difference(alone.endings().at(number), ending, request);
    if (!checks.broken().empty()) outcome.wrong = checks.broken();
  }
  return outcome;
}

}  // namespace galley::simulation
