#include "tests/simulation/sim_director.h"

#include <algorithm>

#include "common/record/action.h"
#include "common/store/interface/named_blobs.h"
#include "common/wire/convert.h"
#include "director/shell/known_result.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

namespace {

const std::string kTrust = "main";
const Digest& RecipeOfAll() {
  static const Digest& digest = *new Digest(record::RecipeDigest(World::recipe()));
  return digest;
}

}  // namespace

std::string SimDirector::NameOf(WorkerId worker) {
  return worker.value() >= kForeignWorkers
             ? "foreign-" + std::to_string(worker.value() - kForeignWorkers)
             : "local-" + std::to_string(worker.value() + 1);
}

WorkerId SimDirector::WorkerOf(const std::string& name) {
  const auto number =
      static_cast<uint32_t>(std::strtoul(name.substr(name.rfind('-') + 1).c_str(), nullptr, 10));
  return WorkerId(name.starts_with("foreign-") ? kForeignWorkers + number : number - 1);
}

SimDirector::SimDirector(const Deps& deps, const CookOptions& options, Callbacks callbacks,
                         const std::set<std::string>& survivors)
    : deps_(deps),
      callbacks_(std::move(callbacks)),
      options_(options),
      fenced_(std::make_unique<SimStore>(deps.disk),
              [this] {
                return is_overtaken_ ? absl::FailedPreconditionError("this cook was overtaken")
                                     : absl::OkStatus();
              }),
      store_(static_cast<SimStore&>(fenced_.inner())),
      journal_(deps.disk) {
  journal_.Fence([this] {
    return is_overtaken_ ? absl::FailedPreconditionError("this cook was overtaken")
                         : absl::OkStatus();
  });
  // I9: only the director of the highest term makes anything durable.
  store_.wrote = journal_.wrote = [this] {
    if (is_overtaken_) deps_.checks.Break("safety: a director that was overtaken wrote");
  };
  NoteKept();
  store_.commit_fails = [this] { return deps_.faults.Happens(Fault::kCommitFailed, 8); };
  ApplyTheDifference();
  CookOptions with_term = options_;
  with_term.term = journal_.meta().term;
  core_ = std::make_unique<CookCore>(with_term, deps_.catalog, 1);
  task_free_at_ = deps_.schedule.now();
  TakeOver(survivors);
}

SimDirector::~SimDirector() = default;

void SimDirector::After(absl::Duration delay, std::function<void()> act) {
  deps_.schedule.After(delay, [this, life = std::weak_ptr(life_), act = std::move(act)] {
    if (!life.expired()) Run(act);
  });
}

void SimDirector::Run(const std::function<void()>& act) {
  if (is_stopped_) {
    waiting_.push_back(act);
    return;
  }
  deps_.disk.set_is_director(!is_overtaken_);
  act();
  deps_.disk.set_is_director(true);
}

void SimDirector::WakeOvertaken() {
  is_stopped_ = false;
  is_overtaken_ = true;
  deps_.checks.Trace("the stopped director wakes");
  for (std::function<void()>& act : std::exchange(waiting_, {}))
    After(absl::ZeroDuration(), std::move(act));
}

// What a director before this one made is not made again (I7).
void SimDirector::NoteKept() {
  for (const Digest& key : store_.keys()) {
    const auto held = store_.Results(std::span(&key, 1));
    if ((*held)[0].has_value() && store_.IsSafe(key)) kept_.insert(key);
  }
}

void SimDirector::ForgetLost() {
  std::erase_if(kept_, [&](const Digest& key) {
    return !(*store_.Results(std::span(&key, 1)))[0].has_value();
  });
}

// The product has no collector yet (its store drops nothing by itself): this one is the
// simulation's, and so is its sabotage.
void SimDirector::Collect() {
  const std::set<Digest> leased = Leased();
  for (const Digest& digest : store_.blobs()) {
    if (leased.contains(digest) && !IsSabotaged(Sabotage::kEvictLeasedBlob)) continue;
    if (!deps_.faults.Happens(Fault::kBlobCollected, 20)) continue;
    deps_.checks.Trace("collected: " + digest.hex());
    store_.Evict(digest);
  }
  ForgetLost();
}

void SimDirector::Rot() {
  const std::vector<Digest> blobs = store_.blobs();
  if (blobs.empty()) return;
  const Digest& digest = blobs[deps_.random.Below(blobs.size())];
  if (!store_.Rot(digest, deps_.random)) return;
  deps_.faults.Count(Fault::kBitsRotten);
  deps_.checks.rotten.insert(digest);
  deps_.checks.Trace("rotten: " + digest.hex());
}

std::set<Digest> SimDirector::Leased() {
  std::set<Digest> leased;
  const auto lease = [&](const record::Result& result) {
    std::vector<Digest> named;
    store::AppendNamedBlobs(result, named);
    leased.insert(named.begin(), named.end());
  };
  (void)journal_.ForEach([&](std::string_view, const PackageRecord& record) {
    for (const auto& [platform, one] : record.platforms) {
      if (const auto result = record::DecodeResult(one.result); result.ok()) lease(*result);
    }
  });
  for (uint32_t i = 0; results_.Get(ResultId(i)) != nullptr; ++i)
    lease(results_.Get(ResultId(i))->result);
  for (const auto& [digest, location] : locations_) leased.insert(digest);
  for (const auto& [platform, root] : built_) leased.insert(root);
  return leased;
}

