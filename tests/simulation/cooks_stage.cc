#include "tests/simulation/cooks_stage.h"

#include <algorithm>
#include <bit>

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

constexpr absl::Duration kWindow = absl::Milliseconds(200);
constexpr absl::Duration kLongestJob = absl::Milliseconds(300);
// The longest job, one more that waits before what fills a worker's window, the window, and a while
// in which its stream is broken or another worker takes its place.
constexpr absl::Duration kOvertakesWithin = absl::Milliseconds(1300);
constexpr absl::Duration kUnheardMax = absl::Seconds(5);
// Look-ups of a slow store, in some runs: files change, and roots are built, while they are asked.
constexpr int64_t kSlowLookUpMs = 400;

// Failures that depend on how often something was tried are told with other words.
std::string TextOf(const PackageFailed& failed) {
  return failed.cause == FailureCause::kProject || failed.cause == FailureCause::kVerdict
             ? failed.error
             : std::string(FailureCauseName(failed.cause));
}

std::string MadeOfFile(const CooksProject& project, const ProjectPackage& package) {
  return std::to_string(package.version) +
         (package.looks_at_environment ? project.environment : "");
}

}  // namespace

CooksStage::CooksStage(const Options& options, CooksProject project, Checks& checks)
    : options_(options),
      random_(options.seed),
      checks_(checks),
      workers_(schedule_, random_, store_, options.is_calm),
      project_(std::make_shared<CooksProject>(std::move(project))) {
  if (random_.Percent(30)) look_up_ms_max_ = kSlowLookUpMs;
  for (const auto& [name, package] : project_->packages) Tell(name, package);
  BeginDirector();
}

void CooksStage::BeginDirector() {
  CookOptions core{.platform_count = kCooksPlatforms,
                   .workers = 2,
                   .term = ++term_,
                   .units_per_step = options_.is_calm ? 4096u : 16u,
                   .resources = {{"gpu", 1}},
                   .cooks_max = options_.cooks_max};
  if (!options_.is_calm) {
    core.window = kWindow;
    core.unheard_max = kUnheardMax;
  }
  core_ = std::make_unique<CookCore>(core, CatalogOf(project_));
  if (!options_.is_calm && options_.has_classes)
    bounds_ = std::make_unique<ClassBounds>(*core_, kLongestJob, kOvertakesWithin, checks_);
  workers_.Listen({.attached =
                       [this](const WorkerAttached& event) {
                         Say("worker " + std::to_string(event.worker.value()) + " attaches with " +
                             std::to_string(event.in_hand.size()) + " jobs");
                         Step(event);
                       },
                   .reported = [this](const WorkerReported& event) { OnReported(event); }});
  Tick();
}

void CooksStage::Crash() {
  if (core_ == nullptr) return;
  Say("the director dies");
  counts_.crashes += !IsOver();
  core_.reset();
  bounds_.reset();
  workers_.LoseDirector();
  slots_.clear();
  came_.clear();
  committing_.clear();
  has_failed_.clear();
  std::erase_if(given_, [](const auto& given) { return !given.second.is_recorded; });
  for (auto& [request, ending] : endings_) {
    if (ending.is_over) continue;
    ending = {};
    failing_.erase(request);
    told_done_.erase(request);
    settled_.erase(request);
  }
  schedule_.After(Delay(200), [this] { TakeOver(); });
}

