#include "tests/simulation/cluster.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "common/record/result.h"
#include "director/core/workers.h"
#include "tests/simulation/network.h"
#include "tests/simulation/sim_director.h"
#include "tests/simulation/sim_worker.h"

namespace galley::simulation {
namespace {

using namespace director;  // NOLINT: a simulation of it

constexpr absl::Duration kCalmBegins = absl::Seconds(30);
constexpr absl::Duration kMustBeOver = absl::Hours(2);
constexpr size_t kEventsMax = 1'000'000;
constexpr absl::Duration kSettled = absl::Seconds(5);

class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options)
      : options_(options),
        random_(options.seed * 7919 + options.has_faults),
        faults_(options.has_faults, options.seed % 2 == 1, random_),
        disk_(random_),
        network_(schedule_, random_, faults_),
        world_(std::make_shared<World>(options.seed)),
        checks_(options.is_told) {
    DrawLimits();
    own_faults_ = std::make_unique<OwnFaults>(cook_.own_fault_attempts_max, checks_);
    // Where no file is edited in the cook, all have been before: every run of a seed ends with the
    // same files.
    for (auto& [name, package] : world_->packages) {
      if (!package.will_change || faults_.IsOn(Fault::kFileEdited)) continue;
      package.version = 1;
      package.will_change = false;
    }
    if (!faults_.IsOn(Fault::kFileRenamed)) world_->Move();
    disk_.sync_fails = [this](bool is_last) {
      return faults_.Happens(Fault::kSyncFailed, is_last ? 60 : 4);
    };
    disk_.CrashAt(options.crash_at_write);
  }

