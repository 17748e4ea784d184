// CookCore::Impl: what the files of the core share. The dispatcher and the step are in
// cook_core.cc; each family of events and decisions has a file of its own, named at the
// declarations.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "director/core/agenda.h"
#include "director/core/blame.h"
#include "director/core/cook_core.h"
#include "director/core/costs.h"
#include "director/core/edges.h"
#include "director/core/grants.h"
#include "director/core/instigators.h"
#include "director/core/lifecycle.h"
#include "director/core/losses.h"
#include "director/core/monitor.h"
#include "director/core/overruns.h"
#include "director/core/package_data.h"
#include "director/core/platforms.h"
#include "director/core/policy.h"
#include "director/core/ranks.h"
#include "director/core/warmth.h"
#include "director/core/workers.h"

namespace galley::director {

// A hand-over. Kept for ever: late results are judged by it.
struct Attempt {
  PackageId package;
  WorkerId worker;
  uint32_t platform_set = 0;  // when it was handed over: `granted` and reports are of that set
  PlatformMask granted = 0;
  PlatformMask remaining = 0;  // not reported yet; of today's set while it is current
  uint32_t epoch = 0;          // of the catalog when it was handed over
  uint64_t generation = 0;     // of the package then
  bool is_current = true;
  uint32_t group = 0;
  absl::Duration expected;
  absl::Duration saved;  // of that, since inputs were warm at its worker
  absl::Duration measured;
  bool is_partial = false;  // others did some of it: `measured` is not of the whole
  bool is_loaded = false;
  absl::Duration load;      // what that took
  uint32_t saves = 0;       // that it reported
  bool is_split = false;    // others have some of it, which may go on here all the same
  bool is_backup = false;   // beside the one that it backs up
  bool is_alone = false;    // nothing else was in hand while it was (alone.cc)
  bool is_earlier = false;  // of an earlier term, and not taken for a hand-over of this one
  ReportId told_up_to = 0;  // of its reports, whose bytes are counted
};

// What one step appends, gathered so that each kind goes out as one batch.
struct Turn {
  std::vector<Persist::Item> persist;
  bool is_persist_urgent = false;
  std::vector<LookUp::Item> look_ups;
  std::vector<std::string> rescans;
  absl::btree_map<WorkerId, Desire> desires;
  std::vector<Spawn> spawns;
  std::vector<director::Stop> stops;
  std::vector<Effect> roots;
  std::vector<Reply> replies;
  std::vector<Notice> notices;
};

struct CookCore::Impl {
  struct Placement {
    WorkerId worker;       // invalid: none can take it now
    absl::Duration saved;  // since inputs are warm there
  };

  // Of what is left of an attempt, so much should go elsewhere.
  struct Part {
    AttemptId attempt = 0;
    PlatformMask platforms = 0;
    absl::Duration expected;  // with a load of its own
    absl::Duration gain;      // so much sooner all is done
  };

  Impl(const CookOptions& cook_options, std::shared_ptr<const Catalog> first_catalog);

  // cook_core.cc
  void Step(absl::Time time, const Event& event, std::vector<Effect>& effects);
  void Apply(const Event& event);
  void RunAgenda();
  size_t Run(const AgendaItem& item);  // returns units
  bool HasAgenda() const;
  void Flush(std::vector<Effect>& effects);
  void CheckInvariants() const;
  void CheckAttempts(PackageId package) const;
  bool IsBeingCommitted(PackageId package, PlatformIndex platform) const;

  // requesting.cc: what is in the cook, and why.
  void OnCookRequested(const CookRequested& event);
  void OnCancelRequested();
  void StartCook(CookRequested wanted);
  size_t SelectSome(size_t units_max);
  void OnPackagesDiscovered(const PackagesDiscovered& event);
  std::string NameAsked(std::string_view name_or_file) const;
  PackageId FindOrAdd(std::string_view name);
  void Join(PackageId package, InstigatorCategory category, PackageId referencer);
  void Bring(PackageId package, InstigatorCategory category, PackageId referencer);
  void RaiseUrgency(PackageId package, Urgency urgency);
  void Begin(PackageId package);
  bool BeginGenerated(PackageId package);
  void Unlisted(PackageId package, PackageId generator);
  void Withdraw(PackageId package);
  void Leave(PackageId package, std::string_view reason);
  void Skip(PackageId package);
  void Requeue(PackageId package);

