#include "tests/simulation/cluster.h"

#include <algorithm>

namespace galley::simulation {
namespace {

using namespace director;  // NOLINT: a simulation of it

constexpr uint32_t kPlatforms = 2;
constexpr absl::Duration kCalmBegins = absl::Seconds(30);
constexpr absl::Duration kMustBeOver = absl::Hours(2);
constexpr size_t kEventsMax = 200'000;

struct SimWorker {
  bool is_alive = true;
  ReportId next_report = 1;
  absl::Time free_at;
  std::set<AttemptId> in_hand;
  std::map<ReportId, WorkerReport> unacknowledged;
};

class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options)
      : options_(options), random_(options.seed * 7919 + options.has_faults), world_(std::make_shared<World>(options.seed)) {
    // A file that will change has changed already where there are no faults: both runs end with the same files.
    if (!options.has_faults) {
      for (auto& [name, package] : world_->packages) {
        if (package.will_change) package.version = 1;
        package.will_change = false;
      }
    }
    CookOptions cook{.platform_count = kPlatforms, .workers = options.workers, .units_per_step = 16, .look_ups_per_batch = 8};
    cook.resources = {{"gpu", 1}};
    core_ = std::make_unique<CookCore>(cook, world_, CostTable{}, options.seed);
    loss_percent_ = options.has_faults ? random_() % 6 : 0;
    message_percent_ = options.has_faults ? random_() % 20 : 0;
    infrastructure_percent_ = options.has_faults ? random_() % 10 : 0;
  }

  Outcome Run() {
    CookRequested request{.request = 1, .platforms = 3, .by_the_book = true};
    for (const std::string& name : world_->selected) request.selected.push_back({name, InstigatorCategory::kCookMap});
    Post(absl::ZeroDuration(), request);
    Tick();
    size_t events = 0;
    while (!queue_.empty() && !outcome_.has_ended && outcome_.broken.empty()) {
      if (++events > kEventsMax || now_ - absl::UnixEpoch() > kMustBeOver) {
        outcome_.broken = "liveness: the cook does not finish" + Stuck();
        break;
      }
      const auto next = queue_.begin();
      now_ = next->first.first;
      const std::function<void()> act = std::move(next->second);
      queue_.erase(next);
      act();
    }
    if (!outcome_.has_ended && outcome_.broken.empty()) outcome_.broken = "liveness: nothing more happens" + Stuck();
    outcome_.counters = core_->counters();
    for (const auto& [platform, text] : roots_) outcome_.roots += text;
    for (const auto& [package, count] : attempts_of_) outcome_.attempts_max = std::max(outcome_.attempts_max, count);
    return outcome_;
  }

 private:
  bool Happens(uint64_t percent) {
    const bool happens = IsStormy() && random_() % 100 < percent;
    outcome_.faults += happens;
    return happens;
  }
  bool IsStormy() const { return options_.has_faults && now_ - absl::UnixEpoch() < kCalmBegins; }
  absl::Duration Some(int64_t ms_max) { return absl::Milliseconds(1 + static_cast<int64_t>(random_() % static_cast<uint64_t>(ms_max))); }
  void At(absl::Duration delay, std::function<void()> act) { queue_.emplace(std::pair(now_ + delay, sequence_++), std::move(act)); }
  void Post(absl::Duration delay, Event event) {
    At(delay, [this, event = std::move(event)] { Step(event); });
  }
  void Tick() {
    At(absl::Milliseconds(100), [this] {
      Step(director::Tick{});
      Resend();
      Tick();
    });
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
    while (core_->has_agenda()) core_->Step(now_, director::Tick{}, effects);
    core_->CheckInvariants();
    for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
  }