// The next director: it adopts what lives of the workers, and goes on with what was asked for.
void CooksStage::TakeOver() {
  BeginDirector();
  Say("director " + std::to_string(term_));
  WorkersSurvived survived;
  survived.first_free = workers_named_;
  std::set<WorkerId> adopted;
  for (const WorkerId worker : workers_.alive()) {
    if (random_.Percent(80)) adopted.insert(worker);
  }
  survived.workers.assign(adopted.begin(), adopted.end());
  std::erase_if(given_, [&](const auto& given) { return !adopted.contains(given.second.worker); });
  for (auto& [attempt, given] : given_) {
    given.is_earlier = true;
    survived.given.push_back(
        {attempt, given.worker, given.name, given.platforms, given.generated_source});
  }
  Step(survived);
  workers_.Adopt(adopted);
  for (auto& [number, request] : requests_) {
    if (endings_[number].is_over) continue;
    if (cancelled_.contains(number)) {
      endings_[number].is_over = true;
      continue;
    }
    CookRequested again = request;
    for (const auto& [package, blamed] : blamed_[number]) again.blamed.push_back(blamed);
    Step(again);
  }
  for (const std::function<void()>& act : std::exchange(waiting_, {})) act();
}

void CooksStage::Ask(const CookRequested& request) {
  if (core_ == nullptr) return waiting_.push_back([this, request] { Ask(request); });
  requests_[request.request] = request;
  std::string line =
      "ask " + std::to_string(request.request) + " on " + std::to_string(request.platforms) + " " +
      std::string(CookClassName(request.of_class)) + (request.force ? " forced" : "") +
      (request.follow_soft ? "" : " no soft") + ":";
  for (const SelectedPackage& one : request.selected) line += " " + one.name;
  Say(line);
  Step(request);
}

void CooksStage::Cancel(uint64_t request) {
  if (core_ == nullptr) return waiting_.push_back([this, request] { Cancel(request); });
  Say("cancel " + std::to_string(request));
  cancelled_.insert(request);
  Step(CancelRequested{request});
}

void CooksStage::Edit() {
  CooksProject next = *project_;
  const std::vector<std::string> names = next.Edit(random_);
  project_ = std::make_shared<CooksProject>(std::move(next));
  Say("edit");
  for (const std::string& name : names) {
    if (project_->packages.contains(name)) Tell(name, project_->packages.at(name));
  }
  // The next director tells no faults of what changed meanwhile, as the journal forgives what a
  // change affects (Journal::Invalidate).
  if (core_ == nullptr) return blamed_.clear();
  for (auto& [request, blamed] : blamed_) {
    for (const std::string& name : names) blamed.erase(name);
  }
  Step(FilesChanged{CatalogOf(project_), names, {}});
}

void CooksStage::SetProject(CooksProject project) {
  project_ = std::make_shared<CooksProject>(std::move(project));
  Say("another project");
  std::vector<std::string> all;
  for (const auto& [name, package] : project_->packages) all.push_back(name);
  Step(FilesChanged{CatalogOf(project_), all, {}});
}

void CooksStage::LoseAWorker() {
  const std::optional<WorkerId> worker = workers_.KillOne();
  if (!worker.has_value()) return;
  Say("lost worker " + std::to_string(worker->value()));
  if (core_ != nullptr) Step(WorkerLost{*worker, "it was killed"});
}

void CooksStage::LoseSome() {
  Say("somebody deletes files of the store");
  ++losses_;
  store_.LoseSome(random_);
  if (core_ != nullptr && random_.Percent(50)) Step(LossSeen{});
}