  // looking_up.cc
  void SendLookUps();
  LookUp::Item QuestionFor(PackageId package);
  bool IsOutdated(PackageId package, uint64_t generation) const;
  void OnLookedUp(const LookedUp& event);
  void NoteLastRead(PackageId package, const std::vector<uint64_t>& read);
  void OnHit(PackageId package, PlatformIndex platform, const LookedUp::Hit& hit);
  void OnNeedsCooked(PackageId package, PlatformIndex platform, const LookedUp::NeedsCooked& needs);

  // following.cc: equal work is cooked once.
  void FollowEqualWork(PackageId package);
  void LeadEqualWork(PackageId package);
  // Whom the package follows.
  std::vector<PackageId> LeadersOf(PackageId package) const;
  void LookUpWithInputs(PackageId package);
  size_t GoOnWithFollowers(size_t units_max);
  bool IsAwaited(PackageId package) const;

  // exploring.cc: references and generated packages.
  void SetExplored(PackageId package, PlatformIndex platform, const ResultViewPtr& view,
                   bool is_result);
  size_t Explore(PackageId package, PlatformIndex platform);
  void FollowCultures(PackageId id, std::vector<Edges::Target>& targets);
  void Follow(PackageId package, const record::Reference& reference, PlatformMask platforms,
              std::vector<Edges::Target>& targets);
  void RegisterGenerated(PackageId package, const ResultView& view, bool is_result);
  void FailGenerator(PackageId package, const std::string& error);
  // Makes the reason bind ranks.
  void BindRanks(PackageId dependent, PackageId dependency, InstigatorCategory category);
  void PlaceInRanks(PackageId dependent, const std::vector<PackageId>& dependencies,
                    bool are_cooked_inputs);
  void RankAnewIfDue();

  // waiting.cc: cooked inputs, their cycles, and waking up.
  enum class Availability { kPending, kReady, kNone };
  Availability AvailabilityOf(PackageId package, PlatformIndex platform) const;
  bool IsOver(PackageId package) const;
  bool CanBeCookedInput(std::string_view name, std::string* error) const;
  // False: it closed a cycle, which was dealt with.
  bool AddWait(PackageId package, const Wait& wait);
  void AddWaiter(PackageId on, PackageId waiter);
  bool BreakCycles(PackageId package);
  std::vector<PackageId> ShortestCycle(PackageId package, bool certain_only) const;
  void NextWaits(PackageId package, bool certain_only, std::vector<PackageId>& next) const;
  void MissInstead(PackageId package, PlatformIndex platform);
  void LengthenChain(PackageId package, absl::Duration chain);
  void WakeWaiters(PackageId package);
  void EvaluateWaits(PackageId package);
  void EvaluateGenerator(PackageId package);

  // cooking.cc: attempts and what workers report of them.
  void OnWorkerReported(const WorkerReported& event);
  void OnReport(WorkerId worker, const WorkerReport& report);
  void CountBytes(Attempt& attempt, const WorkerReport& report);
  void NoteWorks(WorkerId worker);
  void NoteRead(PackageId reader, const std::vector<std::string>& read);
  bool OnLoaded(AttemptId id, const WorkerReport::Loaded& loaded);
  // True: acknowledge now.
  bool OnSaved(WorkerId worker, ReportId report, AttemptId id, const WorkerReport::Saved& saved);
  void DropResult(PackageId package, PlatformIndex platform, const Attempt& attempt,
                  const WorkerReport::Saved& saved);
  void OnFailed(AttemptId id, const WorkerReport::Failed& failed);
  void OnOwnFault(AttemptId id, const WorkerReport::Failed& failed, PlatformMask platforms);
  void ForgetRetracted(AttemptId id);
  void ForgetRetractedOf(WorkerId worker);
  void StopWaitingForScan(PackageId id);
  void OnLateFault(AttemptId id, const WorkerReport::Failed& failed);
  uint32_t CountOwnFault(PackageId package, WorkerId worker, const WorkerReport::Failed& failed,
                         bool is_of_today = true);
  void NoteForgiven(PackageId package, uint32_t own_faults);
  void QuarantineOnceToCook(PackageId package, const WorkerReport::Failed& failed, uint32_t count);
  bool Quarantine(PackageId package);
  void OnNeeds(AttemptId id, const WorkerReport::Needs& needs);
  void OnStale(AttemptId id, const WorkerReport::Stale& stale);
  void OnEnded(AttemptId id);
  Attempt* Current(AttemptId id);
  // The current attempts at a package, in the order of hand-over.
  std::vector<AttemptId> AttemptsAt(PackageId package) const;
  // The platforms that they are still to report.
  PlatformMask StillInHand(PackageId package) const;
  // What its worker is told.
  enum class Tell : uint8_t { kNothing, kRetract, kCancel };
  void EndAttempt(AttemptId id, Tell tell);
  void EndAttempts(PackageId package, Tell tell);
  // Those that have nothing left to report; `reporter` has just said so itself.
  void EndSpent(PackageId package, AttemptId reporter);
  Tell ToTellOfDuplicate(AttemptId id) const;
  void TakeBack(Attempt& attempt, PlatformMask platforms);
  // Counts a fault of the infrastructure; fails the platforms when there were too many.
  bool HasFailedGenerator(PackageId id) const;
  void BlameInfrastructure(PackageId package, PlatformMask platforms, const std::string& error,
                           const std::string& log);