bool SimDirector::Stage() {
  for (const auto& [platform, tree] : roots_) {
    for (const auto& [name, digest] : tree) {
      const auto blob = store_.Get(digest);
      if (!blob.ok()) return false;
      if (Digest::Of(**blob) != digest)
        deps_.checks.Break("safety: wrong bytes were handed out: " + name);
    }
  }
  return true;
}

void SimDirector::LookAtInputs(const Given& given) {
  std::vector<GivenBlob> blobs;
  for (const auto& [of, digest] : given.cooked) blobs.push_back({digest, of.first});
  if (given.generated_source) {
    const std::string generator = given.name.substr(0, given.name.rfind("/_gen/"));
    blobs.push_back({*given.generated_source, generator});
  }
  for (GivenBlob& blob : blobs) blob.is_reported = locations_.contains(blob.digest);
  if (blobs.empty()) return;
  PostTask(20, [this, blobs] {
    const auto packages = DistrustUnreadable(fenced_, journal_, blobs);
    if (!packages.ok() || packages->empty()) return;
    ForgetLost();
    Answer(10, [this, packages = *packages] {
      for (const std::string& name : packages) deps_.checks.Trace("made again: " + name);
      callbacks_.cleared(packages);
      Step(PackagesCleared{packages});
    });
  });
}

void SimDirector::PostTask(int64_t ms_max, std::function<void()> task) {
  task_free_at_ = std::max(task_free_at_, deps_.schedule.now()) + deps_.random.Some(ms_max);
  After(task_free_at_ - deps_.schedule.now(), std::move(task));
}

void SimDirector::Answer(int64_t ms_max, std::function<void()> act) {
  answered_at_ = std::max(answered_at_, deps_.schedule.now() + deps_.random.Some(ms_max));
  After(answered_at_ - deps_.schedule.now(), std::move(act));
}

SimDirector::SnapshotPtr SimDirector::MakeSnapshot(uint64_t number, const std::string& file,
                                                   std::map<std::string, uint32_t> versions,
                                                   std::vector<std::string> platforms) {
  deps_.tables[file] = {versions, platforms};
  return std::make_shared<Snapshot>(
      Snapshot{number, file, std::move(versions), std::move(platforms)});
}

SimDirector::SnapshotPtr SimDirector::Successor(std::map<std::string, uint32_t> versions,
                                                std::vector<std::string> platforms) {
  const uint64_t number = commit_snapshot_->number + 1;
  return MakeSnapshot(
      number, "snapshot-" + std::to_string(term()) + "." + std::to_string(number) + ".table",
      std::move(versions), std::move(platforms));
}

// As CookSession does it: what the difference of the files affects is not trusted any more, nor
// what lost its bytes; in one write with the new term.
void SimDirector::ApplyTheDifference() {
  JournalMeta meta = journal_.meta();
  const store::StoreInfo info = *store_.Info();
  const std::string old_table = meta.table_file;
  const bool same_epoch = meta.loss_epoch == info.loss_epoch;
  ++meta.term;
  meta.project_id = "project";
  meta.store_id = info.store_id;
  meta.loss_epoch = info.loss_epoch;
  meta.table_file = "snapshot-" + std::to_string(meta.term) + ".table";
  snapshot_ = commit_snapshot_ =
      MakeSnapshot(1, meta.table_file, deps_.world.versions(), kPlatforms);
  std::vector<content::Change> changes;
  for (const auto& [name, version] : snapshot_->versions) {
    if (deps_.tables[old_table].versions[name] != version)
      changes.push_back({.path = name, .was_there = true, .is_there = true});
  }
  std::vector<std::string> affected;
  if (!old_table.empty()) affected = *journal_.Affected(changes);
  if (!same_epoch || old_table.empty()) {
    (void)journal_.ForEach([&](std::string_view name, const PackageRecord& record) {
      for (const auto& [platform, one] : record.platforms) {
        const auto result = record::DecodeResult(one.result);
        bool is_lost = !result.ok() || old_table.empty();
        for (size_t i = 0; !is_lost && i < result->outputs.size(); ++i)
          is_lost = !store_.LocationOf(result->outputs[i].digest);
        for (size_t i = 0; !is_lost && i < result->details.generated.size(); ++i)
          is_lost = !store_.LocationOf(result->details.generated[i].source);
        if (is_lost) affected.emplace_back(name);
      }
    });
  }
  if (!journal_.Invalidate(affected, meta).ok()) {
    // The journal cannot be written: this start failed, the next may do better.
    throw Disk::Crash();
  }
}

// As CookSession and DirectorShell do it.
void SimDirector::TakeOver(const std::set<std::string>& survivors) {
  const JournalProgress before = *journal_.Progress();
  for (const BlameRecord& one : before.blamed)
    blamed_before_.push_back({one.package, one.own_faults, one.what, one.error, one.log});
  WorkersSurvived survived;
  for (const std::string& name : survivors) {
    survived.workers.push_back(WorkerOf(name));
    survived.first_free = std::max(survived.first_free, WorkerOf(name).value() + 1);
  }
  JournalProgress dead;
  for (const AttemptRecord& given : before.given) {
    if (!survivors.contains(given.worker)) {
      dead.over.push_back(given.attempt);
      continue;
    }
    PlatformMask platforms = 0;
    bool are_others = false;  // the platforms, now
    for (const AttemptRecord::Target& target : given.targets) {
      are_others |= target.platform >= snapshot_->platforms.size() ||
                    snapshot_->platforms[target.platform] != target.name;
      platforms |= MaskOf(target.platform);
    }
    if (are_others) continue;
    survived.given.push_back(
        {given.attempt, WorkerOf(given.worker), given.package, platforms, given.generated_source});
    given_[given.attempt] = {.name = given.package,
                             .platforms = platforms,
                             .platform_names = snapshot_->platforms,
                             .generated_source = given.generated_source};
  }
  (void)journal_.RecordProgress(dead);
  Step(survived);
  for (auto& [attempt, given] : given_) given.package = core_->Find(given.name);
}