void CooksStage::TellStates() {
  if (core_ == nullptr) return;
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

bool CooksStage::IsOver() const {
  return core_ != nullptr &&
         std::all_of(requests_.begin(), requests_.end(), [&](const auto& request) {
           const auto found = endings_.find(request.first);
           return found != endings_.end() && found->second.is_over;
         });
}

void CooksStage::CheckNothingIsLeft() {
  for (int acts = 0; acts < 10'000 && checks_.broken().empty(); ++acts) {
    if (workers_.IsIdle() && core_ != nullptr && core_->holdings().commits == 0) break;
    RunNext();
  }
  if (!checks_.broken().empty()) return;
  if (!workers_.IsIdle() || core_ == nullptr)
    return checks_.Break("liveness: a worker has something in hand after all cooks");
  // Those of which nothing was heard.
  for (int i = 0; i < 4; ++i) {
    schedule_.Pause(kUnheardMax / 2);
    Step(director::Tick{});
  }
  const Holdings left = core_->holdings();
  for (const auto& [attempt, given] : given_)
    Say("never ended: " + given.name + " at " + std::to_string(given.worker.value()));
  if (left.attempts != 0)
    checks_.Break("safety: " + std::to_string(left.attempts) + " attempts left behind");
  if (left.workers > workers_.alive().size())
    checks_.Break("safety: " + std::to_string(left.workers) + " workers, and there are " +
                  std::to_string(workers_.alive().size()));
  if (left.commits != 0 || left.changed_files != 0)
    checks_.Break("safety: commits or changed files are left behind");
}

void CooksStage::Tell(const std::string& name, const ProjectPackage& package) {
  std::string line = name + ":";
  for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
    for (const record::Reference& one : package.references[p])
      line += " " + std::to_string(p) + ">" + one.path +
              (one.kind == record::ReferenceKind::kSoft ? "?" : "");
  }
  for (const std::string& one : package.generates) line += " " + one;
  for (const std::string& one : package.inputs) line += " (" + one + ")";
  line += std::string(package.is_verdict ? " verdict" : "") + (package.is_poison ? " poison" : "") +
          (package.is_never ? " never" : "");
  Say(line);
}

void CooksStage::After(absl::Duration delay, std::function<void()> act) {
  schedule_.After(delay, [this, term = term_, act = std::move(act)] {
    if (core_ != nullptr && term == term_) act();
  });
}

void CooksStage::Tick() {
  After(absl::Milliseconds(100), [this] {
    Step(director::Tick{});
    Tick();
  });
}