  Outcome Run() {
    StartDirector();
    EverySecond();
    if (options_.has_faults) schedule_.After(kCalmBegins, [this] { faults_.Calm(); });
    if (faults_.IsOn(Fault::kCookCancelled))
      schedule_.After(random_.Some(2500), [this] { Cancel(); });
    if (faults_.IsOn(Fault::kDirectorCrashed)) {
      for (uint64_t i = 1 + random_.Below(2); i > 0; --i) {
        schedule_.After(random_.Some(4000), [this] {
          if (director_ == nullptr || is_over_) return;
          faults_.Count(Fault::kDirectorCrashed);
          CrashDirector();
        });
      }
    }
    if (faults_.IsOn(Fault::kPlatformsChanged)) {
      // The last are those that the cook is to end with, perhaps in another order.
      std::vector<std::vector<std::string>> sets = {
          {"p1", "p0"}, {"p2", "p0"}, {"p1"}, {"p1", "p2", "p0"}, {"p0", "p1", "p2"}};
      absl::Duration at = random_.Some(800);
      for (uint64_t i = random_.Below(3); i > 0; --i, at += random_.Some(800)) {
        schedule_.After(at, [this, set = sets[random_.Below(sets.size())]] { Change(set); });
      }
      schedule_.After(at,
                      [this, set = random_.Percent(50) ? kPlatforms : sets[0]] { Change(set); });
    }
    if (faults_.IsOn(Fault::kPackagesCleared)) {
      for (uint64_t i = 1 + random_.Below(3); i > 0; --i) {
        schedule_.After(random_.Some(2'000), [this] {
          if (director_ == nullptr || is_over_ || !is_requested_) return;
          std::vector<std::string> names;
          for (const auto& [name, package] : world_->packages) {
            if (random_.Percent(20)) names.push_back(name);
          }
          director_->Clear(names);
        });
      }
    }
    if (!world_->moves.empty()) schedule_.After(random_.Some(1'000), [this] { Rename(); });
    if (faults_.IsOn(Fault::kDirectorStopped)) {
      schedule_.After(random_.Some(3000), [this] {
        if (director_ != nullptr && !is_over_ && overtaken_ == nullptr) StopDirector();
      });
    }
    if (faults_.IsOn(Fault::kCrashedWriting) && options_.crash_at_write == 0)
      disk_.CrashAt(1 + random_.Below(80));
    size_t events = 0;
    while (checks_.broken().empty() && !is_done_) {
      if (++events > kEventsMax || schedule_.elapsed() > kMustBeOver) {
        checks_.Break("liveness: the cook does not end" + Stuck());
        break;
      }
      if (!RunNext()) {
        checks_.Break("liveness: nothing more happens" + Stuck());
        break;
      }
    }
    outcome_.broken = checks_.broken();
    outcome_.trace = checks_.trace();
    outcome_.faults = faults_.counts();
    outcome_.writes = disk_.writes();
    for (const auto& [name, count] : cooks_)
      outcome_.attempts_max = std::max(outcome_.attempts_max, count);
    return outcome_;
  }

 private:
  struct Stream {
    size_t body = 0;
    uint32_t term = 0;
    Network::LinePtr to_director = std::make_shared<Network::Line>();
    Network::LinePtr to_worker = std::make_shared<Network::Line>();
  };
  struct Body {  // a worker's process
    std::unique_ptr<SimWorker> worker;
    std::string name;  // under which the present director knows it
    uint32_t term = 0;
    uint64_t stream = 0;  // the present one; 0: none
    absl::Time attached_at;
    bool is_survivor = false;  // has not attached to the present director yet
  };

  bool RunNext() {
    try {
      checks_.set_now(schedule_.elapsed());
      return schedule_.RunNext();
    } catch (const Disk::Crash&) {
      faults_.Count(Fault::kCrashedWriting);
      CrashDirector();
      return true;
    }
  }

  void DrawLimits() {
    const bool are_shrunk = options_.has_faults && random_.Percent(50);
    cook_ = {.platform_count = static_cast<uint32_t>(kPlatforms.size()),
             .workers = options_.has_faults ? 1 + static_cast<uint32_t>(random_.Below(4)) : 1,
             .units_per_step = are_shrunk ? 1 + static_cast<uint32_t>(random_.Below(8)) : 16,
             .look_ups_per_batch = are_shrunk ? 1 + static_cast<uint32_t>(random_.Below(3)) : 8};
    cook_.resources = {{"gpu", 1}};
    cook_.silence_max = absl::Seconds(15);
    cook_.straggler_min = absl::Milliseconds(50);
    cook_.split_min = absl::Milliseconds(1);
    if (are_shrunk && random_.Percent(50)) {
      cook_.window = absl::Milliseconds(10);
      cook_.window_jobs_max = 1 + static_cast<uint32_t>(random_.Below(4));
    }
    is_forced_ = options_.has_faults && random_.Percent(20);
    outcome_.forced = is_forced_;
  }

  // ---------------------------------------------------------------- the director

  void StartDirector() {
    if (is_over_) return;
    const bool is_first = outcome_.terms++ == 0;
    if (!is_first && faults_.Happens(Fault::kCrashedStarting, 30))
      disk_.CrashAt(1 + random_.Below(12));
    if (outcome_.terms == 2) disk_.CrashAt(options_.crash_again_at_write);
    LoseBytes();
    // What one that was overtaken wants is nobody's business any more.
    const auto if_present = [this, number = ++directors_](auto act) {
      return [this, number, act](const auto&... what) {
        if (number == directors_) act(what...);
      };
    };
    try {
      director_ = std::make_unique<SimDirector>(
          SimDirector::Deps{schedule_, random_, faults_, disk_, *world_, tables_, checks_,
                            *own_faults_},
          cook_,
          SimDirector::Callbacks{
              .spawn = if_present([this](const Spawn& spawn) { Start(spawn); }),
              .stop = if_present([this](WorkerId worker) { StopWorker(worker); }),
              .send = if_present(
                  [this](uint64_t stream, const v1::ToWorker& message) { Send(stream, message); }),
              .hang_up = if_present([this](uint64_t stream) { BreakStream(stream); }),
              .ended = if_present([this](const CookEnded& ended) { OnEnded(ended); })},
          TakeSurvivors());
    } catch (const Disk::Crash&) {
      CrashDirector();
      return;
    }
    checks_.Trace("term", director_->term());
    for (Body& body : bodies_) {
      if (body.worker->is_alive()) body.term = director_->term();
    }
    CheckPromises(director_->store());
    RequestCook();
  }

  void RequestCook() {
    CookRequested request{
        .request = ++requests_,
        .platforms = MaskOf(static_cast<PlatformIndex>(director_->platform_count())) - 1,
        .by_the_book = true,
        .force = is_forced_};
    held_back_.clear();
    std::vector<std::string> first, later;
    for (const std::string& id : world_->selected) {
      const bool is_later = faults_.IsOn(Fault::kPackagesDiscovered) && random_.Percent(30);
      (is_later ? later : first).push_back(id);
      if (is_later) held_back_.insert(id);
    }
    if (!later.empty()) {
      schedule_.After(random_.Some(400), [this, later, number = directors_, cook = requests_] {
        if (director_ == nullptr || number != directors_ || cook != requests_ || is_over_) return;
        if (director_->Discover(later)) held_back_.clear();
      });
    }
    is_cancelled_ = false;
    faults_at_request_ = faults_.counts();
    is_requested_ = true;
    director_->Request(request, first);
  }

  // Of the workers that live as many as this one has; the rest is ended.
  std::set<std::string> TakeSurvivors() {
    std::set<std::string> names;
    for (Body& body : bodies_) {
      if (!body.worker->is_alive()) continue;
      if (names.size() < cook_.workers) {
        names.insert(body.name);
        body.is_survivor = true;
      } else {
        body.worker->Kill();
      }
    }
    return names;
  }

  // kill -9, or the machine. What it knew is gone; of its workers some live on.
  void CrashDirector() {
    checks_.Trace("the director crashes");
    NoteSettled();
    CountResumed();
    director_.reset();
    overtaken_.reset();
    const bool is_power_cut = options_.cuts_power || faults_.Happens(Fault::kPowerCut, 50);
    if (is_power_cut) disk_.PowerCut();
    LoseDirector(is_power_cut);
  }

  // SIGSTOP. Somebody starts another; then the stopped one wakes, and knows nothing of it (I9).
  void StopDirector() {
    faults_.Count(Fault::kDirectorStopped);
    checks_.Trace("the director is stopped");
    overtaken_ = std::move(director_);
    overtaken_->StopForAWhile();
    ++directors_;
    LoseDirector(false);
    schedule_.After(absl::Milliseconds(500) + random_.Some(3'000), [this] {
      if (overtaken_ == nullptr) return;
      overtaken_->WakeOvertaken();
      schedule_.After(random_.Some(3'000), [this] { overtaken_.reset(); });
    });
  }

  void LoseDirector(bool is_power_cut) {
    is_requested_ = false;
    disk_.CrashAt(0);
    for (auto& [id, stream] : streams_) {
      stream.to_director->Break();
      stream.to_worker->Break();
    }
    for (Body& body : bodies_) {
      if (!body.worker->is_alive()) continue;
      const bool survives = !is_power_cut && !body.worker->is_frozen() &&
                            faults_.IsOn(Fault::kWorkerSurvived) && random_.Percent(60);
      if (!survives) {
        body.worker->Kill();
      } else if (body.stream != 0) {
        body.stream = 0;
        body.worker->OnDisconnected();
      }
    }
    schedule_.After(random_.Some(500), [this] {
      if (director_ == nullptr) StartDirector();
    });
  }

  void CountResumed() {
    if (director_ != nullptr) {
      outcome_.resumed += director_->core().counters().jobs_resumed;
      outcome_.split += director_->core().counters().jobs_split;
    }
  }

  // An orderly end of the process: its workers end with it.
  void EndDirector() {
    schedule_.After(absl::ZeroDuration(), [this] {
      if (director_ == nullptr) return;
      for (Body& body : bodies_) body.worker->Kill();
      for (auto& [id, stream] : streams_) stream.to_director->Break();
      director_.reset();
      schedule_.After(random_.Some(500), [this] {
        if (director_ == nullptr) StartDirector();
      });
    });
  }

  // Between two owners: somebody evicts blobs, the disk rots.
  void LoseBytes() {
    const bool evicts = faults_.IsOn(Fault::kBlobEvicted);
    if (!evicts || outcome_.terms < 2) return;
    disk_.set_is_director(false);
    try {
      SimStore owner(disk_);
      for (const Digest& digest : owner.blobs()) {
        if (!faults_.Happens(Fault::kBlobEvicted, 10)) continue;
        checks_.Trace("evicted: " + digest.hex());
        owner.Evict(digest);
      }
    } catch (const Disk::Crash&) {
      checks_.Trace("the store cannot be opened");
    }
    disk_.set_is_director(true);
  }

  // Under a director.
  void LoseMoreBytes() {
    if (director_ == nullptr || !is_requested_) return;
    if (faults_.IsOn(Fault::kBlobCollected) && random_.Percent(30)) director_->Collect();
    if (faults_.IsOn(Fault::kBitsRotten) && random_.Percent(50)) director_->Rot();
  }

  // I7 in its strictest form, where nothing else goes wrong: what was cooked and is durable is
  // never cooked again.
  void NoteSettled() {
    if (director_ == nullptr || options_.has_faults) return;
    const CookCore& core = director_->core();
    for (uint32_t i = 0; i < core.package_count(); ++i) {
      const std::string& name = core.NameOf(PackageId(i));
      if (core.StateText(PackageId(i)) == "Idle, cooked") settled_.emplace(name, cooks_[name]);
    }
  }

  void CheckSettled() {
    for (const auto& [name, count] : settled_) {
      if (cooks_[name] != count)
        checks_.Break("safety: cooked before the crash, and again after it: " + name);
    }
  }

  void CheckPromises(SimStore& store) {
    for (const Digest& key : checks_.promised) {
      if (!store.IsSafe(key)) checks_.Break("safety: what was acknowledged is lost: " + key.hex());
    }
  }

  void Change(const std::vector<std::string>& platforms) {
    if (director_ != nullptr && !is_over_) director_->ChangePlatforms(platforms);
  }

  void Cancel() {
    if (is_over_) return;
    if (!is_requested_) return schedule_.After(absl::Milliseconds(100), [this] { Cancel(); });
    faults_.Count(Fault::kCookCancelled);
    is_cancelled_ = true;
    director_->Cancel();
  }

  bool HasEverFired(Fault fault) const { return faults_.counts()[static_cast<size_t>(fault)] > 0; }

  bool HasFired(Fault fault) const {
    const auto index = static_cast<size_t>(fault);
    return faults_.counts()[index] > faults_at_request_[index];
  }

  void OnEnded(const CookEnded& ended) {
    is_requested_ = false;
    const CookCore& core = director_->core();
    if (ended.is_interrupted || !ended.infrastructure_error.empty()) {
      const bool has_cause = (ended.is_interrupted && is_cancelled_) ||
                             HasFired(Fault::kCommitFailed) || HasFired(Fault::kSyncFailed) ||
                             director_->is_journal_broken() ||
                             (HasFired(Fault::kLauncherFailed) || HasFired(Fault::kWorkerUnfit));
      if (!has_cause) checks_.Break("safety: ended for no reason: " + ended.infrastructure_error);
      if (ended.is_interrupted && random_.Percent(50)) return RequestLater();
      return EndDirector();
    }
    for (const std::string& id : world_->selected) {
      const std::string name = World::NameIn(director_->cook_files(), id);
      const PackageId package = core.Find(name);
      const std::string state = package.valid() ? core.StateText(package) : "never heard of";
      const bool is_over = state == "Idle, cooked" || state == "Idle, failed";
      if (!is_over && !held_back_.contains(id) && !director_->IsOutdated())
        checks_.Break("safety: the cook ended, but not " + name + ": " + state);
    }
    // What no cook read is edited now: every run of a seed ends with the same files.
    for (auto& [name, package] : world_->packages) {
      if (package.will_change) Edit(package.id);
    }
    Rename();
    // Of older files: as a person would, the next cook is of today's.
    if (director_->IsOutdated() || !held_back_.empty()) return EndDirector();
    if (!director_->HasAllPlatforms()) {
      if (!HasEverFired(Fault::kPlatformsChanged))
        checks_.Break("safety: ended well without building all roots");
      return EndDirector();
    }
    // Bytes that cannot be read when they are staged end the cook; the next makes them again.
    if (!director_->Stage()) return EndDirector();
    CheckSettled();
    Conclude();
  }

  void RequestLater() {
    // (A term that was lost in a power cut comes again.)
    schedule_.After(random_.Some(500), [this, number = directors_] {
      if (director_ != nullptr && number == directors_) RequestCook();
    });
  }

  void Conclude() {
    is_over_ = true;
    outcome_.has_ended = true;
    CountResumed();
    const CookCore& core = director_->core();
    outcome_.counters = core.counters();
    if (!options_.has_faults && outcome_.counters.bytes_read != director_->bytes_heard())
      checks_.Break("safety: what a job read is not counted");
    for (const auto& [platform, tree] : director_->roots()) {
      outcome_.roots += "platform " + platform + "\n";
      for (const auto& [name, digest] : tree)
        outcome_.roots += name + " = " + digest.ToString() + "\n";
    }
    for (const std::string& id : world_->selected) {
      const std::string name = World::NameIn(director_->cook_files(), id);
      outcome_.selected += name + ": " + core.StateText(core.Find(name)) + "\n";
    }
    std::set<std::string> instigators;
    for (uint32_t i = 0; i < core.package_count(); ++i) NoteInstigators(PackageId(i), instigators);
    for (const std::string& line : instigators) outcome_.instigators += line + "\n";
    // What is told to workers goes out; then the power fails.
    disk_.CrashAt(0);
    schedule_.After(absl::Seconds(20), [this, roots = director_->roots()] {
      CheckHands();
      faults_.Calm();
      director_.reset();
      overtaken_.reset();
      disk_.PowerCut();
      CheckStored(roots);
      is_done_ = true;
    });
  }

  // Nobody works for nobody.
  void CheckHands() {
    for (const Body& body : bodies_) {
      const bool is_here = body.worker->is_alive() && !body.worker->is_frozen() &&
                           body.stream != 0 && body.term == director_->term();
      if (is_here && body.worker->session().in_hand() > 0)
        checks_.Break("liveness: the cook is over, but " + body.name + " has jobs");
    }
  }

  // After the power cut everything that was published can be read, and is right.
  void CheckStored(const std::map<std::string, std::map<std::string, Digest>>& roots) {
    disk_.set_is_director(false);
    SimStore store(disk_);
    CheckPromises(store);
    std::set<std::string> published;
    const auto stored = store.Roots("");
    for (const store::PublishedRoot& root : *stored) published.insert(root.platform);
    for (const auto& [platform, tree] : roots) {
      if (!published.contains(platform)) checks_.Break("safety: a published root is lost");
      for (const auto& [name, digest] : tree) {
        const bool is_rotten =
            checks_.IsRotten(digest, store.WhatLiesFor(digest).value_or(Digest()));
        const auto blob = store.Get(digest);
        if (!blob.ok() && !is_rotten)
          checks_.Break("safety: a published output cannot be read: " + name + ": " +
                        std::string(blob.status().message()));
        if (blob.ok() && Digest::Of(**blob) != digest)
          checks_.Break("safety: wrong bytes were handed out: " + name);
      }
    }
  }

  void NoteInstigators(PackageId package, std::set<std::string>& lines) {
    const CookCore& core = director_->core();
    for (const InstigatorView& why : core.InstigatorsOf(package)) {
      // Who fails has told of its references or not, as it came.
      const std::string referencer = why.referencer.valid() ? core.NameOf(why.referencer) : "";
      const bool is_in_root =
          referencer.empty() ||
          std::any_of(director_->roots().begin(), director_->roots().end(),
                      [&](const auto& root) { return root.second.contains(referencer); });
      // A reference stays a reason for the cook though it leads nowhere by now, or was another
      // file's of that name.
      const bool was_moved = !referencer.empty() &&
                             (world_->IsMoved(referencer) || world_->IsMoved(core.NameOf(package)));
      if (!is_in_root || was_moved || why.category == InstigatorCategory::kBuildDependency)
        continue;
      lines.insert(core.NameOf(package) + " " + std::to_string(static_cast<int>(why.category)) +
                   " " + referencer);
    }
  }

  // ---------------------------------------------------------------- workers

  void Start(const Spawn& spawn) {
    const uint32_t term = director_->term();
    const WorkerId id = spawn.worker;
    if (failures_in_row_ < 2 && faults_.Happens(Fault::kLauncherFailed, 10)) {
      ++failures_in_row_;
      return schedule_.After(spawn.delay + random_.Some(50), [this, id, term] {
        if (director_ != nullptr && director_->term() == term)
          director_->OnWorkerGone(id, "no more processes", true);
      });
    }
    failures_in_row_ = 0;
    schedule_.After(spawn.delay + random_.Some(200), [this, id, term] {
      if (director_ == nullptr || director_->term() != term) return;
      AddBody(SimDirector::NameOf(id), 1 + static_cast<uint32_t>(random_.Below(3)), term);
    });
  }

  void AddBody(const std::string& name, uint32_t slots, uint32_t term) {
    const size_t index = bodies_.size();
    bodies_.emplace_back();
    Body& body = bodies_.back();
    body.name = name;
    body.term = term;
    const bool is_unfit = faults_.IsOn(Fault::kWorkerUnfit) && random_.Percent(10);
    body.worker = std::make_unique<SimWorker>(
        SimWorker::Options{.id = name, .slots = slots, .is_unfit = is_unfit}, around_,
        SimWorker::Callbacks{
            .connect = [this, index] { Connect(index); },
            .send = [this, index](v1::FromWorker message) { SendUp(index, std::move(message)); },
            .hang_up = [this, index] { BreakStream(bodies_[index].stream); },
            .exited = [this, index](int code) { OnExit(index, code); }});
    Connect(index);
  }

  // The stream is there for the worker at once; whether a director is behind it shows later.
  void Connect(size_t index) {
    Body& body = bodies_[index];
    if (!body.worker->is_alive() || body.stream != 0) return;
    if (director_ != nullptr && body.term != director_->term()) return body.worker->OnRefused();
    if (director_ != nullptr && std::exchange(body.is_survivor, false))
      faults_.Count(Fault::kWorkerSurvived);
    const uint64_t id = ++streams_count_;
    streams_[id] = Stream{.body = index, .term = director_ == nullptr ? 0 : director_->term()};
    body.stream = id;
    body.attached_at = schedule_.now();
    body.worker->OnConnected();
    if (director_ == nullptr) schedule_.After(random_.Some(50), [this, id] { BreakStream(id); });
  }

  void BreakStream(uint64_t id) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    found->second.to_director->Break();
    found->second.to_worker->Break();
    Body& body = bodies_[found->second.body];
    if (body.stream != id) return;
    body.stream = 0;
    if (body.worker->is_alive()) body.worker->OnDisconnected();
  }

  void Send(uint64_t id, const v1::ToWorker& message) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    network_.Send(found->second.to_worker, [this, id, index = found->second.body, message] {
      if (bodies_[index].stream == id) bodies_[index].worker->OnReceived(message);
    });
  }

  void SendUp(size_t index, v1::FromWorker message) {
    const Body& body = bodies_[index];
    const auto found = streams_.find(body.stream);
    if (found == streams_.end()) return;
    Forge(index, message);
    network_.Send(found->second.to_director,
                  [this, id = body.stream, name = body.name, term = found->second.term, message] {
                    if (director_ != nullptr && director_->term() == term)
                      director_->OnMessage(name, id, message);
                  });
  }

  // A lie about an attempt that is another's.
  void Forge(size_t index, v1::FromWorker& message) {
    if (message.reports().empty() || !faults_.Happens(Fault::kWorkerLied, 5)) return;
    v1::Report forged = message.reports(0);
    forged.set_report((uint64_t{1} << 40) + ++forged_);
    std::vector<AttemptId> others = {(uint64_t{1} << 40) - 1};
    for (const Body& other : bodies_) {
      if (&other == &bodies_[index] || !other.worker->is_alive()) continue;
      for (const AttemptId attempt : other.worker->running()) others.push_back(attempt);
    }
    forged.set_attempt(others[random_.Below(others.size())]);
    *message.add_reports() = forged;
  }

  void OnExit(size_t index, int /*code*/) {
    Body& body = bodies_[index];
    const std::string name = body.name;
    const uint32_t term = body.term;
    const uint64_t stream = body.stream;
    body.stream = 0;
    if (const auto found = streams_.find(stream); found != streams_.end()) {
      found->second.to_director->Break();
      found->second.to_worker->Break();
    }
    checks_.Trace("exit of " + name);
    if (faults_.Happens(Fault::kWorkerCameBack, 50)) {
      return schedule_.After(random_.Some(300), [this, name, term] {
        if (director_ != nullptr && director_->term() == term) AddBody(name, 1, term);
      });
    }
    schedule_.After(random_.Some(500), [this, name, term] { TellGone(name, term); });
  }

  void TellGone(const std::string& name, uint32_t term) {
    if (director_ != nullptr && director_->term() == term)
      director_->OnWorkerGone(SimDirector::WorkerOf(name), "killed", false);
  }

  void StopWorker(WorkerId worker) {
    ++outcome_.stops;
    const std::string name = SimDirector::NameOf(worker);
    for (Body& body : bodies_) {
      if (body.name != name || body.term != director_->term() || !body.worker->is_alive()) continue;
      if (!options_.has_faults) checks_.Break("safety: stopped a worker that is well");
      body.worker->Kill();
      BreakStream(body.stream);
      body.stream = 0;
    }
    if (random_.Percent(50)) {
      schedule_.After(random_.Some(500),
                      [this, name, term = director_->term()] { TellGone(name, term); });
    }
  }

  void EverySecond() {
    schedule_.After(absl::Seconds(1), [this] {
      EverySecond();
      LoseMoreBytes();
      for (size_t i = 0; i < bodies_.size(); ++i) {
        Body& body = bodies_[i];
        if (!body.worker->is_alive()) continue;
        body.worker->OnTick();
        if (body.stream != 0 && faults_.Happens(Fault::kStreamBroken, 4)) BreakStream(body.stream);
        CheckRunning(body);
      }
    });
  }

  void CheckRunning(const Body& body) {
    const bool is_settled = director_ != nullptr && body.stream != 0 && !body.worker->is_frozen() &&
                            faults_.is_calm() && schedule_.now() - body.attached_at > kSettled;
    if (!is_settled) return;
    for (const AttemptId attempt : body.worker->running()) {
      if (!director_->Knows(attempt))
        checks_.Break("safety: " + body.name + " cooks for a director that is gone");
    }
  }

  void Edit(const std::string& id) {
    const std::string name = world_->NameNow(id);
    WorldPackage& package = world_->packages.at(name);
    package.will_change = false;
    ++package.version;
    faults_.Count(Fault::kFileEdited);
    checks_.Trace(name + " is edited");
    schedule_.After(random_.Some(50), [this, name] {
      if (director_ != nullptr) director_->OnFileEdited(name);
    });
  }

  void Rename() {
    if (world_->moves.empty()) return;
    const std::vector<World::Renamed> moves = world_->moves;
    world_->Move();
    checks_.Trace("files are renamed", moves.size());
    schedule_.After(random_.Some(50), [this, moves] {
      if (director_ != nullptr) director_->OnFilesRenamed(moves);
    });
  }

  std::string Stuck() const {
    if (director_ == nullptr) return ": there is no director";
    std::string text;
    const CookCore& core = director_->core();
    for (uint32_t i = 0; i < core.package_count(); ++i) {
      const std::string state = core.StateText(PackageId(i));
      if (!state.starts_with("Idle,")) text += "\n  " + core.NameOf(PackageId(i)) + ": " + state;
    }
    for (const Body& body : bodies_) {
      if (!body.worker->is_alive()) continue;
      text += "\n  " + body.name + " has " + std::to_string(body.worker->session().in_hand()) +
              " jobs, keeps " + std::to_string(body.worker->session().reports_kept()) + " reports" +
              (body.stream == 0 ? ", no stream" : "") +
              (body.worker->is_frozen() ? ", frozen" : "");
    }
    return text;
  }

  const ClusterOptions options_;
  Schedule schedule_;
  Random random_;
  Faults faults_;
  Disk disk_;
  Network network_;
  std::shared_ptr<World> world_;
  Checks checks_;
  CookOptions cook_;
  Outcome outcome_;

  std::map<std::string, SnapshotTable> tables_;
  std::map<std::string, uint64_t> cooks_, executors_lost_;
  std::unique_ptr<OwnFaults> own_faults_;
  Surroundings around_{schedule_,
                       random_,
                       faults_,
                       disk_,
                       *world_,
                       tables_,
                       cooks_,
                       executors_lost_,
                       [this](const std::string& id) { Edit(id); },
                       [this](const std::string& what) { checks_.Break(what); }};
  std::unique_ptr<SimDirector> director_;
  std::unique_ptr<SimDirector> overtaken_;  // was stopped, while another took the project
  uint64_t directors_ = 0;
  std::set<std::string> held_back_;          // of what is selected: discovered while the cook runs
  std::map<std::string, uint64_t> settled_;  // packages, and how often they had been cooked
  std::vector<Body> bodies_;
  std::map<uint64_t, Stream> streams_;
  uint64_t streams_count_ = 0, forged_ = 0, requests_ = 0;
  uint32_t failures_in_row_ = 0;
  FaultCounts faults_at_request_{};
  bool is_forced_ = false, is_requested_ = false, is_cancelled_ = false;
  bool is_over_ = false, is_done_ = false;
};

// The lines of one that the other has not.
std::string Difference(const std::string& given, const std::string& expected) {
  const auto lines_of = [](const std::string& text) {
    std::multiset<std::string> lines;
    std::istringstream in(text);
    std::string platform;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("platform ")) platform = line.substr(9) + " ";
      lines.insert(platform + line);
    }
    return lines;
  };
  const auto a = lines_of(given), b = lines_of(expected);
  std::string text;
  for (const std::string& line : a) text += b.contains(line) ? "" : "\n  has     " + line;
  for (const std::string& line : b) text += a.contains(line) ? "" : "\n  has not " + line;
  return text;
}

}  // namespace

Outcome RunCluster(const ClusterOptions& options) { return Cluster(options).Run(); }

std::string WhatIsWrong(const Outcome& calm, const Outcome& outcome) {
  if (!calm.broken.empty()) return "without faults: " + calm.broken;
  if (!outcome.broken.empty()) return outcome.broken;
  if (outcome.roots != calm.roots)
    return "safety: the roots are others than without faults" +
           Difference(outcome.roots, calm.roots);
  if (outcome.selected != calm.selected)
    return "safety: packages end otherwise than without faults" +
           Difference(outcome.selected, calm.selected);
  if (outcome.instigators != calm.instigators)
    return "safety: other reasons than without faults" +
           Difference(outcome.instigators, calm.instigators);
  if (outcome.attempts_max > 400) return "liveness: too many attempts";
  return "";
}

}  // namespace galley::simulation