  // dispatching.cc: workers and hand-over.
  void OnWorkerAttached(const WorkerAttached& event);
  void OnWorkerLost(const WorkerLost& event);
  void OnWorkerPending(const WorkerPending& event);
  void OnWorkerUnfit(const WorkerUnfit& event);
  void CountSpawnFailure(const std::string& error);
  void OnLauncherReported(const LauncherReported& event);
  void OnWorkerAlive(const WorkerAlive& event);
  void LoseTheSilent();
  void Dispatch();
  void KeepWorkers();
  bool HasLoadWork() const;
  PackageId NextJob();
  bool HasBlockingJob() const;
  void HandOver(PackageId package, const Placement& at);
  PlatformMask PutInHand(PackageId package);
  void SetHandedOver(PackageId package, AttemptId attempt);
  AttemptId Give(PackageId package, const Placement& at, PlatformMask platforms,
                 absl::Duration expected);
  void Hold(AttemptId id, const Attempt& attempt);
  Desire& DesireFor(WorkerId worker);
  void Acknowledge(WorkerId worker, ReportId report);
  absl::Duration CostOf(PackageId package) const;
  uint64_t MemoryOf(PackageId package) const;

  // resuming.cc: what workers bring from an earlier director.
  void OnWorkersSurvived(const WorkersSurvived& event);
  void Resume(const WorkerAttached& event);
  bool IsResumed(AttemptId id) const;
  void OutdateSurvivors(PackageId package);
  void ForgetResumed(AttemptId id);
  void ForgetResumedOf(WorkerId worker);
  void CancelResumed();
  // True: the package is dealt with for now.
  bool TakeUpResumed(PackageId package);
  void DropUnwanted();
  bool IsOfToday(const Attempt& attempt) const;

  // placing.cc: which worker gets a job.
  Placement Place(PackageId package) const;
  WorkerId PlaceBlocking(PackageId package) const;
  WorkerId PlaceElsewhere(PackageId package) const;
  bool MayTake(PackageId package, WorkerId id, const Worker& worker) const;
  std::vector<WorkerView> Lightest(PackageId package) const;
  std::vector<WorkerView> FromItsPlace(PackageId package) const;
  // `warm`: the share of what it reads that is warm there.
  WorkerView ViewOf(PackageId package, WorkerId id, const Worker& worker, double warm) const;
  absl::Duration SavedAt(PackageId package, WorkerId worker) const;
  // What it is known to read beside its source.
  std::vector<uint64_t> InputsOf(PackageId package) const;
  absl::Duration LoadTimeOf(PackageId package) const;

  // balancing.cc
  void Balance();
  bool RetractFor(WorkerId idle, WorkerId busy);
  bool IsBetterOffAt(AttemptId attempt, WorkerId idle) const;
  void TakeForward(PackageId package);

  // large_jobs.cc
  // False: it is to wait at the head of its queue.
  bool SetAside(PackageId package, std::vector<PackageId>& aside);
  void KeepWorkerFor(PackageId package);
  bool MayBeKeptFor(PackageId package, WorkerId id, const Worker& worker) const;
  bool IsKeptFrom(PackageId package, WorkerId worker) const;
  void HandOverKept();

  // alone.cc
  bool IsToRunAlone(PackageId package) const;
  bool WaitsToBeAlone(PackageId package) const;
  bool IsAloneForTooLong() const;
  void CancelRetracted();
  bool IsAllElseDone();
  void HandOverAlone(PackageId package);
  void EndAloneness();
  static bool IsLimit(const WorkerReport::Failed& failed);
  PlatformMask KeptLimit(const Attempt& attempt, const WorkerReport::Failed& failed) const;

  // stragglers.cc
  bool IsTimeToLook();
  void BackUpStragglers();
  std::vector<AttemptId> Stragglers() const;
  void FindLongest(Progress& view) const;
  bool MayBeBackedUp(AttemptId attempt) const;
  // `is_elsewhere`: not its own worker.
  WorkerId IdleFor(const Attempt& attempt, bool is_elsewhere) const;
  void BackUp(PackageId package, WorkerId worker);