void CooksStage::Step(const Event& event) {
  StepOnce(event);
  for (size_t turns = 0; core_->has_agenda(); ++turns) {
    if (turns > 100'000) return checks_.Break("liveness: the agenda never ends");
    // Between two steps others have their say.
    if (!options_.is_calm && random_.Percent(10)) {
      After(absl::ZeroDuration(), [this] { Step(director::Tick{}); });
      break;
    }
    StepOnce(director::Tick{});
  }
}

void CooksStage::StepOnce(const Event& event) {
  std::vector<Effect> effects;
  core_->Step(schedule_.now(), event, effects);
  checks_.decisions.Add(schedule_.now(), effects);
  core_->CheckInvariants();
  if (bounds_ != nullptr) {
    std::vector<ClassBounds::HandedOver> handed_over;
    for (const Effect& effect : effects) {
      const auto* desire = std::get_if<Desire>(&effect);
      if (desire == nullptr) continue;
      for (const Desire::Start& start : desire->start)
        handed_over.push_back(
            {start.package, core_->UrgencyOf(start.package), start.urgency, start.expected});
    }
    bounds_->Look(schedule_.now(), handed_over);
  }
  for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
}

// What the package is made of, but for its inputs.
std::string CooksStage::MadeOf(const CooksProject& project, const std::string& name) const {
  if (name.find("/_gen/") == std::string::npos)
    return project.Has(name) ? MadeOfFile(project, project.Of(name)) : "nothing";
  const PackageId package = core_->Find(name);
  const record::Generated* listed = package.valid() ? core_->GeneratedOf(package) : nullptr;
  return listed == nullptr ? "nothing" : listed->source.ToString();
}

void CooksStage::Do(const LookUp& effect) {
  After(Delay(look_up_ms_max_), [this, effect] {
    LookedUp answer;
    for (const LookUp::Item& item : effect.items) {
      for (PlatformIndex p = 0; p < kCooksPlatforms; ++p) {
        if (item.platforms & MaskOf(p)) answer.items.push_back(Answer(item, p));
      }
    }
    Step(answer);
  });
}

LookedUp::Item CooksStage::Answer(const LookUp::Item& item, PlatformIndex platform) {
  LookedUp::Item answer{item.package, platform, item.generation, LookedUp::Miss{}};
  const std::string& name = core_->NameOf(item.package);
  const std::string made_of = MadeOf(*project_, name);
  for (const ResultId id : store_.Known(name, platform)) {
    const CooksStore::Result& result = store_.At(id);
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
        is_equal &= store_.At(given->result).content == content;
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

void CooksStage::Do(const Spawn& effect) {
  workers_named_ = std::max(workers_named_, effect.worker.value() + 1);
  workers_.Start(effect.worker);
}

void CooksStage::Do(const Desire& effect) {
  for (const ReportId report : effect.persisted) CheckRefused(effect.worker, report);
  workers_.Take(effect);
  for (const Desire::Start& start : effect.start) {
    const std::string& name = core_->NameOf(start.package);
    Say("start " + name + " at " + std::to_string(effect.worker.value()));
    Given given{.worker = effect.worker, .name = name, .platforms = start.platforms};
    if (const record::Generated* listed = core_->GeneratedOf(start.package))
      given.generated_source = listed->source;
    for (const CookedResult& one : start.cooked)
      given.cooked[{core_->NameOf(one.package), one.platform}] = one.result;
    given_[start.attempt] = given;
    After(Delay(30), [this, attempt = start.attempt] {
      if (const auto at = given_.find(attempt); at != given_.end()) at->second.is_recorded = true;
    });
    workers_.Give(effect.worker, {.attempt = start.attempt,
                                  .name = name,
                                  .platforms = start.platforms,
                                  .cooked = given.cooked,
                                  .urgency = start.urgency,
                                  .project = project_,
                                  .made_of = MadeOf(*project_, name)});
  }
}

// As ReportReader and the shell do it: an attempt that nobody knows is over.
void CooksStage::OnReported(WorkerReported reported) {
  std::vector<Given> failed;
  for (WorkerReport& report : reported.reports) {
    const auto given = given_.find(report.attempt);
    if (given == given_.end() || given->second.worker != reported.worker) {
      report.what = WorkerReport::Ended{};
      continue;
    }
    if (auto* saved = std::get_if<WorkerReport::Saved>(&report.what)) {
      const CooksStore::Result& result = store_.At(saved->result->id);
      saved->is_current = MadeOf(*project_, result.name) == result.made_of &&
                          (!given->second.is_earlier || result.inputs.empty());
      if (given->second.platforms & MaskOf(saved->platform))
        came_.emplace(std::pair(reported.worker, report.report), result.view->id);
    } else if (std::holds_alternative<WorkerReport::Failed>(report.what)) {
      failed.push_back(given->second);
    } else if (std::holds_alternative<WorkerReport::Ended>(report.what)) {
      // Written behind all that was committed up to now.
      After(absl::Milliseconds(50), [this, attempt = report.attempt] { given_.erase(attempt); });
    }
  }
  Step(reported);
  for (const Given& given : failed) LookAtInputs(given);
}

// Inputs that an attempt could not read are made again, whatever else it failed for.
void CooksStage::LookAtInputs(const Given& given) {
  PackagesCleared cleared;
  for (const auto& [input, result] : given.cooked) {
    if (!store_.LookAt(result)) cleared.packages.push_back(input.first);
  }
  if (cleared.packages.empty()) return;
  Step(cleared);
  Step(LossSeen{});
}

// A result is acknowledged when some result of its package is durable or on its way to be; unless
// the package failed, and wants none.
void CooksStage::CheckRefused(WorkerId worker, ReportId report) {
  const auto came = came_.find({worker, report});
  if (came == came_.end()) return;
  const CooksStore::Result& result = store_.At(came->second);
  came_.erase(came);
  if (!store_.HadAny(result.name, result.platform) &&
      !committing_.contains({result.name, result.platform}) && !has_failed_.contains(result.name))
    checks_.Break("safety: the only result of " + result.name + " was refused");
}

void CooksStage::Do(const Persist& effect) {
  for (const Persist::Item& item : effect.items)
    committing_.insert({core_->NameOf(item.package), item.platform});
  After(Delay(30), [this, effect] {
    Persisted done;
    for (const Persist::Item& item : effect.items) {
      store_.Persist(item.result);
      done.items.push_back({item.package, item.platform, item.result});
    }
    Step(done);
  });
}

void CooksStage::Do(const Rescan& effect) {
  After(Delay(20), [this, effect] { Step(FilesChanged{CatalogOf(project_), {}, effect.paths}); });
}

void CooksStage::Do(const BuildRoot& effect) {
  Say("root of " + std::to_string(effect.request));
  Settled& settled = settled_[effect.request];
  if (settled.project == nullptr || settled.round != effect.round) {
    CookEnding& ending = endings_[effect.request];
    ending.was_opened_after_publishing |= !ending.roots.empty();
    settled = {effect.round, project_, {}, {}};
  }
  RootBuilt built{.platform = effect.platform};
  built.platform_set = effect.platform_set;
  built.round = effect.round;
  built.request = effect.request;
  std::string text;
  std::map<std::string, PackageId> names;
  settled.named[effect.platform].clear();
  for (const auto& [package, id] : effect.packages) {
    const CooksStore::Result& result = store_.At(id);
    names[result.name] = package;
    text += result.name + " = " + result.content + "\n";
    settled.named[effect.platform].push_back(id);
    if (!told_done_[effect.request].contains({package, effect.platform}))
      checks_.Break("safety: a cook was not told of " + result.name + " in its root");
    if (core_->NameOf(package) != result.name || result.platform != effect.platform)
      checks_.Break("safety: another's result in the root: " + result.name);
    if (store_.IsDropped(id))
      built.lost.push_back({package, result.name, result.view->outputs[0].digest, id});
  }
  counts_.made_again += built.lost.size();
  if (effect.is_difference) return BuildDifference(effect);
  settled.built[effect.platform] = text;
  built.root = Digest::Of(text);
  for (const auto& [a, b] : settled.project->conflicts) {
    if (names.contains(a) && names.contains(b))
      built.conflicts.push_back({names[a], names[b], "x", "the same path"});
  }
  After(Delay(50), [this, built] { Step(built); });
}

// As DirectorShell::BuildDifference.
void CooksStage::BuildDifference(const BuildRoot& effect) {
  const DifferenceRoot made = differences_.make(effect);
  if (made.built.is_too_narrow) {
    settled_.erase(effect.request);
  } else {
    settled_[effect.request].built[effect.platform] = made.text;
  }
  After(Delay(50), [this, built = made.built] {
    if (built.is_too_narrow || differences_.is_on()) Step(built);
  });
}

void CooksStage::Do(const PublishRoot& effect) {
  const Settled& settled = settled_.at(effect.request);
  endings_[effect.request].roots[effect.platform] = settled.built.at(effect.platform);
  After(Delay(50), [this, effect] {
    Step(RootPublished{.platform = effect.platform,
                       .error = "",
                       .platform_set = effect.platform_set,
                       .round = effect.round,
                       .request = effect.request});
  });
}

// All that the roots name is read.
void CooksStage::Do(const StageRoots& effect) {
  After(Delay(50), [this, effect] {
    RootsStaged staged{.loss = "", .round = effect.round, .request = effect.request};
    for (const auto& [platform, named] : settled_.at(effect.request).named) {
      for (const ResultId id : named) {
        if (!store_.IsThere(id)) staged.loss = store_.At(id).name;
      }
    }
    Step(staged);
  });
}

void CooksStage::Do(const LookForLost& effect) {
  After(Delay(20), [this, effect] {
    LostFound found{.look = effect.look, .lost = {}, .error = ""};
    for (const auto& [package, id] : effect.packages) {
      if (store_.LookAt(id)) continue;
      const CooksStore::Result& result = store_.At(id);
      found.lost.push_back({package, result.name, result.view->outputs[0].digest, id});
    }
    counts_.made_again += found.lost.size();
    Step(found);
  });
}

void CooksStage::Do(const Notify& effect) {
  if (const auto* began = std::get_if<CookBegan>(&effect.notice)) {
    if (slots_.contains(began->slot)) checks_.Break("safety: two cooks in one slot");
    slots_[began->slot] = began->request;
    counts_.at_once = std::max<uint64_t>(counts_.at_once, slots_.size());
  }
  if (std::holds_alternative<PackageDone>(effect.notice))
    counts_.shared += std::popcount(effect.cooks) > 1;
  if (const auto* ended = std::get_if<CookEnded>(&effect.notice)) {
    CookEnding& ending = endings_[ended->request];
    Say("ended " + std::to_string(ended->request) + " " + ended->infrastructure_error);
    if (ending.is_over) checks_.Break("safety: a cook ended twice");
    ending.is_over = true;
    if (ended->is_empty) {
      ending.roots.clear();
      settled_[ended->request].project = project_;
    }
    ending.is_whole =
        !ended->is_interrupted && !ended->is_fail_fast && ended->infrastructure_error.empty();
    // (A look-up may find another result that is lost as well, so that each loss counts twice.)
    const bool has_lost_much =
        losses_ > 1 && ended->infrastructure_error.starts_with("the store dropped");
    if (!ended->infrastructure_error.empty() && !has_lost_much)
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
  if (const auto* ended = std::get_if<CookEnded>(&effect.notice)) {
    counts_.resumed += effect.cooks == 0 ? 0 : core_->counters(ended->request).jobs_resumed;
    for (CookMask cooks = effect.cooks; cooks != 0; cooks &= cooks - 1)
      slots_.erase(static_cast<CookSlot>(std::countr_zero(cooks)));
  }
}

void CooksStage::Take(uint64_t request, const Notice& notice) {
  if (differences_.hear) differences_.hear(notice);
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
  } else if (const auto* left = std::get_if<PackageLeft>(&notice)) {
    Say("left " + core_->NameOf(left->package) + " for " + std::to_string(request));
    endings_[request].members.erase(core_->NameOf(left->package));
    std::erase_if(now, [&](const auto& one) { return one.first.first == left->package; });
    std::erase_if(told_done_[request], [&](const auto& one) { return one.first == left->package; });
  } else if (const auto* failed = std::get_if<PackageFailed>(&notice)) {
    const std::string& name = core_->NameOf(failed->package);
    Say("failed " + name + " for " + std::to_string(request) + ": " + failed->error);
    has_failed_.insert(name);
    endings_[request].members.insert(name);
    each(failed->platform, [&](PlatformIndex p) { now[{failed->package, p}] = TextOf(*failed); });
  } else if (const auto* warned = std::get_if<PackageWarned>(&notice)) {
    const std::string text = core_->NameOf(warned->package) + ": " + warned->text;
    if (warned->text.find("Unsolicited") == std::string::npos &&
        !endings_[request].warnings.insert(text).second)
      checks_.Break("safety: a cook warns twice of the same: " + text);
  } else if (const auto* blamed = std::get_if<PackageBlamed>(&notice)) {
    CookRequested::Blamed& known = blamed_[request][core_->NameOf(blamed->package)];
    const std::string what = blamed->what.empty() ? known.what : blamed->what;
    known = {core_->NameOf(blamed->package), blamed->own_faults, what, blamed->error, blamed->log};
    if (blamed->own_faults == 0) blamed_[request].erase(known.package);
  } else if (std::holds_alternative<CookEnded>(notice)) {
    CookEnding& ending = endings_[request];
    for (const auto& [where, text] : now)
      ending.failures.insert(core_->NameOf(where.first) + " " + std::to_string(where.second) +
                             ": " + text);
    const uint64_t counted = core_->counters(request).results_failed;
    if (ending.is_whole && counted != now.size())
      checks_.Break("safety: a cook counts other failures than it was told of: " +
                    std::to_string(counted) + ", " + std::to_string(now.size()));
  }
}

}  // namespace galley::simulation
