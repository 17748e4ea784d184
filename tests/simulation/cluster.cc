#include "tests/simulation/cluster.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "director/core/workers.h"

namespace galley::simulation {
namespace {

using namespace director;  // NOLINT: a simulation of it

constexpr uint32_t kPlatforms = 2;
constexpr absl::Duration kCalmBegins = absl::Seconds(30);
constexpr absl::Duration kMustBeOver = absl::Hours(2);
constexpr size_t kEventsMax = 200'000;

// A worker's process; it may outlive a director, and attach to the next under another id.
struct SimWorker {
  WorkerId id;
  bool is_alive = true;
  bool is_hung = false;
  ReportId next_report = 1;
  absl::Time free_at;
  std::set<AttemptId> in_hand;
  std::map<ReportId, WorkerReport> unacknowledged;
};

// What a worker was given, with everything looked up that only the director that gave it can tell.
struct SimJob {
  AttemptId attempt = 0;
  std::string name;
  PlatformMask platforms = 0;
  std::map<std::pair<std::string, PlatformIndex>, std::string> inputs;
};

class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options)
      : options_(options),
        random_(options.seed * 7919 + options.has_faults),
        world_(std::make_shared<World>(options.seed)) {
    if (options.has_faults) {
      DrawFaults();
    } else {
      // A file that will change has changed already where there are no faults: both runs end with
      // the same files.
      for (auto& [name, package] : world_->packages) {
        if (package.will_change) package.version = 1;
        package.will_change = false;
      }
    }
    StartDirector();
  }

  Outcome Run() {
    RequestCook(absl::ZeroDuration());
    Tick();
    if (cancel_at_.has_value()) At(*cancel_at_, [this] { Cancel(); });
    if (restart_at_.has_value()) At(*restart_at_, [this] { Restart(); });
    size_t events = 0;
    while (!queue_.empty() && !outcome_.has_ended && outcome_.broken.empty()) {
      if (++events > kEventsMax || now_ - absl::UnixEpoch() > kMustBeOver) {
        Break("liveness: the cook does not finish" + Stuck());
        break;
      }
      const auto next = queue_.begin();
      now_ = next->first.first;
      const std::function<void()> act = std::move(next->second);
      queue_.erase(next);
      act();
    }
    if (!outcome_.has_ended) Break("liveness: nothing more happens" + Stuck());
    outcome_.counters = core_->counters();
    for (const auto& [platform, text] : roots_) outcome_.roots += text;
    for (const auto& [name, count] : attempts_of_)
      outcome_.attempts_max = std::max(outcome_.attempts_max, count);
    return outcome_;
  }

 private:
  void DrawFaults() {
    const auto draw = [&](uint64_t percent, uint64_t most) {
      return random_() % 100 < percent ? random_() % most : 0;
    };
    loss_percent_ = draw(60, 6);
    message_percent_ = draw(60, 20);
    infrastructure_percent_ = draw(50, 10);
    hang_percent_ = draw(30, 5);
    commit_ms_max_ = random_() % 100 < 30 ? 3000 : 30;
    commit_failure_percent_ = draw(25, 30);
    is_forced_ = random_() % 100 < 20;
    if (random_() % 100 < 35) cancel_at_ = Some(2500);
    if (random_() % 100 < 30) restart_at_ = Some(2500);
    outcome_.forced += is_forced_;
  }

  void StartDirector() {
    ++term_;
    CookOptions cook{.platform_count = kPlatforms,
                     .workers = options_.workers,
                     .term = term_,
                     .units_per_step = 16,
                     .look_ups_per_batch = 8};
    cook.resources = {{"gpu", 1}};
    cook.silence_max = absl::Seconds(15);
    cook.straggler_min = absl::Milliseconds(50);
    core_ = std::make_unique<CookCore>(cook, world_, options_.seed);
  }

  void RequestCook(absl::Duration delay) {
    CookRequested request{
        .request = ++requests_, .platforms = 3, .by_the_book = true, .force = is_forced_};
    for (const std::string& name : world_->selected)
      request.selected.push_back({name, InstigatorCategory::kCookMap});
    Post(delay, std::function<void()>([this, request] {
           is_requested_ = true;
           Step(request);
         }));
  }

  void Cancel() {
    if (!is_requested_) return At(absl::Milliseconds(100), [this] { Cancel(); });
    ++outcome_.cancels;
    is_cancelled_ = true;
    Step(CancelRequested{});
  }