  void Hash(std::string_view text) {
    for (const char c : text) outcome_.effects = (outcome_.effects ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  template <typename... T>
  void Hash(std::string_view kind, T... numbers) {
    Hash(kind);
    (Hash(std::string_view(std::to_string(static_cast<uint64_t>(numbers)) + ",")), ...);
  }

  ResultViewPtr MakeResult(const std::string& name, PlatformIndex platform, const std::string& text) {
    const WorldPackage& package = world_->At(name);
    auto view = std::make_shared<ResultView>();
    view->id = ResultId(static_cast<uint32_t>(results_.size()));
    view->is_verdict = package.is_verdict;
    if (package.is_verdict) view->error = "wrong input";
    view->references = package.references;
    view->generated = package.generated;
    results_.push_back(text);
    (void)platform;
    return view;
  }

  void Do(const LookUp& look_up) {
    LookedUp answer;
    for (const LookUp::Item& item : look_up.items) {
      Hash("look", item.package.value(), item.platforms, item.generation, item.cooked.size());
      for (PlatformIndex p = 0; p < kPlatforms; ++p) {
        if (item.platforms & MaskOf(p)) answer.items.push_back({item.package, p, item.generation, Answer(item, p)});
      }
    }
    Post(Some(20), std::move(answer));
  }

  decltype(LookedUp::Item::outcome) Answer(const LookUp::Item& item, PlatformIndex platform) {
    const std::string& name = core_->NameOf(item.package);
    const WorldPackage& package = world_->At(name);
    // By name, so that a cache holds the same whatever was asked for first.
    const bool is_cached = options_.has_cache && !package.is_poison && Digest::Of(name).hash()[0] % 2 == 0;
    if (!is_cached || package.will_change) return LookedUp::Miss{};
    LookedUp::NeedsCooked needs;
    std::string text;
    for (const std::string& input : package.cooked_inputs) {
      std::string value = InputText(item.cooked, input, platform);
      if (value.empty()) needs.packages.push_back(input);
      text += value;
    }
    if (!needs.packages.empty()) return needs;
    return LookedUp::Hit{MakeResult(name, platform, Text(name, platform, text)), false};
  }

  std::string Text(const std::string& name, PlatformIndex platform, const std::string& inputs) const {
    std::string text = name + "#" + std::to_string(world_->At(name).version) + "@" + std::to_string(platform) + "(" + inputs;
    return text.size() > 4096 ? Digest::Of(text).hex() : text + ")";
  }

  std::string InputText(const std::vector<CookedResult>& cooked, const std::string& input, PlatformIndex platform) const {
    for (const CookedResult& result : cooked) {
      if (core_->NameOf(result.package) == input && result.platform == platform && result.result.valid()) return results_[result.result.index()];
    }
    return "";
  }

  void Do(const Desire& desire) {
    Hash("desire", desire.worker.value(), desire.persisted.size());
    SimWorker& worker = workers_[desire.worker];
    for (const ReportId report : desire.persisted) worker.unacknowledged.erase(report);
    for (const AttemptId attempt : desire.cancel) {
      Hash("cancel", attempt);
      if (worker.in_hand.erase(attempt) > 0) Report(desire.worker, attempt, WorkerReport::Ended{});
    }
    for (const Desire::Start& start : desire.start) {
      Hash("start", start.attempt, start.package.value(), start.platforms, start.cooked.size());
      ++attempts_of_[start.package];
      worker.in_hand.insert(start.attempt);
      worker.free_at = std::max(worker.free_at, now_) + Some(Happens(5) ? 3000 : 60);
      At(worker.free_at - now_, [this, id = desire.worker, start] { Cook(id, start); });
    }
  }

  void Cook(WorkerId id, const Desire::Start& start) {
    SimWorker& worker = workers_[id];
    if (!worker.is_alive || !worker.in_hand.contains(start.attempt)) return;
    const std::string& name = core_->NameOf(start.package);
    if (Happens(loss_percent_)) return Lose(id);
    worker.in_hand.erase(start.attempt);
    if (Happens(infrastructure_percent_)) return Report(id, start.attempt, WorkerReport::Failed{WorkerReport::Fault::kInfrastructure, "no space"});
    const bool changes_early = Digest::Of(name).hash()[1] % 2 == 0;
    if (world_->At(name).will_change && changes_early) {
      WorldPackage& package = world_->packages.at(name);
      package.will_change = false;
      ++package.version;
      return Report(id, start.attempt, WorkerReport::Stale{name});
    }
    if (world_->At(name).is_poison) return Report(id, start.attempt, WorkerReport::Failed{WorkerReport::Fault::kCrashed, "signal 11"});
    Report(id, start.attempt, WorkerReport::Loaded{start.platforms, MakeResult(name, 0, ""), absl::Milliseconds(5)});
    for (PlatformIndex p = 0; p < kPlatforms; ++p) {
      if (!(start.platforms & MaskOf(p))) continue;
      std::string inputs;
      for (const std::string& input : world_->At(name).cooked_inputs) {
        const std::string value = InputText(start.cooked, input, p);
        if (value.empty()) return Report(id, start.attempt, WorkerReport::Needs{input, p});
        inputs += value;
      }
      const bool is_shared = world_->At(name).is_shared && p > 0 && (start.platforms & 1);
      Report(id, start.attempt, WorkerReport::Saved{p, MakeResult(name, p, Text(name, p, inputs)), absl::Milliseconds(20), is_shared});
    }
    Report(id, start.attempt, WorkerReport::Ended{});
    if (!world_->At(name).will_change) return;
    // Changed after it was read: what was just reported is right for an older snapshot only.
    WorldPackage& package = world_->packages.at(name);
    package.will_change = false;
    ++package.version;
    Post(Some(50), FilesChanged{world_, {name}, {}});
  }

  void Report(WorkerId id, AttemptId attempt, decltype(WorkerReport::what) what) {
    SimWorker& worker = workers_[id];
    const ReportId number = worker.next_report++;
    worker.unacknowledged.emplace(number, WorkerReport{number, attempt, std::move(what)});
    if (!Happens(message_percent_)) Deliver(id, number);
    if (Happens(message_percent_)) Deliver(id, number);
  }

  void Deliver(WorkerId id, ReportId number) {
    const absl::Duration delay = IsStormy() && message_percent_ > 0 ? Some(300) : absl::Milliseconds(1);
    const auto report = workers_[id].unacknowledged.find(number);
    if (report == workers_[id].unacknowledged.end()) return;
    At(delay, [this, id, what = report->second]() mutable {
      if (auto* saved = std::get_if<WorkerReport::Saved>(&what.what)) {
        const std::string& text = results_[saved->result->id.index()];
        // The package's name ends where its version begins.
        saved->is_current = text.size() > 4000 || text == world_->Expected(text.substr(0, text.find('#')), saved->platform);
      }
      Step(WorkerReported{id, {what}});
    });
  }

  // A worker sends again until it is answered; a lost one does not any more.
  void Resend() {
    if (++ticks_ % 10 != 0) return;
    for (auto& [id, worker] : workers_) {
      if (!worker.is_alive) continue;
      for (const auto& [number, report] : worker.unacknowledged) Deliver(id, number);
    }
  }

  void Lose(WorkerId id) {
    workers_[id].is_alive = false;
    workers_[id].in_hand.clear();
    Post(Some(500), WorkerLost{id, "killed", true});
  }

  void Do(const Spawn& spawn) {
    Hash("spawn", spawn.worker.value());
    if (spawn_failures_ < 3 && Happens(10)) {
      ++spawn_failures_;
      return Post(spawn.delay + Some(50), LauncherReported{spawn.worker, "no more processes"});
    }
    spawn_failures_ = 0;
    workers_[spawn.worker];
    Post(spawn.delay + Some(200), WorkerAttached{spawn.worker, 1 + static_cast<uint32_t>(random_() % 3), {}});
  }

  void Do(const Stop& stop) { Hash("stop", stop.worker.value()); }

  void Do(const Persist& persist) {
    Persisted answer;
    for (const Persist::Item& item : persist.items) {
      Hash("persist", item.package.value(), item.platform, item.result.value(), item.was_cooked);
      if (item.was_cooked && !committed_.insert({item.package.value(), item.platform, item.result.value()}).second) {
        outcome_.broken = "safety: committed twice: " + core_->NameOf(item.package);
      }
      answer.items.push_back({item.package, item.platform, item.result});
    }
    // One commit thread: in order.
    commit_free_at_ = std::max(commit_free_at_, now_) + Some(30);
    Post(commit_free_at_ - now_, std::move(answer));
  }

  void Do(const Rescan& rescan) {
    for (const std::string& path : rescan.paths) {
      Hash("rescan " + path);
      Post(Some(50), FilesChanged{world_, {path}, {path}});
    }
  }

  void Do(const BuildRoot& root) {
    std::string text = "platform " + std::to_string(root.platform) + "\n";
    for (const auto& [package, result] : root.packages) {
      const std::string& name = core_->NameOf(package);
      text += name + " = " + results_[result.index()] + "\n";
      if (results_[result.index()] != world_->Expected(name, root.platform)) outcome_.broken = "safety: stale result in the root: " + name;
    }
    Hash(text);
    roots_[root.platform] = text;
    Post(Some(20), RootBuilt{root.platform, Digest::Of(text), {}});
  }
  void Do(const PublishRoot& root) {
    Hash("publish", root.platform);
    Post(Some(20), RootPublished{root.platform, ""});
  }

  void Do(const Notify& notify) {
    Hash("notice", notify.notice.index());
    if (const auto* failed = std::get_if<PackageFailed>(&notify.notice); failed != nullptr && failed->error.empty()) {
      outcome_.broken = "a failure without a reason: " + core_->NameOf(failed->package);
    }
    const auto* ended = std::get_if<CookEnded>(&notify.notice);
    if (ended == nullptr) return;
    outcome_.has_ended = true;
    outcome_.infrastructure_error = ended->infrastructure_error;
    for (const std::string& name : world_->selected) {
      const std::string state = core_->StateText(core_->Find(name));
      if (state != "Idle, cooked" && state != "Idle, failed") outcome_.broken = "selected, but at the end: " + name + " " + state;
    }
  }

  ClusterOptions options_;
  std::mt19937_64 random_;
  std::shared_ptr<World> world_;
  std::unique_ptr<CookCore> core_;
  absl::Time now_ = absl::UnixEpoch();
  uint64_t sequence_ = 0;
  std::map<std::pair<absl::Time, uint64_t>, std::function<void()>> queue_;
  std::map<WorkerId, SimWorker> workers_;
  std::vector<std::string> results_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> committed_;
  std::map<PlatformIndex, std::string> roots_;
  std::map<PackageId, uint64_t> attempts_of_;
  absl::Time commit_free_at_ = absl::UnixEpoch();
  uint64_t loss_percent_ = 0, message_percent_ = 0, infrastructure_percent_ = 0;
  uint32_t spawn_failures_ = 0;
  uint64_t ticks_ = 0;
  Outcome outcome_;
};

}  // namespace

Outcome RunCluster(const ClusterOptions& options) { return Cluster(options).Run(); }

}  // namespace galley::simulation
