#include "tests/simulation/cluster.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "common/base/log.h"
#include "director/core/jobs/worker_table.h"
#include "tests/simulation/cluster_impl.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a simulation of it

namespace {

// The limit of a whole run; 30 s of faults, and a pause, come before the calm.
constexpr absl::Duration kMustBeOver = absl::Minutes(20);
// The limit from the calm to the end, beside twice the fault-free cook. It must cover everything
// that may have to run out then: the silence of a worker (15 s), its patience without a director
// (20 s), a back-off. Among 2,000 seeds the longest took 27 s.
constexpr absl::Duration kCalmMax = absl::Seconds(80);
constexpr size_t kEventsMax = 1'000'000;

}  // namespace

Cluster::Cluster(const ClusterOptions& options)
    : options_(options),
      random_(options.seed * 7919 + options.has_faults),
      faults_(options.has_faults, options.seed, random_),
      disk_(random_),
      network_(schedule_, random_, faults_),
      world_(std::make_shared<World>(options.seed)),
      checks_(options.is_told) {
  if (faults_.Has(Fault::kMemoryShort)) world_->LetPackagesTakeMemory();
  DrawLimits();
  own_faults_ = std::make_unique<OwnFaults>(cook_.own_fault_attempts_max, checks_);
  if (cook_.fleet.max > 0) own_faults_->MayCountLess();
  // Without edits during the cook, all edits are made before it: every run of a seed ends with the
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

Cluster::Cluster(uint64_t seed, const std::vector<Fault>& faults, World world, bool is_told)
    : options_({.seed = seed}),
      random_(seed),
      faults_(faults, random_),
      disk_(random_),
      network_(schedule_, random_, faults_),
      world_(std::make_shared<World>(std::move(world))),
      checks_(is_told),
      own_faults_(std::make_unique<OwnFaults>(1, checks_)),
      has_several_(true) {}

Outcome Cluster::Run() {
  StartDirector();
  EverySecond();
  BeginFaults();
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
  outcome_.decisions = checks_.decisions.value();
  outcome_.faults = faults_.counts();
  outcome_.writes = disk_.writes();
  for (const auto& [name, count] : cooks_)
    outcome_.attempts_max = std::max(outcome_.attempts_max, count);
  return outcome_;
}

bool Cluster::RunNext() {
  try {
    checks_.set_now(schedule_.elapsed());
    return schedule_.RunNext();
  } catch (const Disk::Crash&) {
    faults_.Count(Fault::kCrashedWriting);
    CrashDirector();
    return true;
  }
}

void Cluster::DrawLimits() {
  const bool are_shrunk = options_.has_faults && random_.Percent(50);
  cook_ = {.platform_count = static_cast<uint32_t>(kPlatforms.size()),
           .workers = options_.has_faults ? 1 + static_cast<uint32_t>(random_.Below(4)) : 1,
           .units_per_step = are_shrunk ? 1 + static_cast<uint32_t>(random_.Below(8)) : 16,
           .look_ups_per_batch = are_shrunk ? 1 + static_cast<uint32_t>(random_.Below(3)) : 8};
  cook_.resources = {{"gpu", 1}};
  if (world_->is_placed) cook_.local_offer = World::AllThatIsAsked();
  cook_.silence_max = absl::Seconds(15);
  cook_.straggler_min = absl::Milliseconds(50);
  cook_.split_min = absl::Milliseconds(1);
  if (are_shrunk && random_.Percent(50)) {
    cook_.window = absl::Milliseconds(10);
    cook_.window_jobs_max = 1 + static_cast<uint32_t>(random_.Below(4));
  }
  is_forced_ = options_.has_faults && random_.Percent(20);
  if (options_.upload > absl::ZeroDuration()) {
    cook_.workers = 0;
    cook_.fleet = {.max = 4,
                   .min = 4,
                   .slots = 1,
                   .start = absl::Milliseconds(5),
                   .helpers_max = 2,
                   .offer = World::AllThatIsAsked()};
    cook_.straggler_min = absl::Seconds(2);
    // A job whose parts other workers cook begins twice.
    cook_.split_min = absl::InfiniteDuration();
  }
  if (options_.has_faults && IsLateOn(options_.seed, kOnAFarm)) {
    cook_.fleet = {.max = cook_.workers,
                   .min = cook_.workers / 2,
                   .slots = 2,
                   .start = absl::Milliseconds(5),
                   .idle_max = absl::Seconds(2),
                   .helpers_max = 2};
    std::swap(cook_.fleet.offer, cook_.local_offer);  // helpers offer nothing
    cook_.workers = 0;
    cook_.start_max = absl::Seconds(15);
    // Proofs cannot tell a cooker with two outcomes from a worker that lies.
    if (IsLateOn(options_.seed, kProven) && !faults_.Has(Fault::kCookedOtherwise))
      cook_.proofs = {.share = 1,
                      .seed = options_.seed,
                      .second_max = absl::Hours(1),
                      .third_max = absl::Hours(1)};
  }
}

void Cluster::StartDirector() {
  if (is_over_) return;
  const bool is_first = outcome_.terms++ == 0;
  if (!is_first && faults_.Happens(Fault::kCrashedStarting, 30))
    disk_.CrashAt(1 + random_.Below(12));
  if (outcome_.terms == 2) disk_.CrashAt(options_.crash_again_at_write);
  LoseBytes();
  const uint64_t writes = disk_.writes();
  // Callbacks of an overtaken director no longer do anything.
  const uint64_t number = ++directors_;
  const auto if_present = [this, number](auto act) {
    return [this, number, act](const auto&... what) {
      if (number == directors_) act(what...);
    };
  };
  const auto if_its = [this, number](auto act) {
    return [this, number, act](uint64_t stream, const auto&... what) {
      const auto found = streams_.find(stream);
      if (found != streams_.end() && found->second.director == number) act(stream, what...);
    };
  };
  try {
    director_ = std::make_unique<SimDirector>(
        SimDirector::Deps{schedule_, random_, faults_, disk_, *world_, tables_, checks_,
                          *own_faults_, has_several_},
        cook_,
        SimDirector::Callbacks{
            .spawn = if_present([this](const Spawn& spawn) { Start(spawn); }),
            .stop = if_present([this](WorkerId worker) { StopWorker(worker); }),
            .send = if_its(
                [this](uint64_t stream, const v1::ToWorker& message) { Send(stream, message); }),
            .hang_up = if_its([this](uint64_t stream) { BreakStream(stream); }),
            .ended = if_present([this](const auto&... what) { OnEnded(what...); }),
            .stepped =
                [this, number](const Event& event, std::span<const Effect> effects) {
                  if (number == directors_ && director_ != nullptr) OnStepped(event, effects);
                }},
        TakeSurvivors());
  } catch (const Disk::Crash&) {
    CrashDirector();
    return;
  }
  checks_.Trace("term", director_->term());
  if (outcome_.terms == 2) outcome_.recovery_writes = disk_.writes() - writes;
  for (Body& body : bodies_) {
    if (body.worker->is_alive()) body.term = director_->term();
  }
  CheckPromises(director_->store());
  RequestCook();
}

void Cluster::RequestCook() {
  CookRequested request{
      .request = ++requests_,
      .platforms = MaskOf(static_cast<PlatformIndex>(director_->platform_count())) - 1,
      .by_the_book = true,
      .force = is_forced_ || (faults_.IsOn(Fault::kCookedOtherwise) && random_.Percent(50)),
      .fail_fast = requests_ < 4 && faults_.IsOn(Fault::kFailedFast),
      .follow_soft = world_->follows_soft,
      .is_staged = !IsLateOn(options_.seed, kNotStaged)};
  is_fail_fast_ = request.fail_fast;
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
      faults_.Count(Fault::kPackagesDiscovered);
      if (director_->Discover(later, InstigatorCategory::kCookMap)) held_back_.clear();
    });
  }
  is_cancelled_ = false;
  faults_at_request_ = faults_.counts();
  is_requested_ = true;
  director_->Request(request, first);
}

