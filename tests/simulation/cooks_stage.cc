#include "tests/simulation/cooks_stage.h"

#include <algorithm>
#include <bit>

namespace galley::simulation {

using namespace director;  // NOLINT: a simulation of it

namespace {

constexpr uint64_t kActsMax = 400'000;
constexpr absl::Duration kWindow = absl::Milliseconds(200);
constexpr int kSlowness = 3;
// A load, and a save for each of two platforms.
constexpr int kLongestJobMs = kSlowness * (30 + 20 + 30);
// Measured over 10,000 seeds of several_cooks_test: a window of kWindow of expected time holds up
// to this time of work, because a job is expected to take 4 ms before anything was measured. The
// longest wait was 1,404 ms.
constexpr int kFullWindowMs = 530;
constexpr int kBrokenStreamMs = 600;  // a worker's stream breaks and comes back, more than once
// The longest job with its end, another job that waits before the full window, the window, and a
// while in which the worker's stream is broken.
constexpr absl::Duration kOvertakesWithin =
    absl::Milliseconds(2 * kLongestJobMs + 20 + kFullWindowMs + kBrokenStreamMs);
constexpr absl::Duration kUnheardMax = absl::Seconds(5);

// Failures that depend on the number of attempts are compared by their cause, not by their words.
// Nor are words compared where a cook leaves packages out: other cooks had its packages cooked, so
// that more may have failed than their inputs.
std::string TextOf(const PackageFailed& failed, const CookRequested& request) {
  const bool may_be_of_input =
      failed.cause == FailureCause::kVerdict || failed.error.starts_with("cooked input ");
  if (request.filter != nullptr && request.filter->has_never() && may_be_of_input)
    return "by itself, or for an input";
  return failed.cause == FailureCause::kProject || failed.cause == FailureCause::kVerdict
             ? failed.error
             : std::string(FailureCauseName(failed.cause));
}

std::vector<Fault> FaultsOf(bool is_calm) {
  if (is_calm) return {};
  return {Fault::kInputUnreadable, Fault::kWorkerSurvived, Fault::kFilesDeleted,
          Fault::kSegmentLost};
}

}  // namespace

CooksStage::CooksStage(const Options& options, World world)
    : Cluster(options.seed, FaultsOf(options.is_calm), std::move(world), options.is_told),
      stage_(options) {
  cook_ = {.platform_count = static_cast<uint32_t>(kPlatforms.size()),
           .workers = 2,
           .units_per_step = stage_.is_calm ? 4096u : 16u,
           .resources = {{"gpu", 1}},
           .cooks_max = stage_.cooks_max};
  if (!stage_.is_calm) {
    machine_.slowness = kSlowness;
    cook_.window = kWindow;
    cook_.unheard_max = kUnheardMax;
  }
  StartDirector();
  EverySecond();
}

// ------------------------------------------------------------------ people, and their troubles

void CooksStage::Ask(const CookOrder& order) {
  const CookRequested& request = order.request;
  asked_[request.request] = order;
  std::string line = "ask";
  for (const SelectedPackage& one : request.selected) line += " " + one.name;
  checks_.Trace(line, request.request, request.platforms, request.of_class, request.force);
  if (director_ != nullptr) director_->Add(order, /*is_again=*/false);
}

void CooksStage::Cancel(uint64_t request) {
  checks_.Trace("cancel", request);
  cancelled_.insert(request);
  if (director_ != nullptr) director_->Cancel(request);
}

void CooksStage::Edit() {
  ++edits_;
  const std::vector<std::string> edited = world_->Edit(random_);
  const bool are_seen_together = random_.Percent(50);
  for (const std::string& name : edited) {
    checks_.Trace(name + " is edited");
    if (are_seen_together && name != edited.front()) continue;
    schedule_.After(random_.Some(50),
                    [this, names = are_seen_together ? edited : std::vector{name}] {
                      if (director_ != nullptr) director_->OnFilesEdited(names);
                    });
  }
}

// Returns a worker that lives; nullptr: none does.
Cluster::Body* CooksStage::AnyBody() {
  std::vector<Body*> alive;
  for (Body& body : bodies_) {
    if (body.worker->is_alive()) alive.push_back(&body);
  }
  return alive.empty() ? nullptr : alive[random_.Below(alive.size())];
}

void CooksStage::LoseAWorker() {
  Body* const body = AnyBody();
  if (body == nullptr) return;
  body->worker->Kill();
  OnExit(static_cast<size_t>(body - bodies_.data()));
}

void CooksStage::BreakAStream() {
  if (const Body* const body = AnyBody(); body != nullptr) BreakStream(body->stream);
}

void CooksStage::LoseSome() {
  if (director_ == nullptr) return;
  director_->Damage();
  if (random_.Percent(50)) director_->Step(LossSeen{});
}

void CooksStage::Crash() {
  if (director_ == nullptr) return;
  counts_.crashes += !IsOver();
  CrashDirector();
}

// A new director goes on with the cooks that were not over.
void CooksStage::RequestCook() {
  bounds_.reset();
  in_hand_.clear();
  open_asks_.clear();
  are_renumbered_ = false;
  slots_.clear();
  came_.clear();
  committing_.clear();
  has_failed_.clear();
  for (const auto& [number, order] : asked_) {
    CookEnding& ending = endings_[number];
    if (ending.is_over) continue;
    ending = {};
    failing_.erase(number);
    told_done_.erase(number);
    settled_.erase(number);
    ending.is_over = cancelled_.contains(number);
    if (!ending.is_over) director_->Add(order, /*is_again=*/true);
  }
}

// ------------------------------------------------------------------ the end

bool CooksStage::IsOver() const {
  return director_ != nullptr && std::ranges::all_of(asked_, [&](const auto& one) {
           const auto found = endings_.find(one.first);
           return found != endings_.end() && found->second.is_over;
         });
}

void CooksStage::RunUntilOver(uint64_t requests) {
  RunUntil([&] { return asked_.size() >= requests && IsOver(); }, "a cook does not end");
}

void CooksStage::RunUntil(const std::function<bool()>& is_over, const std::string& otherwise) {
  for (uint64_t acts = 0; checks_.broken().empty() && !is_over(); ++acts) {
    if (acts > kActsMax || !RunNext()) checks_.Break("liveness: " + otherwise + Stuck());
  }
}

void CooksStage::RunFor(absl::Duration duration) {
  const absl::Duration end = schedule_.elapsed() + duration;
  while (checks_.broken().empty() && schedule_.elapsed() < end) RunNext();
}

bool CooksStage::AreWorkersIdle() const {
  return std::ranges::all_of(bodies_, [](const Body& body) {
    return !body.worker->is_alive() || (body.stream != 0 && body.worker->session().in_hand() == 0 &&
                                        body.worker->session().reports_kept() == 0);
  });
}

void CooksStage::CheckNothingIsLeft() {
  RunFor(3 * kUnheardMax);  // what nothing is heard of is forgotten after a while
  if (!checks_.broken().empty()) return;
  if (!AreWorkersIdle() || director_ == nullptr)
    return checks_.Break("liveness: a worker has something in hand after all cooks" + Stuck());
  const Holdings left = director_->core().holdings();
  const auto alive =
      std::ranges::count_if(bodies_, [](const Body& body) { return body.worker->is_alive(); });
  if (left.attempts != 0)
    checks_.Break("safety: " + std::to_string(left.attempts) + " attempts left behind");
  if (left.workers > static_cast<size_t>(alive))
    checks_.Break("safety: " + std::to_string(left.workers) + " workers, and there are " +
                  std::to_string(alive));
  if (left.commits != 0 || left.changed_files != 0)
    checks_.Break("safety: commits or changed files are left behind");
  CheckHands();
  // Promises and published roots outlive the director and the power.
  CheckPromises(director_->store());
  auto roots = director_->newest();
  // A root's record may have lain in a segment that was destroyed.
  if (!checks_.destroyed_segments.empty()) roots.clear();
  director_.reset();
  disk_.PowerCut();
  CheckStored(roots);
}

// ------------------------------------------------------------------ what is heard

void CooksStage::OnStepped(const Event& event, std::span<const Effect> effects) {
  NoteEvent(event);
  NoteAsks(event, effects);
  if (!stage_.is_calm && stage_.has_classes) LookAtClasses(effects);
  for (const Effect& effect : effects) std::visit([this](const auto& one) { HearOf(one); }, effect);
}

void CooksStage::LookAtClasses(std::span<const Effect> effects) {
  const CookCore& core = director_->core();
  if (bounds_ == nullptr)
    bounds_ = std::make_unique<ClassBounds>(core, cook_.workers, absl::Milliseconds(kLongestJobMs),
                                            kOvertakesWithin, checks_);
  const auto end = [&](std::vector<AttemptId> Desire::*list) {
    for (const Effect& effect : effects) {
      const auto* desire = std::get_if<Desire>(&effect);
      if (desire == nullptr) continue;
      for (const AttemptId attempt : desire->*list) in_hand_.erase(attempt);
    }
  };
  end(&Desire::cancel);
  // A job that is retracted and handed over in the same step moves.
  std::set<PackageId> in_hand;
  for (const auto& [attempt, given] : in_hand_) in_hand.insert(given.package);
  end(&Desire::retract);
  std::set<PackageId> asked;
  for (const auto& [ask, one] : open_asks_) {
    if (!one.is_ahead) asked.insert(one.package);
  }
  std::vector<ClassBounds::HandedOver> handed_over;
  for (const Effect& effect : effects) {
    const auto* desire = std::get_if<Desire>(&effect);
    if (desire == nullptr) continue;
    for (const Desire::Start& start : desire->start) {
      const bool is_second = !in_hand.insert(start.package).second;
      in_hand_[start.attempt] = {.worker = desire->worker,
                                 .package = start.package,
                                 .platforms = start.platforms,
                                 .is_spare = start.urgency == Urgency::kSpare};
      const Urgency urgency =
          asked.contains(start.package) ? Urgency::kBlocking : core.UrgencyOf(start.package);
      handed_over.push_back({start.package, urgency, start.urgency, start.expected, is_second});
      ++counts_.handed_over;
      counts_.moved += is_second;
    }
  }
  bounds_->Look(schedule_.now(), handed_over, asked);
  CheckSpareJobs(effects);
}

// A job begins within the time that a session takes to end an executor, as if no job ahead of need
// had its slot: with the message that gives the job to the worker, such a job is ended there.
void CooksStage::CheckSpareJobs(std::span<const Effect> effects) {
  const CookCore& core = director_->core();
  for (const Effect& effect : effects) {
    const auto* desire = std::get_if<Desire>(&effect);
    if (desire == nullptr) continue;
    const auto wanted = std::ranges::find_if(
        desire->start, [](const Desire::Start& start) { return start.urgency != Urgency::kSpare; });
    if (wanted == desire->start.end()) continue;
    uint32_t spare = 0;
    for (const auto& [attempt, given] : in_hand_) {
      spare += given.worker == desire->worker && given.is_spare && !given.has_left_slot &&
               core.UrgencyOf(given.package) == Urgency::kSpare;
    }
    if (spare > 0 && spare >= worker_slots_[desire->worker])
      checks_.Break("safety: a job ahead of need keeps the slot of " +
                    core.NameOf(wanted->package));
  }
}

// Keeps the asks that the core has not answered. A package that failed for an ask wants no result
// any more, like a package that failed for a cook.
void CooksStage::NoteAsks(const Event& event, std::span<const Effect> effects) {
  const CookCore& core = director_->core();
  if (const auto* asked = std::get_if<PackageAsked>(&event))
    open_asks_[asked->ask] = {core.Find(asked->package), asked->is_ahead};
  if (const auto* withdrawn = std::get_if<AskWithdrawn>(&event)) open_asks_.erase(withdrawn->ask);
  for (const Effect& effect : effects) {
    const auto* told = std::get_if<Notify>(&effect);
    const auto* ended = told == nullptr ? nullptr : std::get_if<AskEnded>(&told->notice);
    if (ended == nullptr) continue;
    if (open_asks_.erase(ended->ask) == 0)
      checks_.Break("safety: the core answers an ask twice, or one that was withdrawn");
    if (ended->failed.has_value()) has_failed_.insert(core.NameOf(ended->package));
  }
}

// Jobs that are over, or of workers that are gone, are in nobody's hand.
void CooksStage::NoteOver(const WorkerReport& report) {
  const auto found = in_hand_.find(report.attempt);
  if (found == in_hand_.end()) return;
  PlatformMask& left = found->second.platforms;
  if (const auto* saved = std::get_if<WorkerReport::Saved>(&report.what)) {
    left &= ~MaskOf(saved->platform);
  } else if (const auto* failed = std::get_if<WorkerReport::Failed>(&report.what)) {
    left = failed->platforms == 0 ? 0 : left & ~failed->platforms;
  } else if (!std::holds_alternative<WorkerReport::Loaded>(report.what)) {
    left = 0;
  }
  if (left == 0) in_hand_.erase(found);
}

void CooksStage::NoteEvent(const Event& event) {
  if (const auto* built = std::get_if<RootBuilt>(&event)) counts_.made_again += built->lost.size();
  are_renumbered_ |= std::holds_alternative<PlatformsChanged>(event);
  if (const auto* found = std::get_if<LostFound>(&event)) counts_.made_again += found->lost.size();
  if (const auto* persisted = std::get_if<Persisted>(&event)) {
    for (const Persisted::Item& item : persisted->items) {
      if (persisted->error.empty() && item.refused.empty())
        committed_.insert({director_->core().NameOf(item.package), item.platform});
    }
  }
  if (const auto* lost = std::get_if<WorkerLost>(&event))
    std::erase_if(in_hand_, [&](const auto& one) { return one.second.worker == lost->worker; });
  if (const auto* uploads = std::get_if<WorkerUploads>(&event)) {
    for (const AttemptId attempt : uploads->attempts) {
      if (in_hand_.contains(attempt)) in_hand_.at(attempt).has_left_slot = true;
    }
  }
  if (const auto* came = std::get_if<WorkerAttached>(&event)) {
    worker_slots_[came->worker] = came->slots;
    for (const AttemptId attempt : came->uploading) {
      if (in_hand_.contains(attempt)) in_hand_.at(attempt).has_left_slot = true;
    }
    const std::set<AttemptId> kept(came->in_hand.begin(), came->in_hand.end());
    std::erase_if(in_hand_, [&](const auto& one) {
      return one.second.worker == came->worker && !kept.contains(one.first);
    });
  }
  const auto* reported = std::get_if<WorkerReported>(&event);
  if (reported == nullptr) return;
  for (const WorkerReport& report : reported->reports) {
    NoteOver(report);
    if (const auto* saved = std::get_if<WorkerReport::Saved>(&report.what))
      came_[{reported->worker, report.report}] = director_->results().Get(saved->result->id);
  }
}

// A result is acknowledged when some result of its package is durable or will be; or the package
// has failed, and wants none.
void CooksStage::HearOf(const Desire& effect) {
  for (const ReportId report : effect.persisted) {
    const auto came = came_.find({effect.worker, report});
    if (came == came_.end()) continue;
    if (WasRefused(*came->second))
      checks_.Break("safety: the only result of " + came->second->package + " was refused");
    came_.erase(came);
  }
}

// Results have the numbers that the platforms had when their jobs were handed over. Nobody is told
// when a package fails that is only needed by a package that is asked for.
bool CooksStage::WasRefused(const StoredResult& stored) const {
  const std::pair of(stored.package, stored.platform);
  if (are_renumbered_ || committed_.contains(of) || committing_.contains(of)) return false;
  const CookCore& core = director_->core();
  const PackageId package = core.Find(stored.package);
  return !has_failed_.contains(stored.package) &&
         !(package.valid() && core.StateText(package) == "Idle, failed");
}

void CooksStage::HearOf(const Persist& effect) {
  for (const Persist::Item& item : effect.items)
    committing_.insert({director_->core().NameOf(item.package), item.platform});
}

void CooksStage::HearOf(const BuildRoot& effect) {
  Settled& settled = settled_[effect.request];
  if (settled.files.empty() || settled.round != effect.round ||
      settled.is_difference != effect.is_difference) {
    CookEnding& ending = endings_[effect.request];
    ending.was_opened_after_publishing |= !ending.roots.empty();
    settled = {.round = effect.round,
               .is_difference = effect.is_difference,
               .files = director_->files(),
               .named = {}};
  }
  std::vector<std::string>& named = settled.named[effect.platform];
  named.clear();
  for (const auto& [package, id] : effect.packages) {
    const StoredResultPtr result = director_->results().Get(id);
    named.push_back(result->package);
    if (!told_done_[effect.request].contains({result->package, effect.platform}))
      checks_.Break("safety: a cook was not told of " + result->package + " in its root");
    if (director_->core().NameOf(package) != result->package || result->platform != effect.platform)
      checks_.Break("safety: another's result in the root: " + result->package);
  }
}

void CooksStage::HearOf(const PublishRoot& effect) {
  const Files& files = settled_[effect.request].files;
  counts_.apart += std::ranges::any_of(settled_, [&](const auto& one) {
    return one.first != effect.request && one.second.files != files &&
           director_->core().is_publishing(one.first);
  });
  endings_[effect.request].roots[effect.platform] = effect.root.ToString();
}

void CooksStage::OnEnded(const CookEnded& ended, const std::map<std::string, Digest>& published) {
  closed_ = ended.request;
  const CookEnding& ending = endings_.at(closed_);
  for (PlatformIndex p = 0; p < kPlatforms.size(); ++p) {
    const auto decided = ending.roots.find(p);
    const auto found = published.find(kPlatforms[p]);
    const bool is_published = found != published.end();
    // A root without a file is published only with others' files.
    const bool may_be_left_out =
        !ending.is_whole || decided == ending.roots.end() || InRoot(closed_, p).empty();
    const bool is_decided = decided != ending.roots.end() && is_published &&
                            decided->second == found->second.ToString();
    if (is_published ? !is_decided : !may_be_left_out)
      checks_.Break("safety: another root was published than was decided, for " + kPlatforms[p]);
  }
}

void CooksStage::HearOf(const Notify& effect) {
  if (const auto* began = std::get_if<CookBegan>(&effect.notice)) {
    if (slots_.contains(began->slot)) checks_.Break("safety: two cooks in one slot");
    slots_[began->slot] = began->request;
    counts_.at_once = std::max<uint64_t>(counts_.at_once, slots_.size());
  }
  if (std::holds_alternative<PackageDone>(effect.notice))
    counts_.shared += std::popcount(effect.cooks) > 1;
  const auto* ended = std::get_if<CookEnded>(&effect.notice);
  if (ended != nullptr) NoteEnded(*ended);
  for (CookMask cooks = effect.cooks; cooks != 0; cooks &= cooks - 1) {
    const auto slot = static_cast<CookSlot>(std::countr_zero(cooks));
    if (!slots_.contains(slot)) {
      checks_.Break("safety: news for a cook that does not run");
      continue;
    }
    Take(slots_.at(slot), effect.notice);
    if (ended == nullptr) continue;
    counts_.resumed += director_->core().counters(ended->request).jobs_resumed;
    slots_.erase(slot);
  }
}

void CooksStage::NoteEnded(const CookEnded& ended) {
  CookEnding& ending = endings_[ended.request];
  checks_.Trace("ended " + ended.infrastructure_error, ended.request);
  if (ending.is_over) checks_.Break("safety: a cook ended twice");
  ending.is_over = true;
  if (ended.is_empty) {
    ending.roots.clear();
    settled_[ended.request].files = director_->files();
  }
  ending.is_whole =
      !ended.is_interrupted && !ended.is_fail_fast && ended.infrastructure_error.empty();
  // A look-up may find another result that is lost as well, so that each loss counts twice.
  const FaultCounts& faults = faults_.counts();
  const uint64_t losses = faults[static_cast<size_t>(Fault::kFilesDeleted)] +
                          faults[static_cast<size_t>(Fault::kSegmentLost)];
  const bool has_lost_much =
      losses > 1 && ended.infrastructure_error.starts_with("the store dropped");
  if (!ended.infrastructure_error.empty() && !has_lost_much)
    checks_.Break("safety: ended for no reason: " + ended.infrastructure_error + Stuck());
}

void CooksStage::Take(uint64_t request, const Notice& notice) {
  const CookCore& core = director_->core();
  CookEnding& ending = endings_[request];
  Failing& now = failing_[request];
  if (const auto* done = std::get_if<PackageDone>(&notice)) {
    const std::string& name = core.NameOf(done->package);
    told_done_[request].insert({name, done->platform});
    ending.members.insert(name);
    now.erase({name, done->platform});
  } else if (const auto* left = std::get_if<PackageLeft>(&notice)) {
    const std::string& name = core.NameOf(left->package);
    ending.members.erase(name);
    std::erase_if(now, [&](const auto& one) { return one.first.first == name; });
    std::erase_if(told_done_[request], [&](const auto& one) { return one.first == name; });
  } else if (const auto* failed = std::get_if<PackageFailed>(&notice)) {
    const std::string& name = core.NameOf(failed->package);
    has_failed_.insert(name);
    ending.members.insert(name);
    for (PlatformIndex p = 0; p < kPlatforms.size(); ++p) {
      if ((asked_.at(request).request.platforms & MaskOf(p)) &&
          (!failed->platform || failed->platform == p))
        now[{name, p}] = TextOf(*failed, asked_.at(request).request);
    }
  } else if (const auto* warned = std::get_if<PackageWarned>(&notice)) {
    const std::string text = core.NameOf(warned->package) + ": " + warned->text;
    if (warned->text.find("Unsolicited") == std::string::npos &&
        !ending.warnings.insert(text).second)
      checks_.Break("safety: a cook warns twice of the same: " + text);
  } else if (std::holds_alternative<CookEnded>(notice)) {
    for (const auto& [where, text] : now)
      ending.failures.insert(where.first + " " + std::to_string(where.second) + ": " + text);
    const uint64_t counted = core.counters(request).results_failed;
    if (ending.is_whole && counted != now.size())
      checks_.Break("safety: a cook counts other failures than it was told of: " +
                    std::to_string(counted) + ", " + std::to_string(now.size()));
  }
}

}  // namespace galley::simulation