void SimDirector::Request(CookRequested request) {
  is_forced_ = request.force;
  request.blamed = std::exchange(blamed_before_, {});
  last_build_.clear();
  cook_snapshot_ = snapshot_;
  After(absl::Milliseconds(1), [this, request] { Step(request); });
  if (requests_++ > 0) return;
  struct Ticker {
    static void Run(SimDirector* self) {
      self->Step(Tick{});
      self->After(absl::Milliseconds(100), [self] { Run(self); });
    }
  };
  After(absl::Milliseconds(100), [this] { Ticker::Run(this); });
}

void SimDirector::Cancel() {
  After(absl::ZeroDuration(), [this] { Step(CancelRequested{}); });
}

void SimDirector::Step(const Event& event) {
  std::vector<Effect> effects;
  core_->Step(deps_.schedule.now(), event, effects);
  for (size_t turns = 0; core_->has_agenda(); ++turns) {
    if (turns > 100'000) return deps_.checks.Break("liveness: the agenda never ends");
    core_->Step(deps_.schedule.now(), Tick{}, effects);
  }
  core_->CheckInvariants();
  for (const Effect& effect : effects) std::visit([this](const auto& e) { Do(e); }, effect);
}

// ------------------------------------------------------------------ look-ups

SimDirector::Inputs SimDirector::InputsOf(PackageId package,
                                          const std::vector<CookedResult>& cooked) const {
  Inputs inputs;
  for (const CookedResult& one : cooked) {
    const StoredResultPtr stored = results_.Get(one.result);
    if (stored != nullptr && !stored->result.outputs.empty())
      inputs.cooked[{core_->NameOf(one.package), one.platform}] = stored->result.outputs[0].digest;
  }
  if (const record::Generated* generated = core_->GeneratedOf(package))
    inputs.generated_source = generated->source;
  return inputs;
}

Digest SimDirector::SourceOf(const Snapshot& snapshot, const std::string& name,
                             const Inputs& inputs) const {
  if (inputs.generated_source) return *inputs.generated_source;
  const auto version = snapshot.versions.find(name);
  return Digest::Of(
      World::SourceBytes(name, version == snapshot.versions.end() ? 0 : version->second));
}

std::optional<std::string> SimDirector::ValueOf(const Snapshot& snapshot,
                                                const record::Observation& what, uint32_t platform,
                                                const std::string& platform_name,
                                                const Inputs& inputs, std::string* needs) const {
  switch (what.kind) {
    case record::ObservationKind::kFile: {
      const auto version = snapshot.versions.find(what.subject);
      if (version == snapshot.versions.end()) return "absent";
      return Digest::Of(World::SourceBytes(what.subject, version->second)).ToString();
    }
    case record::ObservationKind::kPlatform:
      return "=" + platform_name;
    case record::ObservationKind::kCooked: {
      const auto found = inputs.cooked.find({what.subject, platform});
      if (found != inputs.cooked.end()) return found->second.ToString();
      *needs = what.subject;
      return std::nullopt;
    }
    default:
      return "";
  }
}

std::optional<LookedUp::Item> SimDirector::FromJournal(const LookUp::Item& item, uint32_t platform,
                                                       const std::string& platform_name,
                                                       const Inputs& inputs) {
  const std::string& name = core_->NameOf(item.package);
  const auto package = journal_.Find(name);
  if (!package.ok() || !package->has_value()) return std::nullopt;
  const auto found = (*package)->platforms.find(platform_name);
  if (found == (*package)->platforms.end()) return std::nullopt;
  const PlatformRecord& record = found->second;
  JournalAnswer known = AskJournal(
      record,
      {.package = name,
       .platform = static_cast<PlatformIndex>(platform),
       .platform_name = platform_name,
       .recipe = RecipeOfAll(),
       .generated_source = inputs.generated_source,
       .value_of = [&](const record::Observation& what,
                       std::string* needed) -> absl::StatusOr<std::string> {
         return ValueOf(*snapshot_, what, platform, platform_name, inputs, needed).value_or("");
       }});
  LookedUp::Item answer{item.package, static_cast<PlatformIndex>(platform), item.generation,
                        LookedUp::Miss{}};
  if (auto* needs = std::get_if<LookedUp::NeedsCooked>(&known)) {
    answer.outcome = std::move(*needs);
    return answer;
  }
  auto* stored = std::get_if<std::shared_ptr<StoredResult>>(&known);
  if (stored == nullptr) return std::nullopt;
  const bool is_published = (*stored)->is_published;
  answer.outcome = LookedUp::Hit{results_.Add(std::move(*stored)), is_published};
  return answer;
}

LookedUp::Item SimDirector::LookUpOne(const LookUp::Item& item, uint32_t platform,
                                      const std::string& platform_name) {
  const Inputs inputs = InputsOf(item.package, item.cooked);
  if (auto known = FromJournal(item, platform, platform_name, inputs)) return *std::move(known);
  LookedUp::Item answer{item.package, static_cast<PlatformIndex>(platform), item.generation,
                        LookedUp::Miss{}};
  const std::string& name = core_->NameOf(item.package);
  const Digest source = SourceOf(*snapshot_, name, inputs);
  const Digest weak = record::WeakKey(source, RecipeOfAll(), kTrust);
  LookedUp::NeedsCooked needs;
  const auto sets = *store_.ObservationSets(std::span(&weak, 1));
  for (const std::string& encoded : sets[0]) {
    std::vector<record::Observed> observed;
    const record::ObservationSet set = *record::DecodeSet(encoded);
    for (const record::Observation& what : set) {
      std::string need;
      const auto value = ValueOf(*snapshot_, what, platform, platform_name, inputs, &need);
      if (!value) needs.packages.push_back(need);
      observed.push_back({what, value.value_or("")});
    }
    if (!needs.packages.empty()) continue;
    const Digest key = *record::ActionKey({.recipe = World::recipe(),
                                           .source = source,
                                           .observed = observed,
                                           .trust_domain = kTrust});
    const auto held = *store_.Results(std::span(&key, 1));
    if (!held[0]) continue;
    auto stored = std::make_shared<StoredResult>();
    stored->package = name;
    stored->platform = platform;
    stored->platform_name = platform_name;
    stored->result = *record::DecodeResult(*held[0]);
    stored->encoded = *held[0];
    stored->recipe = RecipeOfAll();
    stored->recipe_bytes = record::EncodeRecipe(World::recipe());
    stored->source = source;
    stored->weak_key = weak;
    stored->action_key = key;
    stored->observed = std::move(observed);
    stored->last_cook.source = "cached";
    for (const record::Output& output : stored->result.outputs) {
      if (!store_.LocationOf(output.digest))
        deps_.checks.Break("safety: a result was served whose bytes are gone: " + name);
    }
    answer.outcome = LookedUp::Hit{results_.Add(std::move(stored)), false};
    return answer;
  }
  if (!needs.packages.empty()) answer.outcome = needs;
  return answer;
}

void SimDirector::Do(const LookUp& effect) {
  for (const LookUp::Item& item : effect.items) {
    deps_.checks.Trace("look up " + core_->NameOf(item.package), item.platforms, item.generation);
    if (is_forced_)
      deps_.checks.Break("safety: looked up though forced: " + core_->NameOf(item.package));
  }
  LookUpSoon(effect, snapshot_->platforms);
}

// An answer that a new snapshot overtook is not given: the question is asked again.
void SimDirector::LookUpSoon(const LookUp& effect, const std::vector<std::string>& platforms) {
  After(deps_.random.Some(20), [this, effect, platforms] {
    LookedUp answer;
    for (const LookUp::Item& item : effect.items) {
      for (PlatformIndex p = 0; p < platforms.size(); ++p) {
        if (item.platforms & MaskOf(p)) answer.items.push_back(LookUpOne(item, p, platforms[p]));
      }
    }
    After(deps_.random.Some(20), [this, effect, platforms, answer, asked = snapshot_] {
      if (snapshot_ != asked) return LookUpSoon(effect, platforms);
      for (const LookedUp::Item& item : answer.items) {
        const auto* hit = std::get_if<LookedUp::Hit>(&item.outcome);
        if (hit != nullptr && !results_.Get(hit->result->id)->is_in_journal)
          unjournaled_.insert(hit->result->id);
      }
      Step(answer);
    });
  });
}

// ------------------------------------------------------------------ workers

void SimDirector::Send(const std::string& worker, v1::ToWorker message) {
  const auto stream = streams_.find(worker);
  if (stream == streams_.end()) return;
  message.set_sequence(conversations_[stream->second].Send(deps_.schedule.now()));
  callbacks_.send(stream->second, std::move(message));
}

void SimDirector::OnMessage(const std::string& worker, uint64_t stream,
                            const v1::FromWorker& message) {
  const auto heard = conversations_[stream].Receive(message.sequence(), message.acknowledged(),
                                                    deps_.schedule.now());
  if (heard == wire::Conversation::Heard::kDoubled) return;
  if (heard == wire::Conversation::Heard::kBroken) {
    if (const auto present = streams_.find(worker);
        present != streams_.end() && present->second == stream)
      streams_.erase(present);
    return callbacks_.hang_up(stream);
  }
  const WorkerId id = WorkerOf(worker);
  // Of a stream that another took the place of: what it says is said again on that one.
  if (const auto present = streams_.find(worker);
      !message.has_hello() && (present == streams_.end() || present->second != stream))
    return callbacks_.hang_up(stream);
  if (message.has_hello()) {
    streams_[worker] = stream;
    v1::ToWorker welcome;
    welcome.mutable_welcome()->set_protocol(1);
    welcome.mutable_welcome()->set_term(term());
    welcome.mutable_welcome()->set_timeout_us_default(60'000'000);
    welcome.mutable_snapshot()->set_number(snapshot_->number);
    welcome.mutable_snapshot()->set_table_file(snapshot_->file);
    welcome.add_segments(*store_.AllocateSegment());
    Send(worker, std::move(welcome));
    WorkerAttached attached{.worker = id, .slots = message.hello().slots()};
    attached.in_hand.assign(message.in_hand().begin(), message.in_hand().end());
    attached.session = static_cast<uint64_t>(message.hello().pid());
    attached.persisted = message.hello().persisted();
    attached.begun.assign(message.begun().begin(), message.begun().end());
    deps_.checks.Trace("attach", id.value(), attached.in_hand.size());
    Step(attached);
  }
  if (!message.unfit().empty()) Step(WorkerUnfit{id, message.unfit()});
  if (message.reports().empty()) return Step(WorkerAlive{id});
  WorkerReported reported{.worker = id};
  for (const v1::Report& report : message.reports()) {
    reported.reports.push_back(Read(report));
    if (report.has_ended()) progress_.over.push_back(report.attempt());
    if (const auto* saved = std::get_if<WorkerReport::Saved>(&reported.reports.back().what)) {
      unjournaled_.insert(saved->result->id);
      reported_[{worker, report.report()}] = saved->result->id;
    }
  }
  Step(reported);
}

void SimDirector::OnWorkerGone(WorkerId worker, const std::string& reason, bool never_started) {
  streams_.erase(NameOf(worker));
  if (never_started) return Step(LauncherReported{worker, reason});
  Step(WorkerLost{worker, reason, true});
}

WorkerReport SimDirector::Read(const v1::Report& wire) {
  WorkerReport report{
      .report = wire.report(), .attempt = wire.attempt(), .what = WorkerReport::Ended{}};
  const auto found = given_.find(wire.attempt());
  if (found == given_.end()) return report;
  const Given& given = found->second;
  if (wire.has_loaded()) {
    auto details = record::DecodeDetails(wire.loaded().details());
    auto view = std::make_shared<ResultView>();
    view->references = std::move(details->references);
    view->generated = std::move(details->generated);
    PlatformMask platforms = 0;
    for (const uint32_t platform : wire.loaded().platforms()) platforms |= MaskOf(platform);
    for (const v1::BlobWritten& blob : wire.loaded().blobs())
      locations_[*wire::FromProto(blob.digest())] = {blob.segment(), blob.offset()};
    report.what = WorkerReport::Loaded{.platforms = platforms & given.platforms,
                                       .so_far = std::move(view),
                                       .load_time = absl::Microseconds(wire.loaded().load_us())};
  } else if (wire.has_saved()) {
    ReadSaved(given, wire.saved(), report);
  } else if (wire.has_needs()) {
    report.what = WorkerReport::Needs{wire.needs().package(), wire.needs().platform()};
  } else if (wire.has_stale()) {
    report.what = WorkerReport::Stale{wire.stale().path()};
  } else if (wire.has_failed() && wire.failed().cause() == v1::Failed::VERDICT) {
    ReadSaved(given, wire.failed().verdict(), report);
  } else if (wire.has_failed()) {
    const v1::Failed& failed = wire.failed();
    if (failed.cause() == v1::Failed::INFRASTRUCTURE && !failed.executor_lost())
      LookAtInputs(given);
    WorkerReport::Failed out{.error = failed.error(), .executor_lost = failed.executor_lost()};
    out.fault = failed.cause() == v1::Failed::CRASHED ? WorkerReport::Fault::kCrashed
                : failed.cause() == v1::Failed::CAUSE_UNKNOWN
                    ? WorkerReport::Fault::kRefused
                    : WorkerReport::Fault::kInfrastructure;
    for (const uint32_t platform : failed.platforms()) out.platforms |= MaskOf(platform);
    report.what = std::move(out);
  }
  return report;
}

// As ReportReader: the key is computed here, and what does not fit is a failure of the machine.
void SimDirector::ReadSaved(const Given& given, const v1::Saved& saved, WorkerReport& report) {
  const auto refuse = [&](const std::string& why) {
    report.what = WorkerReport::Failed{.fault = WorkerReport::Fault::kInfrastructure, .error = why};
  };
  if (saved.platform() >= given.platform_names.size() ||
      (given.platforms & MaskOf(saved.platform())) == 0)
    return refuse("a platform that the attempt does not have");
  auto stored = std::make_shared<StoredResult>();
  stored->package = given.name;
  stored->platform = saved.platform();
  const std::string& platform_name = given.platform_names[saved.platform()];
  stored->platform_name = platform_name;
  stored->source = *wire::FromProto(saved.source());
  stored->observed = *record::Canonical(*wire::ObservedFromProto(saved.observed()));
  auto result = record::DecodeResult(saved.result());
  if (!result.ok()) return refuse("a result that is none");
  stored->result = *std::move(result);
  stored->encoded = saved.result();
  stored->recipe = RecipeOfAll();
  stored->recipe_bytes = record::EncodeRecipe(World::recipe());
  stored->weak_key = record::WeakKey(stored->source, stored->recipe, kTrust);
  stored->action_key = *record::ActionKey({.recipe = World::recipe(),
                                           .source = stored->source,
                                           .observed = stored->observed,
                                           .trust_domain = kTrust});
  for (const v1::BlobWritten& blob : saved.blobs()) {
    const store::BlobLocation location{blob.segment(), blob.offset()};
    stored->blobs.emplace_back(*wire::FromProto(blob.digest()), location);
    locations_[stored->blobs.back().first] = location;
  }
  const Inputs inputs{.cooked = given.cooked, .generated_source = given.generated_source};
  bool is_current = stored->source == SourceOf(*snapshot_, given.name, inputs);
  for (const record::Observed& one : stored->observed) {
    std::string need;
    is_current = is_current && ValueOf(*snapshot_, one.what, saved.platform(), platform_name,
                                       inputs, &need) == one.value;
  }
  const ResultViewPtr view = results_.Add(std::move(stored));
  // An earlier director may have had it made durable and died before it said so.
  const bool is_survivors = report.attempt >> 40 != term();
  if (!is_current || is_survivors) outdated_.insert(view->id);
  report.what = WorkerReport::Saved{.platform = static_cast<PlatformIndex>(saved.platform()),
                                    .result = view,
                                    .save_time = absl::Microseconds(saved.save_us()),
                                    .shared = saved.shared(),
                                    .is_current = is_current};
}

void SimDirector::AddBlob(const Digest& digest, v1::Job& job) {
  std::optional<store::BlobLocation> location = store_.LocationOf(digest);
  if (const auto said = locations_.find(digest); !location && said != locations_.end())
    location = said->second;
  if (!location) return;
  v1::BlobWritten* blob = job.add_blobs();
  wire::ToProto(digest, blob->mutable_digest());
  blob->set_segment(location->segment);
  blob->set_offset(location->offset);
}

// What is over goes behind the results that it brought.
void SimDirector::RecordProgress() {
  JournalProgress now{.given = std::exchange(progress_.given, {}),
                      .blamed = std::exchange(progress_.blamed, {})};
  if (pending_commit_.empty()) now.over = std::exchange(progress_.over, {});
  if (!now.empty())
    PostTask(5, [this, now = std::move(now)] { (void)journal_.RecordProgress(now); });
}

void SimDirector::FillJob(const std::string& worker, const Desire::Start& start,
                          v1::ToWorker& message) {
  Given given{
      .package = start.package, .name = core_->NameOf(start.package), .platforms = start.platforms};
  v1::Job& job = *message.add_start();
  job.set_attempt(start.attempt);
  job.set_package(given.name);
  job.set_snapshot(snapshot_->number);
  job.set_expected_us(absl::ToInt64Microseconds(start.expected));
  const Inputs inputs = InputsOf(start.package, start.cooked);
  given.generated_source = inputs.generated_source;
  given.cooked = inputs.cooked;
  if (inputs.generated_source) {
    wire::ToProto(*inputs.generated_source, job.mutable_generated_source());
    AddBlob(*inputs.generated_source, job);
  }
  given.platform_names = snapshot_->platforms;
  for (PlatformIndex p = 0; p < platform_count(); ++p) {
    if (start.platforms & MaskOf(p)) job.add_targets()->set_platform(p);
  }
  for (const auto& [of, digest] : inputs.cooked) {
    v1::CookedInput* input = job.add_cooked();
    input->set_package(of.first);
    input->set_platform(of.second);
    v1::CookedOutput* output = input->add_outputs();
    output->set_suffix(".out");
    wire::ToProto(digest, output->mutable_digest());
    AddBlob(digest, job);
  }
  AttemptRecord& record = progress_.given.emplace_back();
  record.attempt = start.attempt;
  record.worker = worker;
  record.package = given.name;
  record.generated_source = given.generated_source;
  for (PlatformIndex p = 0; p < platform_count(); ++p) {
    if (start.platforms & MaskOf(p))
      record.targets.push_back({.platform = p, .name = snapshot_->platforms[p]});
  }
  given_[start.attempt] = std::move(given);
}

void SimDirector::Do(const Desire& effect) {
  deps_.checks.Trace("desire", effect.worker.value(), effect.persisted.size(), effect.cancel.size(),
                     effect.retract.size());
  v1::ToWorker message;
  for (const Desire::Start& start : effect.start) {
    deps_.checks.Trace("start " + core_->NameOf(start.package), start.attempt, start.platforms,
                       start.cooked.size());
    FillJob(NameOf(effect.worker), start, message);
  }
  RecordProgress();
  for (const AttemptId attempt : effect.cancel) message.add_cancel(attempt);
  for (const AttemptId attempt : effect.retract) message.add_retract(attempt);
  const std::string worker = NameOf(effect.worker);
  for (const ReportId report : effect.persisted) {
    message.add_persisted(report);
    const auto result = reported_.find({worker, report});
    if (result == reported_.end() || !accepted_.contains(result->second)) continue;
    const StoredResultPtr stored = results_.Get(result->second);
    if (!store_.IsSafe(stored->action_key))
      deps_.checks.Break("safety: acknowledged before it is durable: " + stored->package);
    deps_.checks.promised.insert(stored->action_key);
  }
  message.set_drain(effect.drain);
  Send(worker, std::move(message));
}

void SimDirector::Do(const Spawn& effect) {
  deps_.checks.Trace("spawn", effect.worker.value());
  callbacks_.spawn(effect);
}

void SimDirector::Do(const director::Stop& effect) {
  deps_.checks.Trace("stop", effect.worker.value());
  callbacks_.stop(effect.worker);
}

// ------------------------------------------------------------------ commits

void SimDirector::Do(const Persist& effect) {
  for (const Persist::Item& item : effect.items) {
    deps_.checks.Trace("persist " + core_->NameOf(item.package), item.platform, item.result.value(),
                       item.was_cooked);
    if (item.was_cooked && !accepted_.insert(item.result).second)
      deps_.checks.Break("safety: committed twice: " + core_->NameOf(item.package));
    // (What is right for older files only may be a lie that was told before.)
    if (item.was_cooked && !is_forced_ && !outdated_.contains(item.result) &&
        kept_.contains(results_.Get(item.result)->action_key))
      deps_.checks.Break("safety: cooked again though it was kept: " + core_->NameOf(item.package));
  }
  pending_commit_.insert(pending_commit_.end(), effect.items.begin(), effect.items.end());
  if (commits_running_ == 0) {
    After(deps_.random.Some(10), [this] {
      if (commits_running_ == 0) CommitPending();
    });
  }
}

void SimDirector::CommitPending() {
  RecordProgress();
  if (pending_commit_.empty()) return;
  ++commits_running_;
  PostTask(30, [this, persist = Persist{std::exchange(pending_commit_, {})}] {
    if (deps_.faults.Happens(Fault::kClockJumped, 10))
      wall_offset_ += (deps_.random.Percent(50) ? 1 : -1) * absl::Hours(1);
    CommitOutcome outcome = CommitGroup(
        fenced_, journal_, results_, persist, {.cook = term()},
        [this](const StoredResult& stored) { return FilesHold(*commit_snapshot_, stored); },
        deps_.schedule.now() + wall_offset_);
    Answer(20, [this, outcome = std::move(outcome)] {
      --commits_running_;
      for (const Persisted::Item& item : outcome.event.items) {
        unjournaled_.erase(item.result);
        if (!outcome.event.error.empty() || !item.refused.empty()) accepted_.erase(item.result);
      }
      Step(outcome.event);
      if (commits_running_ == 0) CommitPending();
    });
  });
}

bool SimDirector::FilesHold(const Snapshot& snapshot, const StoredResult& stored) const {
  if (deps_.world.IsFile(stored.package) && stored.source != SourceOf(snapshot, stored.package, {}))
    return false;
  return std::all_of(stored.observed.begin(), stored.observed.end(), [&](const auto& one) {
    std::string need;
    return one.what.kind != record::ObservationKind::kFile ||
           ValueOf(snapshot, one.what, stored.platform, stored.platform_name, {}, &need) ==
               one.value;
  });
}

void SimDirector::MakeSuccessor(const std::vector<std::string>& files,
                                const std::vector<std::string>& asked) {
  auto versions = commit_snapshot_->versions;
  std::vector<content::Change> changes;
  for (const std::string& file : files) {
    if (deps_.world.IsFile(file)) versions[file] = deps_.world.VersionOf(file);
    changes.push_back({.path = file, .was_there = true, .is_there = true});
  }
  const SnapshotPtr successor = Successor(std::move(versions), commit_snapshot_->platforms);
  const std::vector<std::string> affected = *journal_.Affected(changes);
  JournalMeta meta = journal_.meta();
  meta.table_file = successor->file;
  if (!journal_.Invalidate(affected, meta).ok())
    return Step(Persisted{.items = {}, .error = "taking a new snapshot: the journal"});
  commit_snapshot_ = successor;
  Answer(10, [this, successor, asked, affected] { TakeSuccessor(successor, asked, affected); });
}

void SimDirector::TakeSuccessor(const SnapshotPtr& successor, const std::vector<std::string>& paths,
                                std::vector<std::string> packages) {
  snapshot_ = successor;
  if (last_build_.empty()) cook_snapshot_ = successor;
  for (const ResultId id : unjournaled_) {
    const StoredResultPtr stored = results_.Get(id);
    if (!FilesHold(*snapshot_, *stored)) packages.push_back(stored->package);
  }
  std::sort(packages.begin(), packages.end());
  packages.erase(std::unique(packages.begin(), packages.end()), packages.end());
  Announce(snapshot_);
  Step(FilesChanged{deps_.catalog, packages, paths});
}

void SimDirector::Announce(const SnapshotPtr& successor) {
  v1::ToWorker message;
  message.mutable_snapshot()->set_number(successor->number);
  message.mutable_snapshot()->set_table_file(successor->file);
  const auto streams = streams_;
  for (const auto& [worker, stream] : streams) Send(worker, message);
}

// The files are the same; the table that the workers get says how platforms are numbered.
void SimDirector::ChangePlatforms(const std::vector<std::string>& platforms) {
  PostTask(20, [this, platforms] {
    const SnapshotPtr successor = Successor(commit_snapshot_->versions, platforms);
    JournalMeta meta = journal_.meta();
    meta.table_file = successor->file;
    if (!journal_.Invalidate({}, meta).ok())
      return Step(Persisted{.items = {}, .error = "taking a new snapshot: the journal"});
    commit_snapshot_ = successor;
    Answer(10, [this, successor] {
      PlatformsChanged event{.catalog = deps_.catalog,
                             .mapping = {},
                             .platform_count = static_cast<uint32_t>(successor->platforms.size())};
      PlatformMask kept = 0;
      for (const std::string& name : snapshot_->platforms) {
        const auto at = std::find(successor->platforms.begin(), successor->platforms.end(), name);
        event.mapping.emplace_back();
        if (at == successor->platforms.end()) continue;
        event.mapping.back() = static_cast<PlatformIndex>(at - successor->platforms.begin());
        kept |= MaskOf(*event.mapping.back());
      }
      event.added = (MaskOf(event.platform_count) - 1) & ~kept;
      deps_.checks.Trace("platforms change", event.platform_count, event.added);
      deps_.faults.Count(Fault::kPlatformsChanged);
      if (last_build_.empty()) cook_snapshot_ = successor;
      snapshot_ = successor;
      std::erase_if(roots_, [this](const auto& root) { return !HasPlatform(root.first); });
      Announce(snapshot_);
      Step(event);
    });
  });
}

bool SimDirector::HasPlatform(const std::string& name) const {
  const std::vector<std::string>& all = snapshot_->platforms;
  return std::find(all.begin(), all.end(), name) != all.end();
}

bool SimDirector::HasAllPlatforms() const {
  return platform_count() == kPlatforms.size() && roots_.size() == kPlatforms.size() &&
         std::all_of(kPlatforms.begin(), kPlatforms.end(), [&](const std::string& name) {
           return roots_.contains(name) && HasPlatform(name);
         });
}

// As `galley clean`: the journal forgets them, and so does the core.
void SimDirector::Clear(const std::vector<std::string>& packages) {
  PostTask(20, [this, packages] {
    if (!journal_.Forget(packages).ok())
      return Step(Persisted{.items = {}, .error = "forgetting: the journal"});
    Answer(10, [this, packages] {
      deps_.faults.Count(Fault::kPackagesCleared);
      deps_.checks.Trace("cleared", packages.size());
      callbacks_.cleared(packages);
      Step(PackagesCleared{packages});
    });
  });
}

bool SimDirector::Discover(const std::vector<SelectedPackage>& packages) {
  deps_.faults.Count(Fault::kPackagesDiscovered);
  deps_.checks.Trace("discovered", packages.size());
  is_too_late_ = false;
  Step(PackagesDiscovered{packages});
  return !is_too_late_;
}

void SimDirector::Do(const Rescan& effect) {
  for (const std::string& path : effect.paths) deps_.checks.Trace("rescan " + path);
  PostTask(50, [this, paths = effect.paths] { MakeSuccessor(paths, paths); });
}

void SimDirector::OnFileEdited(const std::string& name) {
  PostTask(50, [this, name] { MakeSuccessor({name}, {}); });
}

bool SimDirector::IsOutdated() const { return cook_snapshot_->versions != deps_.world.versions(); }

// ------------------------------------------------------------------ roots and notices

void SimDirector::Do(const BuildRoot& effect) {
  const std::string platform = snapshot_->platforms.at(effect.platform);
  last_build_[platform] = effect;
  CommitPending();
  PostTask(20, [this, effect, platform] {
    std::string text;
    std::map<std::string, Digest> tree;
    std::map<std::string, PackageId> names;
    for (const auto& [package, id] : effect.packages) {
      const std::string& name = core_->NameOf(package);
      const StoredResultPtr stored = results_.Get(id);
      names[name] = package;
      tree[name] = stored->result.outputs.at(0).digest;
      text += name + " = " + tree[name].ToString() + "\n";
      if (tree[name] != Digest::Of(deps_.world.Expected(name, platform, cook_snapshot_->versions)))
        deps_.checks.Break("safety: a wrong result in the root: " + name);
      if (!store_.IsSafe(stored->action_key))
        deps_.checks.Break("safety: a result in the root is not durable: " + name);
    }
    deps_.checks.Trace(text);
    if (HasPlatform(platform)) roots_[platform] = tree;
    RootBuilt built{effect.platform, Digest::Of(text), {}, effect.platform_set};
    for (const auto& [a, b] : deps_.world.conflicts) {
      if (names.contains(a) && names.contains(b))
        built.conflicts.push_back({names[a], names[b], "x", "the same path"});
    }
    (void)store_.Put(built.root, text);
    if (built.conflicts.empty()) built_[platform] = built.root;
    Answer(10, [this, built] { Step(built); });
  });
}

void SimDirector::Do(const PublishRoot& effect) {
  deps_.checks.Trace("publish", effect.platform);
  const std::string platform = snapshot_->platforms.at(effect.platform);
  if (built_[platform] != effect.root)
    deps_.checks.Break("safety: another root was published than was built last");
  PostTask(20, [this, effect, platform, build = last_build_[platform]] {
    RootPublished event{effect.platform, "", effect.platform_set};
    const auto sequence =
        fenced_.Publish({.project_id = "project", .platform = platform, .root = effect.root});
    if (sequence.ok()) {
      std::vector<std::pair<std::string, std::optional<Digest>>> keys;
      for (const auto& [package, result] : build.packages)
        keys.emplace_back(core_->NameOf(package), results_.Get(result)->action_key);
      (void)journal_.RecordPublished(platform, {.sequence = *sequence, .root = effect.root}, keys);
    } else {
      event.error = "publishing the root: " + std::string(sequence.status().message());
    }
    Answer(10, [this, event] { Step(event); });
  });
}

void SimDirector::Do(const Notify& effect) {
  if (const auto* failed = std::get_if<PackageFailed>(&effect.notice)) {
    deps_.checks.Trace("failed " + core_->NameOf(failed->package) + ": " + failed->error);
    if (failed->error.empty())
      deps_.checks.Break("safety: a failure without a reason: " + core_->NameOf(failed->package));
  } else {
    deps_.checks.Trace("notice", effect.notice.index());
  }
  if (const auto* done = std::get_if<PackageDone>(&effect.notice)) {
    if (!store_.IsSafe(results_.Get(done->result)->action_key))
      deps_.checks.Break("safety: done before it is durable: " + core_->NameOf(done->package));
  }
  if (const auto* warned = std::get_if<PackageWarned>(&effect.notice))
    is_too_late_ |= warned->text.starts_with("is asked for too late");
  if (const auto* blamed = std::get_if<PackageBlamed>(&effect.notice)) {
    progress_.blamed.push_back({.package = core_->NameOf(blamed->package),
                                .own_faults = blamed->own_faults,
                                .what = blamed->what,
                                .error = blamed->error,
                                .log = blamed->log});
  }
  if (const auto* ended = std::get_if<CookEnded>(&effect.notice)) {
    progress_ = {};
    PostTask(5, [this] { (void)journal_.ForgetProgress(); });
    const CookEnded copy = *ended;
    After(absl::ZeroDuration(), [this, copy] { callbacks_.ended(copy); });
  }
}

}  // namespace galley::simulation