  // splitting.cc
  void Split();
  std::vector<Part> Parts() const;
  bool MayHaveAnother(PackageId package) const;
  // None: nothing is gained. `ran`: for so long it has.
  Part PartOf(AttemptId attempt, absl::Duration ran) const;

  // asking.cc
  void OnQueryAsked(const QueryAsked& event);
  Reply AnswerInstigators(const QueryAsked& event) const;
  Reply AnswerPackage(const QueryAsked& event) const;
  std::string StateTextOf(PackageId package) const;

  // committing.cc
  // No platform: it is for a removed one, and only feeds the cache.
  void Commit(PackageId package, std::optional<PlatformIndex> platform, ResultId result,
              WorkerId worker, ReportId report);
  void OnPersisted(const Persisted& event);
  void StandInstead(PackageId package, PlatformIndex platform, const ResultViewPtr& instead);
  void OnRefused(PackageId package, PlatformIndex platform, const std::string& why);
  void Uncommit(const std::vector<Persisted::Item>& items);
  void Settle(PackageId package, PlatformIndex platform);
  void Advance(PackageId package);
  void Finish(PackageId package);
  void Conclude(PackageId package);
  void FailPlatforms(PackageId package, PlatformMask platforms, Stage stage,
                     const std::string& error, const std::string& log,
                     FailureCause cause = FailureCause::kProject, AttemptId attempt = 0);
  void FailPackage(PackageId package, Stage stage, const std::string& error);
  PlatformMask Wanted(PackageId package) const;
  PlatformMask InPhase(PackageId package, Phase phase) const;

  // changing.cc
  void OnFilesChanged(const FilesChanged& event);
  void OnPackagesCleared(const PackagesCleared& event);
  bool CanStillChange() const;
  void OpenAgain();
  void TakeLateChanges();
  void TakeChange(const FilesChanged& event);
  void ForgiveLate(const FilesChanged& event);
  using NewNames = absl::btree_map<std::string_view, std::string_view>;  // by the old ones
  static NewNames NewNamesOf(const std::vector<FilesChanged::Renamed>& all);
  static void RenameSelected(const NewNames& new_names, CookRequested& wanted, size_t first);
  void RenameAll(const std::vector<FilesChanged::Renamed>& all, absl::btree_set<PackageId>& done);
  template <typename Visit>
  void ForEachWithReaders(PackageId package, absl::btree_set<PackageId>& done, const Visit& visit);
  void RequeueWithReaders(PackageId package, absl::btree_set<PackageId>& done);

  // changing_platforms.cc
  void OnPlatformsChanged(const PlatformsChanged& event);
  void RemapPackage(PackageId package, const PlatformMap& map, PlatformMask added);
  void GoOnWithPlatforms(PackageId package, PlatformMask added);

  // ending.cc: judgement of references, roots, the end.
  void MaybeEnd();
  bool IsQuiet() const;
  bool ReexploreIfChanged();
  void Judge(PackageId package);
  void WarnOnce(PackageId package, const std::string& text);
  std::vector<PackageId> InCookByName() const;
  void SendRoot(PlatformIndex platform, const std::vector<PackageId>& by_name);
  void PublishIfBuilt();
  // Published roots stand: what fails when lost bytes are made again behind them stops nothing.
  bool FailsFast() const { return request.has_value() && request->fail_fast && !has_published; }
  void OnRootBuilt(const RootBuilt& event);
  void FailJudged(PackageId package, PlatformMask platforms, Stage stage, const std::string& error);
  void OnRootPublished(const RootPublished& event);
  void WarnOfFailedTargets();
  void WarnOfUnsolicited();
  enum class Ending : uint8_t { kNone, kInterrupted, kFailFast };
  bool IsEnding() const { return ending != Ending::kNone; }
  void Stop(Ending how);
  void CancelAll();
  void End(const std::string& infrastructure_error);

  // losing.cc: what the store lost under the cook.
  void StageOrEnd();
  void OnRootsStaged(const RootsStaged& event);
  void OnLossSeen(const LossSeen& event);
  void SendLookForLost();
  void OnLostFound(const LostFound& event);
  bool LeaveUnstaged();
  bool IsStillNamed(const RootBuilt::Lost& lost) const;
  void MakeAgain(const std::vector<RootBuilt::Lost>& lost);

