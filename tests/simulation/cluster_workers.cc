// Cluster's workers: their processes, streams and launcher.

#include <algorithm>

#include "director/core/jobs/worker_table.h"
#include "tests/simulation/cluster_impl.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a simulation of it

// Launches a worker through a farm's queue.
void Cluster::Launch(const Spawn& spawn) {
  using State = LauncherReported::State;
  const uint32_t term = director_->term();
  const WorkerId id = spawn.worker;
  absl::Duration at = spawn.delay + random_.Some(50);
  const auto tell = [&](State state) {
    schedule_.After(at, [this, id, state, term] {
      if (director_ != nullptr && director_->term() == term)
        director_->Step(LauncherReported{.worker = id, .error = "", .state = state});
    });
  };
  tell(State::kQueued);
  if (faults_.Happens(Fault::kLaunchQueued, 30)) at += absl::Seconds(random_.Below(30));
  if (FailsToStart(id, at, Fault::kLaunchFailed, 20, "the queue is closed")) return;
  at += random_.Some(100);
  tell(State::kStarting);
  if (faults_.Happens(Fault::kLaunchRequeued, 20)) {
    at += random_.Some(2'000);
    tell(State::kQueued);
    at += random_.Some(5'000);
    tell(State::kStarting);
  }
  if (faults_.Happens(Fault::kLaunchLost, 10)) return;
  if (faults_.Happens(Fault::kLauncherLied, 20)) {
    schedule_.After(at + random_.Some(3'000), [this, id, term] {
      // Like the shell, which knows better whether a worker is attached.
      const std::string name = SimDirector::NameOf(id);
      const bool is_attached = std::ranges::any_of(bodies_, [&](const Body& body) {
        return body.name == name && body.term == term && body.stream != 0;
      });
      if (!is_attached) TellGone(name, term);
    });
  }
  StartBody(id, at, /*is_remote=*/true);
}

void Cluster::Start(const Spawn& spawn) {
  if (PoolOf(spawn.worker) == Pool::kLaunched) return Launch(spawn);
  if (!FailsToStart(spawn.worker, spawn.delay, Fault::kLauncherFailed, 10, "no more processes"))
    StartBody(spawn.worker, spawn.delay, /*is_remote=*/false);
}

// True: the worker cannot be started, which the director hears after a while.
bool Cluster::FailsToStart(WorkerId worker, absl::Duration at, Fault fault, uint64_t percent,
                           const std::string& why) {
  const bool fails = failures_in_row_ < 2 && faults_.Happens(fault, percent);
  failures_in_row_ = fails ? failures_in_row_ + 1 : 0;
  if (!fails) return false;
  schedule_.After(at + random_.Some(50), [this, worker, why, term = director_->term()] {
    if (director_ != nullptr && director_->term() == term)
      director_->OnWorkerGone(worker, why, true);
  });
  return true;
}

void Cluster::StartBody(WorkerId worker, absl::Duration at, bool is_remote) {
  schedule_.After(at + random_.Some(200), [this, worker, is_remote, term = director_->term()] {
    if (director_ == nullptr || director_->term() != term) return;
    AddBody(SimDirector::NameOf(worker), 1 + static_cast<uint32_t>(random_.Below(3)), term,
            is_remote);
  });
}

void Cluster::AddBody(const std::string& name, uint32_t slots, uint32_t term, bool is_remote) {
  const size_t index = bodies_.size();
  bodies_.emplace_back();
  Body& body = bodies_.back();
  body.name = name;
  body.term = term;
  body.is_remote = is_remote;
  const bool is_unfit = faults_.IsOn(Fault::kWorkerUnfit) && random_.Percent(10);
  // Some workers may use half of the machine's memory.
  const uint64_t memory_bytes = !faults_.Has(Fault::kMemoryShort) ? 0
                                : index % 3 == 2                  ? kMachineBytes / 2
                                                                  : kMachineBytes;
  // Only one worker lies at a time: if two lie, nobody is believed, and the package fails.
  const bool is_wrong = faults_.Has(Fault::kWorkerWrong) && cook_.proofs.share > 0 &&
                        cook_.fleet.max > 1 &&
                        name == SimDirector::NameOf(WorkerId(kLaunchedWorkers));
  // Every machine has two launched workers, whatever they are called later.
  const WorkerId id = SimDirector::WorkerOf(name);
  const std::string machine = PoolOf(id) == Pool::kLaunched
                                  ? "node" + std::to_string((id.value() - kLaunchedWorkers) / 2)
                                  : name;
  const bool is_older = is_remote && faults_.Happens(Fault::kWorkerOlder, 40);
  body.worker = std::make_unique<SimWorker>(
      SimWorker::Options{.id = name,
                         .machine = machine,
                         .slots = slots,
                         .is_unfit = is_unfit,
                         .memory_bytes = memory_bytes,
                         .is_remote = is_remote,
                         .cache = index % 2,
                         .is_older = is_older,
                         .is_wrong = is_wrong,
                         .hides_uploads = options_.hides_uploads,
                         .offer = is_remote ? cook_.fleet.offer : cook_.local_offer},
      around_,
      SimWorker::Callbacks{
          .connect = [this, index] { Connect(index); },
          .send = [this, index](v1::FromWorker message) { SendUp(index, std::move(message)); },
          .hang_up = [this, index] { BreakStream(bodies_[index].stream); },
          .exited = [this, index] { OnExit(index); },
          .find_missing =
              [this, index](const std::vector<Digest>& digests, const SimUploads::Found& found) {
                FindMissing(index, digests, found);
              },
          .upload = [this, index](const SimUploads::Blobs& blobs,
                                  const SimUploads::Done& done) { Upload(index, blobs, done); },
          .fetch = [this, index](const Digest& blob) { return Fetch(index, blob); }});
  Connect(index);
}

// The worker comes from the present director, and meets the director before.
bool Cluster::MeetsStale(const Body& body) {
  return director_ != nullptr && overtaken_ != nullptr && overtaken_->is_overtaken() &&
         body.worker->term() == director_->term() && faults_.Happens(Fault::kStaleMet, 80);
}

// The present director knows the worker as a survivor, or under another name.
void Cluster::BeKnown(Body& body) {
  if (std::exchange(body.is_survivor, false)) faults_.Count(Fault::kWorkerSurvived);
  const bool was_here = body.attached_at > absl::UnixEpoch();
  if (!was_here || !faults_.Happens(Fault::kWorkerRenamed, 20)) return;
  const std::string before =
      std::exchange(body.name, SimDirector::NameOf(WorkerId(kForeignWorkers + ++foreigners_)));
  checks_.Trace(before + " is " + body.name);
  schedule_.After(random_.Some(500), [this, before, term = body.term] { TellGone(before, term); });
}

// The worker has the stream at once; whether a director is behind it shows later.
void Cluster::Connect(size_t index) {
  Body& body = bodies_[index];
  if (!body.worker->is_alive() || body.stream != 0) return;
  if (director_ != nullptr && body.term != director_->term()) return body.worker->OnRefused();
  const bool meets_stale = MeetsStale(body);
  if (director_ != nullptr && !meets_stale) BeKnown(body);
  const uint64_t id = ++streams_count_;
  const uint64_t present = director_ == nullptr ? 0 : directors_;
  streams_[id] = Stream{.body = index, .director = meets_stale ? overtaken_number_ : present};
  body.stream = id;
  body.attached_at = schedule_.now();
  body.worker->OnConnected();
  if (director_ == nullptr) schedule_.After(random_.Some(50), [this, id] { BreakStream(id); });
}

void Cluster::BreakStream(uint64_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  found->second.to_director->Break();
  found->second.to_worker->Break();
  Body& body = bodies_[found->second.body];
  if (body.stream != id) return;
  body.stream = 0;
  if (body.worker->is_alive()) body.worker->OnDisconnected();
}

void Cluster::Send(uint64_t id, const v1::ToWorker& message) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  network_.Send(found->second.to_worker, [this, id, index = found->second.body, message] {
    if (bodies_[index].stream == id) bodies_[index].worker->OnReceived(message);
  });
}

void Cluster::SendUp(size_t index, v1::FromWorker message) {
  const Body& body = bodies_[index];
  const auto found = streams_.find(body.stream);
  if (found == streams_.end()) return;
  Forge(index, message);
  network_.Send(found->second.to_director, [this, id = body.stream, name = body.name,
                                            number = found->second.director, message] {
    if (director_ != nullptr && number == directors_)
      return director_->OnMessage(name, id, message);
    if (overtaken_ == nullptr || number != overtaken_number_ || !overtaken_->is_overtaken()) return;
    disk_.set_is_director(false);
    overtaken_->OnMessage(name, id, message);
    disk_.set_is_director(true);
  });
}

// The director that the worker is attached to; nullptr: there is none, or it was stopped.
SimDirector* Cluster::DirectorOf(const Body& body) {
  const auto stream = streams_.find(body.stream);
  const bool is_present = stream != streams_.end() && stream->second.director == directors_;
  return is_present ? director_.get() : nullptr;
}

void Cluster::FindMissing(size_t index, const std::vector<Digest>& digests,
                          const SimUploads::Found& found) {
  schedule_.After(random_.Some(30), [this, index, digests, found] {
    SimDirector* const director = DirectorOf(bodies_[index]);
    absl::StatusOr<std::vector<Digest>> missing = absl::UnavailableError("no director");
    if (director != nullptr) missing = director->OnFindMissing(digests);
    schedule_.After(random_.Some(20), [found, missing] { found(missing); });
  });
}

// A call is no message of the stream. It breaks off with all of its blobs stored, or with some.
void Cluster::Upload(size_t index, const SimUploads::Blobs& blobs, const SimUploads::Done& done) {
  schedule_.After(options_.upload + random_.Some(30), [this, index, blobs, done] {
    SimDirector* const director = DirectorOf(bodies_[index]);
    absl::Status status = absl::UnavailableError("no director");
    if (director != nullptr) {
      const bool is_broken = faults_.Happens(Fault::kUploadBroken, 20);
      const size_t come = is_broken ? random_.Below(blobs.size() + 1) : blobs.size();
      status = director->OnUpload(std::span(blobs).first(come));
      if (is_broken) status = absl::UnavailableError("broken off");
    }
    schedule_.After(random_.Some(20), [done, status] { done(status); });
  });
}

std::optional<std::string> Cluster::Fetch(size_t index, const Digest& blob) {
  SimDirector* const director = DirectorOf(bodies_[index]);
  if (director == nullptr || faults_.Happens(Fault::kFetchBroken, 50)) return std::nullopt;
  try {
    return director->OnFetch(blob);
  } catch (const Disk::Crash&) {  // of the director; the worker lives on
    faults_.Count(Fault::kCrashedWriting);
    schedule_.After(absl::ZeroDuration(), [this, number = directors_] {
      if (director_ != nullptr && number == directors_) CrashDirector();
    });
    return std::nullopt;
  }
}

void Cluster::OnExit(size_t index) {
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
    return schedule_.After(random_.Some(300), [this, name, term, is_remote = body.is_remote] {
      if (director_ != nullptr && director_->term() == term) AddBody(name, 1, term, is_remote);
    });
  }
  schedule_.After(random_.Some(500), [this, name, term] { TellGone(name, term); });
}

void Cluster::TellGone(const std::string& name, uint32_t term) {
  if (director_ != nullptr && director_->term() == term)
    director_->OnWorkerGone(SimDirector::WorkerOf(name), "killed", false);
}

void Cluster::StopWorker(WorkerId worker) {
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

void Cluster::EverySecond() {
  schedule_.After(absl::Seconds(1), [this] {
    EverySecond();
    LoseMoreBytes();
    LoseMemory();
    LoseCaches();
    for (size_t i = 0; i < bodies_.size(); ++i) {
      Body& body = bodies_[i];
      if (!body.worker->is_alive()) continue;
      body.worker->OnTick();
      if (body.stream != 0 && faults_.Happens(Fault::kStreamBroken, 4)) BreakStream(body.stream);
      CheckRunning(body);
    }
  });
}

}  // namespace galley::simulation