// Lets as many living workers survive as this cook has. Ends the other workers, also those that
// came of their own accord.
std::set<std::string> Cluster::TakeSurvivors() {
  std::set<std::string> names;
  for (Body& body : bodies_) {
    if (!body.worker->is_alive()) continue;
    const bool is_local = PoolOf(SimDirector::WorkerOf(body.name)) == Pool::kLocal;
    if (names.size() < cook_.workers && is_local) {
      names.insert(body.name);
      body.is_survivor = true;
    } else {
      body.worker->Kill();
    }
  }
  return names;
}

void Cluster::LoseDirector(bool is_power_cut) {
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

void Cluster::CountResumed() {
  if (director_ == nullptr) return;
  outcome_.resumed += director_->core().counters().jobs_resumed;
  outcome_.split += director_->core().counters().jobs_split;
  outcome_.found_equal += director_->found_equal();
}

// Ends the process in order: its workers end with it.
void Cluster::EndDirector() {
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

uint64_t Cluster::TimesSinceRequest(Fault fault) const {
  const auto index = static_cast<size_t>(fault);
  return faults_.counts()[index] - faults_at_request_[index];
}

// Whether so much was lost that a package may have been lost each time.
bool Cluster::HasLostMuch() const {
  uint64_t times = 0;
  for (const Fault fault : {Fault::kBitsRotten, Fault::kUnaskedCollected, Fault::kFilesDeleted,
                            Fault::kSegmentLost, Fault::kIndexLost})
    times += TimesSinceRequest(fault);
  return times > cook_.lost_rounds_max;
}

void Cluster::OnEnded(const CookEnded& ended, const std::map<std::string, Digest>&) {
  if (is_over_) return;  // the last cook is over, and a late commit failed
  is_requested_ = false;
  const CookCore& core = director_->core();
  if (ended.is_fail_fast) {
    faults_.Count(Fault::kFailedFast);
    if (!is_fail_fast_ || !director_->has_ever_failed())
      checks_.Break("safety: failed fast for no reason");
    if (director_->has_published()) checks_.Break("safety: failed fast, and published");
    return random_.Percent(50) ? RequestLater() : EndDirector();
  }
  if (ended.is_interrupted || !ended.infrastructure_error.empty()) {
    const bool is_of_losses = ended.infrastructure_error.starts_with("the store dropped");
    const bool has_other_cause =
        (ended.is_interrupted && is_cancelled_) || HasFired(Fault::kCommitFailed) ||
        HasFired(Fault::kSyncFailed) || HasFired(Fault::kStoreFailed) ||
        director_->is_journal_broken() ||
        (HasFired(Fault::kLauncherFailed) || HasFired(Fault::kWorkerUnfit));
    const bool has_cause = HasLostMuch() || (!is_of_losses && has_other_cause);
    if (!has_cause) checks_.Break("safety: ended for no reason: " + ended.infrastructure_error);
    if (ended.infrastructure_error.empty() && random_.Percent(50)) return RequestLater();
    return EndDirector();
  }
  if (is_fail_fast_ && director_->has_failed()) checks_.Break("safety: failed, and not fast");
  for (const std::string& id : world_->selected) {
    const std::string name = World::NameIn(director_->cook_files(), id);
    const PackageId package = core.Find(name);
    const std::string state = package.valid() ? core.StateText(package) : "never heard of";
    const bool is_over = state == "Idle, cooked" || state == "Idle, failed";
    const bool is_never_cooked = !name.empty() && core.Find(name).valid() &&
                                 world_->In(director_->cook_files().at(name)).is_never_cooked;
    if (!is_over && !is_never_cooked && !held_back_.contains(id) && !director_->IsOutdated() &&
        director_->HasAskedForAll())
      checks_.Break("safety: the cook ended, but not " + name + ": " + state);
  }
  // Now the files that no cook read are edited: every run of a seed ends with the same files.
  for (auto& [name, package] : world_->packages) {
    if (package.will_change) Edit(package.id);
  }
  Rename();
  // If the cook was of older files, the next cook is of today's, as a person would ask for it.
  const bool is_of_today = !director_->IsOutdated() && director_->HasAskedForAll();
  if (!is_of_today || !held_back_.empty()) return EndDirector();
  if (!director_->HasAllPlatforms()) {
    if (!HasEverFired(Fault::kPlatformsChanged))
      checks_.Break("safety: ended well without building all roots");
    return EndDirector();
  }
  if (EndDisputes()) return EndDirector();
  director_->CheckPublished();
  // The next cook makes blobs again that went since then, or that nobody staged.
  if (!director_->Stage()) return EndDirector();
  CheckSettled();
  Conclude();
}

// Forgets disputed results, as a person does by `galley clean`. False: there are no disputes.
bool Cluster::EndDisputes() {
  if (!faults_.Has(Fault::kCookedOtherwise)) return false;
  const std::vector<Digest> keys = director_->store().disputes();
  if (keys.empty()) return false;
  if (!director_->store().Forget(keys).ok()) return true;  // it is asked to forget them once more
  for (const Digest& key : keys) checks_.promised.erase(key);
  return true;
}

void Cluster::RequestLater() {
  // A term that was lost in a power cut comes again.
  schedule_.After(random_.Some(500), [this, number = directors_] {
    if (director_ != nullptr && number == directors_) RequestCook();
  });
}

void Cluster::Conclude() {
  is_over_ = true;
  outcome_.has_ended = true;
  if (calm_since_) outcome_.calm = schedule_.now() - *calm_since_;
  CountResumed();
  const CookCore& core = director_->core();
  outcome_.counters = core.counters();
  if (!options_.has_faults && outcome_.counters.bytes_read != director_->bytes_heard())
    checks_.Break("safety: what a job read is not counted");
  for (const auto& [platform, tree] : director_->roots()) {
    outcome_.roots += "platform " + platform + "\n";
    for (const auto& [name, digest] : tree) {
      // A package that is sometimes cooked otherwise may have either output.
      const std::string expected = world_->Expected(name, platform, director_->cook_files());
      const bool is_otherwise = digest == Digest::Of(World::Otherwise(expected));
      outcome_.roots +=
          name + " = " + (is_otherwise ? Digest::Of(expected) : digest).ToString() + "\n";
    }
  }
  for (const std::string& id : world_->selected) {
    const std::string name = World::NameIn(director_->cook_files(), id);
    outcome_.selected += name + ": " + core.StateText(core.Find(name)) + "\n";
  }
  std::set<std::string> instigators;
  for (uint32_t i = 0; i < core.package_ids(); ++i) NoteInstigators(PackageId(i), instigators);
  for (const std::string& line : instigators) outcome_.instigators += line + "\n";
  // Lets messages to workers go out; then the power fails.
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

namespace {

// The lines of each text that the other lacks.
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

Outcome RunCluster(const ClusterOptions& options) {
  InitLog("simulation", LogLevel::kOff, "");  // the seed draws everything that it would warn of
  return Cluster(options).Run();
}

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
  if (outcome.calm > 2 * calm.calm + kCalmMax)
    return "liveness: it ended " + absl::FormatDuration(outcome.calm) + " after the faults did";
  if (outcome.attempts_max > 400) return "liveness: too many attempts";
  return "";
}

}  // namespace galley::simulation