  // kill -9 of the director: what it knew is gone, what the store holds stays; some workers live on
  // and attach to the next.
  void Restart() {
    ++outcome_.restarts;
    Hash("restart");
    StartDirector();
    published_.clear();
    committed_.clear();
    accepted_.clear();
    roots_.clear();
    body_of_.clear();
    is_cancelled_ = has_commit_failed_ = is_requested_ = false;
    commit_free_at_ = now_;
    uint32_t foreign = 0;
    for (size_t body = 0; body < workers_.size(); ++body) {
      SimWorker& worker = workers_[body];
      worker.is_alive = worker.is_alive && !worker.is_hung && random_() % 2 == 0;
      if (!worker.is_alive) continue;
      worker.id = WorkerId(kForeignWorkers + foreign++);
      Post(Some(400), std::function<void()>([this, body] { Attach(body, 2); }));
    }
    RequestCook(Some(200));
  }

  void Attach(size_t body, uint32_t slots) {
    SimWorker& worker = workers_[body];
    if (!worker.is_alive) return;
    body_of_[worker.id] = body;
    Step(WorkerAttached{worker.id, slots, {worker.in_hand.begin(), worker.in_hand.end()}});
  }

  bool Happens(uint64_t percent) {
    const bool happens = IsStormy() && random_() % 100 < percent;
    outcome_.faults += happens;
    return happens;
  }
  bool IsStormy() const { return options_.has_faults && now_ - absl::UnixEpoch() < kCalmBegins; }
  absl::Duration Some(int64_t ms_max) {
    return absl::Milliseconds(1 + static_cast<int64_t>(random_() % static_cast<uint64_t>(ms_max)));
  }
  void At(absl::Duration delay, std::function<void()> act) {
    queue_.emplace(std::pair(now_ + delay, sequence_++), std::move(act));
  }
  // What belongs to the director's process dies with it.
  void Post(absl::Duration delay, std::function<void()> act) {
    At(delay, [this, term = term_, act = std::move(act)] {
      if (term == term_) act();
    });
  }
  void Post(absl::Duration delay, Event event) {
    Post(delay, std::function<void()>([this, event = std::move(event)] { Step(event); }));
  }
  // One commit thread: in order.
  void Commit(int64_t ms_max, Event event) {
    commit_free_at_ = std::max(commit_free_at_, now_) + Some(IsStormy() ? ms_max : 30);
    Post(commit_free_at_ - now_, std::move(event));
  }
  void Tick() {
    At(absl::Milliseconds(100), [this] {
      Step(director::Tick{});
      if (++ticks_ % 10 == 0) SpeakUp();
      Tick();
    });
  }
  void Break(const std::string& what) {
    if (outcome_.broken.empty()) outcome_.broken = what;
  }

  std::string Stuck() const {
    std::string text;
    for (uint32_t i = 0; i < core_->package_count(); ++i) {
      const std::string state = core_->StateText(PackageId(i));
      if (!state.starts_with("Idle,")) text += "\n  " + core_->NameOf(PackageId(i)) + ": " + state;
    }
    return text;
  }

  void Step(const Event& event) {
    if (outcome_.has_ended) return;
    std::vector<Effect> effects;
    core_->Step(now_, event, effects);
    for (size_t turns = 0; core_->has_agenda(); ++turns) {
      if (turns > kEventsMax) return Break("liveness: the agenda never ends" + Stuck());
      core_->Step(now_, director::Tick{}, effects);
    }
    core_->CheckInvariants();
    for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
  }

