// Cluster's faults until the calm begins; other faults are where things are done.

#include "tests/simulation/cluster_impl.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a simulation of it

namespace {

constexpr absl::Duration kCalmBegins = absl::Seconds(30);

}  // namespace

void Cluster::BeginFaults() {
  LoseMemory();
  if (!options_.has_faults) {
    calm_since_ = schedule_.now();
  } else {
    schedule_.After(kCalmBegins, [this] {
      if (is_over_) return;
      faults_.Calm();
      calm_since_ = schedule_.now();
    });
  }
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
    // The last set is what the cook must end with, perhaps in another order.
    std::vector<std::vector<std::string>> sets = {
        {"p1", "p0"}, {"p2", "p0"}, {"p1"}, {"p1", "p2", "p0"}, {"p0", "p1", "p2"}};
    absl::Duration at = random_.Some(800);
    for (uint64_t i = random_.Below(3); i > 0; --i, at += random_.Some(800)) {
      schedule_.After(at, [this, set = sets[random_.Below(sets.size())]] { Change(set); });
    }
    schedule_.After(at, [this, set = random_.Percent(50) ? kPlatforms : sets[0]] { Change(set); });
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
  AskQuestions();
  if (faults_.IsOn(Fault::kUrgentAsked)) {
    for (uint64_t i = 1 + random_.Below(4); i > 0; --i)
      schedule_.After(random_.Some(1'500), [this] { AskUrgently(); });
  }
  if (faults_.IsOn(Fault::kMachinePaused)) {
    schedule_.After(random_.Some(3'000), [this] {
      if (is_over_) return;
      faults_.Count(Fault::kMachinePaused);
      schedule_.Pause(absl::Minutes(1 + static_cast<int64_t>(random_.Below(5))));
      checks_.Trace("the machine goes on");
    });
  }
  if (!world_->moves.empty()) schedule_.After(random_.Some(1'000), [this] { Rename(); });
  if (faults_.IsOn(Fault::kDirectorStopped) || faults_.IsOn(Fault::kStaleMet)) {
    schedule_.After(random_.Some(3000), [this] {
      if (director_ != nullptr && !is_over_ && overtaken_ == nullptr) StopDirector();
    });
  }
  if (faults_.IsOn(Fault::kCrashedWriting) && options_.crash_at_write == 0)
    disk_.CrashAt(1 + random_.Below(80));
}

// kill -9, or the machine crashes. The director's knowledge is gone; some of its workers live on.
void Cluster::CrashDirector() {
  checks_.Trace("the director crashes");
  OnDirectorDying();
  NoteSettled();
  CountResumed();
  director_.reset();
  overtaken_.reset();
  const bool is_power_cut = options_.cuts_power || faults_.Happens(Fault::kPowerCut, 50);
  if (is_power_cut) disk_.PowerCut();
  LoseDirector(is_power_cut);
}

// The director gets SIGSTOP, and somebody starts another. Then the stopped director wakes without
// knowing of this. It must write nothing.
void Cluster::StopDirector() {
  faults_.Count(Fault::kDirectorStopped);
  checks_.Trace("the director is stopped");
  overtaken_ = std::move(director_);
  overtaken_->StopForAWhile();
  overtaken_number_ = directors_++;
  LoseDirector(false);
  schedule_.After(absl::Milliseconds(500) + random_.Some(3'000), [this] {
    if (overtaken_ == nullptr) return;
    overtaken_->WakeOvertaken();
    LetWorkersMeetStale();
    schedule_.After(random_.Some(3'000), [this] {
      overtaken_.reset();
      for (Body& body : bodies_) {
        const auto stream = streams_.find(body.stream);
        if (stream != streams_.end() && stream->second.director == overtaken_number_)
          BreakStream(body.stream);
      }
    });
  });
}

// Between two owners somebody evicts blobs, or the disk rots.
void Cluster::LoseBytes() {
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

// The workers' streams break, and the overtaken director answers first.
void Cluster::LetWorkersMeetStale() {
  if (overtaken_ == nullptr || !faults_.IsOn(Fault::kStaleMet)) return;
  for (Body& body : bodies_) {
    if (body.stream != 0 && random_.Percent(50)) BreakStream(body.stream);
  }
  schedule_.After(random_.Some(1'000), [this] { LetWorkersMeetStale(); });
}

// Somebody deletes blobs that remote machines keep, or damages them, which the machines find out.
void Cluster::LoseCaches() {
  for (BlobCache& cache : machine_.caches) {
    if (!cache.empty() && faults_.Happens(Fault::kCacheLost, 20))
      std::erase_if(cache, [this](const auto&) { return random_.Percent(50); });
  }
}

void Cluster::LoseMemory() {
  const bool may_be = faults_.IsOn(Fault::kMemoryShort);
  machine_.is_short = may_be && random_.Percent(machine_.is_short ? 70 : 30);
}

// Bytes that are lost while a director runs.
void Cluster::LoseMoreBytes() {
  if (director_ == nullptr || !is_requested_) return;
  const bool collects =
      faults_.IsOn(Fault::kBlobCollected) || faults_.IsOn(Fault::kUnaskedCollected);
  if (collects && random_.Percent(30)) director_->Collect();
  if (faults_.IsOn(Fault::kBitsRotten) && random_.Percent(50)) director_->Rot();
  director_->Damage();
}

void Cluster::Change(const std::vector<std::string>& platforms) {
  if (director_ != nullptr && !is_over_) director_->ChangePlatforms(platforms);
}

// Asks urgently for packages that the cook is asked for anyhow, so that its roots are the same.
void Cluster::AskUrgently() {
  if (director_ == nullptr || is_over_ || !is_requested_) return;
  std::vector<std::string> ids;
  for (const std::string& id : world_->selected) {
    if (!held_back_.contains(id) && random_.Percent(30)) ids.push_back(id);
  }
  if (ids.empty()) return;
  faults_.Count(Fault::kUrgentAsked);
  director_->Discover(ids, InstigatorCategory::kCookOnTheFly);
}

void Cluster::AskQuestions() {
  if (!faults_.IsOn(Fault::kQuestionAsked)) return;
  if (director_ != nullptr && is_requested_) {
    faults_.Count(Fault::kQuestionAsked);
    director_->Question();
  }
  schedule_.After(random_.Some(400), [this] { AskQuestions(); });
}

void Cluster::Cancel() {
  if (is_over_) return;
  if (!is_requested_) return schedule_.After(absl::Milliseconds(100), [this] { Cancel(); });
  faults_.Count(Fault::kCookCancelled);
  is_cancelled_ = true;
  director_->Cancel();
}

// A lie about another worker's attempt.
void Cluster::Forge(size_t index, v1::FromWorker& message) {
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

void Cluster::Edit(const std::string& id) {
  const std::string name = world_->NameNow(id);
  WorldPackage& package = world_->packages.at(name);
  package.will_change = false;
  ++package.version;
  faults_.Count(Fault::kFileEdited);
  checks_.Trace(name + " is edited");
  schedule_.After(random_.Some(50), [this, name] {
    if (director_ != nullptr) director_->OnFilesEdited({name});
  });
}

void Cluster::Rename() {
  if (world_->moves.empty()) return;
  const std::vector<World::Renamed> moves = world_->moves;
  world_->Move();
  checks_.Trace("files are renamed", moves.size());
  schedule_.After(random_.Some(50), [this, moves] {
    if (director_ != nullptr) director_->OnFilesRenamed(moves);
  });
}

}  // namespace galley::simulation