  template <typename T>
  void Note(T notice) {
    turn.notices.emplace_back(std::move(notice));
  }
  const std::string& NameOf(PackageId package) const { return packages[package].name; }

  // Constant.
  CookOptions options;

  std::shared_ptr<const Catalog> catalog;
  uint32_t epoch = 1;  // of the catalog
  uint32_t platform_count;
  PlatformSets platform_sets;
  absl::Time now = absl::InfinitePast();
  absl::Duration awake;  // time that this process lived through: a pause of the whole machine is no
                         // silence of its workers

  PackageTable packages;
  Counters counters;
  Edges edges;
  Ranks ranks{edges, options.rank_visits_max};
  Monitor monitor;
  Lifecycle lifecycle{packages, ranks, counters, monitor, now};
  Blame blame;
  // By an earlier director, which died.
  absl::flat_hash_map<PackageId, CookRequested::Blamed> quarantined;  // look-up only
  Grants grants;
  Agenda agenda;
  Workers workers;

  // The cook.
  std::optional<CookRequested> request;
  std::deque<CookRequested> waiting_requests;
  uint64_t cooks_begun = 0;
  uint64_t looks_for_lost = 0;
  size_t selected_next = 0;
  Ending ending = Ending::kNone;
  bool is_settling = false;  // roots are being built and published
  uint32_t judged_epoch = 0;
  PlatformMask unpublished = 0;
  absl::btree_map<PlatformIndex, Digest> built;  // published together, when all are
  bool is_publishing = false;
  // Failed when all was cooked, for how they fit together. Their results stand, and others may read
  // them.
  absl::btree_map<PackageId, PlatformMask> judged;
  bool is_staging = false;     // and laid out in the sandboxes
  bool has_published = false;  // once in this cook: it may be open again since
  Losses losses_of_store;
  std::vector<FilesChanged> late_changes;  // while roots are built, without their catalogs
  // Of those: what is told of these from then on is of what they were made of before.
  absl::flat_hash_set<PackageId> forgiven_late;  // look-up only
  struct StaleFile {
    uint32_t changes = 0;
    uint32_t epoch = 0;  // since when the catalog has its last change
  };
  absl::btree_map<std::string, StaleFile> stale_files;
  absl::btree_map<std::string, absl::btree_set<PackageId>> stale_waiters;
  // Packages that a worker's cook read and that were not in the cook then, by reader.
  absl::btree_map<PackageId, absl::btree_set<std::string>> unsolicited;
  absl::flat_hash_set<std::pair<PackageId, std::string>> warned;  // by WarnOnce; look-up only
  size_t unsolicited_count = 0;    // names kept, at most kUnsolicitedMax
  size_t unsolicited_dropped = 0;  // beyond

  // Beyond a cook.
  absl::flat_hash_map<AttemptId, Attempt> attempts;  // look-up only
  // Attempts that were retracted and are not over: they may have begun, and go on.
  absl::flat_hash_map<PackageId, std::vector<AttemptId>> retracted;  // look-up only
  struct Resumed {
    AttemptId attempt = 0;
    std::optional<Digest> generated_source;
    bool has_begun = false;
    absl::Time over_at = absl::InfiniteFuture();  // its reports are here by then
  };
  // In the hands of workers of an earlier director, or said to be until they attach.
  absl::btree_map<PackageId, Resumed> resumed;
  // All that these were given: of what the shell judges it by.
  absl::flat_hash_map<PackageId, std::vector<AttemptId>> survivors;  // look-up only
  uint64_t attempt_count = 0;
  uint64_t backups = 0;  // current attempts that are one
  absl::Duration looked_for_stragglers_at = -absl::InfiniteDuration();
  size_t look_ups_in_flight = 0;
  struct CommitInFlight {
    std::optional<PlatformIndex> platform;  // nullopt: removed since
    std::vector<std::pair<WorkerId, ReportId>> reports;
  };
  // The platform: as Persist had it, whatever its number is today.
  absl::btree_map<std::tuple<PackageId, ResultId, PlatformIndex>, CommitInFlight> commits;
  uint32_t spawn_failures = 0;  // in a row
  uint32_t losses = 0;          // of workers, with no report in between
  Costs costs;
  Overruns overruns;
  Warmth warmth;
  std::unique_ptr<Policy> policy;
  struct KeptWorker {
    WorkerId worker;
    PackageId package;
  };
  std::optional<KeptWorker> kept;
  AttemptId alone = 0;       // has all workers to itself; 0: none has
  absl::Duration alone_for;  // in this cook, all that had

  Turn turn;
};

}  // namespace galley::director