  void Hash(std::string_view text) {
    for (const char c : text)
      outcome_.effects = (outcome_.effects ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  template <typename... T>
  void Hash(std::string_view kind, T... numbers) {
    Hash(kind);
    (Hash(std::string_view(std::to_string(static_cast<uint64_t>(numbers)) + ",")), ...);
  }

  ResultViewPtr MakeResult(const std::string& name, const std::string& text) {
    const WorldPackage& package = world_->At(name);
    auto view = std::make_shared<ResultView>();
    view->id = ResultId(static_cast<uint32_t>(results_.size()));
    view->is_verdict = package.is_verdict;
    if (package.is_verdict) view->error = "wrong input";
    view->references = package.references;
    view->generated = package.generated;
    results_.push_back(text);
    return view;
  }

  void Do(const LookUp& look_up) {
    LookedUp answer;
    for (const LookUp::Item& item : look_up.items) {
      Hash("look", item.package.value(), item.platforms, item.generation, item.cooked.size());
      if (is_forced_) Break("safety: looked up though forced: " + core_->NameOf(item.package));
      for (PlatformIndex p = 0; p < kPlatforms; ++p) {
        if (item.platforms & MaskOf(p))
          answer.items.push_back({item.package, p, item.generation, Answer(item, p)});
      }
    }
    Post(Some(20), std::move(answer));
  }

  decltype(LookedUp::Item::outcome) Answer(const LookUp::Item& item, PlatformIndex platform) {
    const std::string& name = core_->NameOf(item.package);
    const WorldPackage& package = world_->At(name);
    // By name, so that a cache holds the same whatever was asked for first.
    const bool is_cached = options_.has_cache && !package.is_poison && !package.will_change &&
                           Digest::Of(name).hash()[0] % 2 == 0;
    if (!is_cached && !is_known_.contains({name, platform})) return LookedUp::Miss{};
    LookedUp::NeedsCooked needs;
    std::string inputs;
    for (const std::string& input : package.cooked_inputs) {
      std::string value;
      for (const CookedResult& result : item.cooked) {
        if (core_->NameOf(result.package) == input && result.platform == platform)
          value = results_[result.result.index()];
      }
      if (value.empty()) needs.packages.push_back(input);
      inputs += value;
    }
    if (!needs.packages.empty()) return needs;
    const std::string text = Text(name, platform, inputs);
    if (!is_cached && !stored_.contains(text)) return LookedUp::Miss{};
    const ResultViewPtr result = MakeResult(name, text);
    durable_.insert(result->id);
    return LookedUp::Hit{result, false};
  }

  std::string Text(const std::string& name, PlatformIndex platform,
                   const std::string& inputs) const {
    std::string text = name + "#" + std::to_string(world_->At(name).version) + "@" +
                       std::to_string(platform) + "(" + inputs;
    return text.size() > 4096 ? Digest::Of(text).hex() : text + ")";
  }

  void Do(const Desire& desire) {
    Hash("desire", desire.worker.value(), desire.persisted.size());
    const auto found = body_of_.find(desire.worker);
    if (found == body_of_.end()) return Break("safety: told a worker that never attached");
    const size_t body = found->second;
    SimWorker& worker = workers_[body];
    for (const ReportId report : desire.persisted) Forget(worker, report);
    for (const AttemptId attempt : desire.cancel) {
      Hash("cancel", attempt);
      if (!worker.is_hung && worker.in_hand.erase(attempt) > 0)
        Report(body, attempt, WorkerReport::Ended{});
    }
    for (const Desire::Start& start : desire.start) {
      Hash("start", start.attempt, start.package.value(), start.platforms, start.cooked.size());
      SimJob job{.attempt = start.attempt,
                 .name = core_->NameOf(start.package),
                 .platforms = start.platforms};
      for (const CookedResult& result : start.cooked) {
        job.inputs[{core_->NameOf(result.package), result.platform}] =
            results_[result.result.index()];
      }
      if (is_cancelled_ && !has_ended_once_)
        Break("safety: handed over after the cancel: " + job.name);
      ++attempts_of_[job.name];
      worker.in_hand.insert(start.attempt);
      worker.free_at = std::max(worker.free_at, now_) + Some(Happens(5) ? 3000 : 60);
      At(worker.free_at - now_, [this, body, job] { Cook(body, job); });
    }
    for (const AttemptId attempt : desire.retract) {
      const bool has_begun = Happens(50);
      Hash("retract", attempt, has_begun);
      if (!worker.is_hung && !has_begun && worker.in_hand.erase(attempt) > 0)
        Report(body, attempt, WorkerReport::Ended{});
    }
  }

  void Forget(SimWorker& worker, ReportId report) {
    const auto at = worker.unacknowledged.find(report);
    if (at == worker.unacknowledged.end()) return;
    const auto* saved = std::get_if<WorkerReport::Saved>(&at->second.what);
    if (saved != nullptr && accepted_.contains(saved->result->id) &&
        !durable_.contains(saved->result->id)) {
      Break("safety: acknowledged before it is durable: " + results_[saved->result->id.index()]);
    }
    worker.unacknowledged.erase(at);
  }

  void Cook(size_t body, const SimJob& job) {
    SimWorker& worker = workers_[body];
    if (!worker.is_alive || worker.is_hung || !worker.in_hand.contains(job.attempt)) return;
    if (Happens(loss_percent_)) return Lose(body);
    if (Happens(hang_percent_)) {
      ++outcome_.hangs;
      worker.is_hung = true;
      return;
    }
    worker.in_hand.erase(job.attempt);
    if (Happens(infrastructure_percent_))
      return Report(body, job.attempt,
                    WorkerReport::Failed{WorkerReport::Fault::kInfrastructure, "no space"});
    const bool changes_early = Digest::Of(job.name).hash()[1] % 2 == 0;
    if (world_->At(job.name).will_change && changes_early) {
      Change(job.name);
      return Report(body, job.attempt, WorkerReport::Stale{job.name});
    }
    if (world_->At(job.name).is_poison)
      return Report(body, job.attempt,
                    WorkerReport::Failed{WorkerReport::Fault::kCrashed, "signal 11"});
    Report(body, job.attempt,
           WorkerReport::Loaded{job.platforms, MakeResult(job.name, ""), absl::Milliseconds(5)});
    for (PlatformIndex p = 0; p < kPlatforms; ++p) {
      if (!(job.platforms & MaskOf(p))) continue;
      std::string inputs;
      for (const std::string& input : world_->At(job.name).cooked_inputs) {
        const auto value = job.inputs.find({input, p});
        if (value == job.inputs.end())
          return Report(body, job.attempt, WorkerReport::Needs{input, p});
        inputs += value->second;
      }
      const bool is_shared = world_->At(job.name).is_shared && p > 0 && (job.platforms & 1);
      const std::string text = Text(job.name, p, inputs);
      is_made_.emplace(text, std::pair(job.name, p));
      Report(body, job.attempt,
             WorkerReport::Saved{p, MakeResult(job.name, text), absl::Milliseconds(20), is_shared});
    }
    Report(body, job.attempt, WorkerReport::Ended{});
    if (!world_->At(job.name).will_change) return;
    // Changed after it was read: what was just reported is right for an older snapshot only.
    Change(job.name);
    Post(Some(50), FilesChanged{world_, {job.name}, {}});
  }

  void Change(const std::string& name) {
    WorldPackage& package = world_->packages.at(name);
    package.will_change = false;
    ++package.version;
  }

  void Report(size_t body, AttemptId attempt, decltype(WorkerReport::what) what) {
    SimWorker& worker = workers_[body];
    const ReportId number = worker.next_report++;
    worker.unacknowledged.emplace(number, WorkerReport{number, attempt, std::move(what)});
    if (!Happens(message_percent_)) Deliver(body, number);
    if (Happens(message_percent_)) Deliver(body, number);
  }

  void Deliver(size_t body, ReportId number) {
    const absl::Duration delay =
        IsStormy() && message_percent_ > 0 ? Some(300) : absl::Milliseconds(1);
    const auto report = workers_[body].unacknowledged.find(number);
    if (report == workers_[body].unacknowledged.end()) return;
    // A message that is on its way to a director goes down with it.
    Post(delay, std::function<void()>([this, body, what = report->second]() mutable {
           if (auto* saved = std::get_if<WorkerReport::Saved>(&what.what)) {
             const std::string& text = results_[saved->result->id.index()];
             // The package's name ends where its version begins.
             saved->is_current =
                 text.size() > 4000 ||
                 text == world_->Expected(text.substr(0, text.find('#')), saved->platform);
           }
           Step(WorkerReported{workers_[body].id, {what}});
         }));
  }

  // A worker sends again until it is answered, and signs of life; a lost one does not any more.
  void SpeakUp() {
    for (size_t body = 0; body < workers_.size(); ++body) {
      if (!workers_[body].is_alive || workers_[body].is_hung) continue;
      for (const auto& [number, report] : workers_[body].unacknowledged) Deliver(body, number);
      Post(Some(300), WorkerAlive{workers_[body].id});
    }
  }

  void Lose(size_t body) {
    workers_[body].is_alive = false;
    workers_[body].in_hand.clear();
    Post(Some(500), WorkerLost{workers_[body].id, "killed", true});
  }

  void Do(const Spawn& spawn) {
    Hash("spawn", spawn.worker.value());
    if (spawn_failures_ < 3 && Happens(10)) {
      ++spawn_failures_;
      return Post(spawn.delay + Some(50), LauncherReported{spawn.worker, "no more processes"});
    }
    spawn_failures_ = 0;
    const size_t body = workers_.size();
    workers_.push_back({.id = spawn.worker});
    const uint32_t slots = 1 + static_cast<uint32_t>(random_() % 3);
    Post(spawn.delay + Some(200),
         std::function<void()>([this, body, slots] { Attach(body, slots); }));
  }

  void Do(const Stop& stop) {
    Hash("stop", stop.worker.value());
    ++outcome_.stops;
    const auto body = body_of_.find(stop.worker);
    if (body == body_of_.end()) return;
    if (!workers_[body->second].is_hung && workers_[body->second].is_alive)
      Break("safety: stopped a worker that is well");
    workers_[body->second].is_alive = false;
    if (random_() % 2 == 0) Post(Some(500), WorkerLost{stop.worker, "killed", true});
  }

  void Do(const Persist& persist) {
    Persisted answer;
    const bool fails = !has_commit_failed_ && Happens(commit_failure_percent_);
    for (const Persist::Item& item : persist.items) {
      Hash("persist", item.package.value(), item.platform, item.result.value(), item.was_cooked);
      if (item.was_cooked && !committed_.insert(item.result).second)
        Break("safety: committed twice: " + core_->NameOf(item.package));
      if (item.was_cooked) accepted_.insert(item.result);
      answer.items.push_back({item.package, item.platform, item.result, nullptr});
    }
    if (fails) {
      has_commit_failed_ = true;
      ++outcome_.failed_commits;
      answer.error = "no space left on device";
    }
    commit_free_at_ = std::max(commit_free_at_, now_) + Some(IsStormy() ? commit_ms_max_ : 30);
    Post(commit_free_at_ - now_, std::function<void()>([this, answer = std::move(answer)] {
           for (const Persisted::Item& item : answer.items) Store(item, answer.error.empty());
           Step(answer);
         }));
  }

  void Store(const Persisted::Item& item, bool is_durable) {
    committed_.erase(item.result);
    if (!is_durable) {
      accepted_.erase(item.result);
      return;
    }
    committed_.insert(item.result);
    durable_.insert(item.result);
    const std::string& text = results_[item.result.index()];
    stored_.insert(text);
    if (const auto made = is_made_.find(text); made != is_made_.end())
      is_known_.insert(made->second);
  }

  void Do(const Rescan& rescan) {
    for (const std::string& path : rescan.paths) Hash("rescan " + path);
    Commit(50, FilesChanged{world_, rescan.paths, rescan.paths});
  }

  void Do(const BuildRoot& root) {
    std::string text = "platform " + std::to_string(root.platform) + "\n";
    std::map<std::string, PackageId> names;
    for (const auto& [package, result] : root.packages) {
      const std::string& name = core_->NameOf(package);
      names[name] = package;
      text += name + " = " + results_[result.index()] + "\n";
      if (results_[result.index()] != world_->Expected(name, root.platform))
        Break("safety: stale result in the root: " + name);
      if (!durable_.contains(result)) Break("safety: a result in the root is not durable: " + name);
    }
    Hash(text);
    roots_[root.platform] = text;
    in_root_[root.platform].clear();
    for (const auto& [package, result] : root.packages) in_root_[root.platform].insert(package);
    RootBuilt built{root.platform, Digest::Of(text), {}};
    for (const auto& [a, b] : world_->conflicts) {
      if (names.contains(a) && names.contains(b))
        built.conflicts.push_back({names[a], names[b], "x", "the same path"});
    }
    has_conflicts_[root.platform] = !built.conflicts.empty();
    outcome_.conflicts += static_cast<uint32_t>(built.conflicts.size());
    Commit(20, std::move(built));
  }

  void Do(const PublishRoot& root) {
    Hash("publish", root.platform);
    if (!published_.insert(root.platform).second) Break("safety: a root was published twice");
    if (has_conflicts_[root.platform]) Break("safety: a root with conflicts was published");
    if (root.root != Digest::Of(roots_[root.platform]))
      Break("safety: another root was published than was built last");
    Commit(20, RootPublished{root.platform, ""});
  }

  void Do(const Notify& notify) {
    Hash("notice", notify.notice.index());
    if (const auto* failed = std::get_if<PackageFailed>(&notify.notice);
        failed != nullptr && failed->error.empty()) {
      Break("safety: a failure without a reason: " + core_->NameOf(failed->package));
    }
    if (const auto* done = std::get_if<PackageDone>(&notify.notice);
        done != nullptr && !durable_.contains(done->result)) {
      Break("safety: done before it is durable: " + core_->NameOf(done->package));
    }
    if (const auto* ended = std::get_if<CookEnded>(&notify.notice)) OnEnded(*ended);
  }

  void OnEnded(const CookEnded& ended) {
    is_requested_ = false;
    if (ended.is_interrupted || !ended.infrastructure_error.empty()) {
      if (!is_cancelled_ && !has_commit_failed_)
        Break("safety: ended for no reason: " + ended.infrastructure_error);
      if (!published_.empty())
        Break("safety: a root was published though the cook did not end well");
      if (is_cancelled_) has_ended_once_ = true;
      roots_.clear();
      return RequestCook(Some(500));
    }
    if (published_.size() != kPlatforms) Break("safety: ended well without publishing all roots");
    outcome_.has_ended = true;
    for (const std::string& name : world_->selected) {
      const std::string state = core_->StateText(core_->Find(name));
      if (state != "Idle, cooked" && state != "Idle, failed")
        Break("liveness: selected, but at the end: " + name + " " + state);
      outcome_.selected += name + ": " + state + "\n";
    }
    for (uint32_t i = 0; i < core_->package_count(); ++i) NoteInstigators(PackageId(i));
    outcome_.instigators = std::string();
    for (const std::string& line : instigators_) outcome_.instigators += line + "\n";
  }

  void NoteInstigators(PackageId package) {
    for (const InstigatorView& why : core_->InstigatorsOf(package)) {
      // Who fails has told of its references or not, as it came.
      const bool is_in_root = !why.referencer.valid() || in_root_[0].contains(why.referencer) ||
                              in_root_[1].contains(why.referencer);
      if (!is_in_root || why.category == InstigatorCategory::kBuildDependency) continue;
      instigators_.insert(core_->NameOf(package) + " " +
                          std::to_string(static_cast<int>(why.category)) + " " +
                          (why.referencer.valid() ? core_->NameOf(why.referencer) : ""));
    }
  }

  ClusterOptions options_;
  std::mt19937_64 random_;
  std::shared_ptr<World> world_;
  std::unique_ptr<CookCore> core_;
  uint32_t term_ = 0;
  uint64_t requests_ = 0;
  absl::Time now_ = absl::UnixEpoch();
  uint64_t sequence_ = 0;
  std::map<std::pair<absl::Time, uint64_t>, std::function<void()>> queue_;
  std::vector<SimWorker> workers_;
  std::map<WorkerId, size_t> body_of_;  // attached to this director

  std::vector<std::string> results_;                                      // texts, by id
  std::map<std::string, std::pair<std::string, PlatformIndex>> is_made_;  // text -> whose it is
  std::set<std::pair<std::string, PlatformIndex>> is_known_;  // has an observation set in the store
  std::set<std::string> stored_;
  std::set<ResultId> durable_;   // may be relied on
  std::set<ResultId> accepted_;  // handed to the commit thread
  std::set<ResultId> committed_;
  std::map<PlatformIndex, std::string> roots_;
  std::set<PlatformIndex> published_;
  std::array<std::set<PackageId>, kPlatforms> in_root_;
  std::array<bool, kPlatforms> has_conflicts_{};
  std::map<std::string, uint64_t> attempts_of_;
  std::set<std::string> instigators_;
  absl::Time commit_free_at_ = absl::UnixEpoch();

  uint64_t loss_percent_ = 0, message_percent_ = 0, infrastructure_percent_ = 0, hang_percent_ = 0,
           commit_failure_percent_ = 0;
  int64_t commit_ms_max_ = 30;
  bool is_forced_ = false, is_requested_ = false, is_cancelled_ = false, has_ended_once_ = false,
       has_commit_failed_ = false;
  std::optional<absl::Duration> cancel_at_, restart_at_;
  uint32_t spawn_failures_ = 0;
  uint64_t ticks_ = 0;
  Outcome outcome_;
};

}  // namespace

Outcome RunCluster(const ClusterOptions& options) { return Cluster(options).Run(); }

}  // namespace galley::simulation
