// SimDirector: a director's process for a term: the real CookCore and the shell's real owners of
// effects (Commits, Roots, PackageAsks, Notices, Cooks, Streams, InputRepair), look-ups
// (LookUpRunner) and reports (ReportReader), on the simulation's disk. Instead of DirectorShell's
// threads, tasks and messages are scheduled (sim_ports.h).
//
// Instead of a project's real files there is a Snapshot of World. The parts of SimDirector are in
// director_*.cc, by their work.
//
// SimDirector cooks one project again and again (Request) and checks everything that it can; or it
// cooks several cooks beside each other (Add), each of which its asker checks (cooks_stage.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/wire/conversation.h"
#include "common/wire/replaced_sessions.h"
#include "director/core/cook_core.h"
#include "director/core/jobs/worker_table.h"
#include "director/shell/active_cooks.h"
#include "director/shell/commits.h"
#include "director/shell/cooks.h"
#include "director/shell/fenced_store.h"
#include "director/shell/input_repair.h"
#include "director/shell/job_builder.h"
#include "director/shell/lookup.h"
#include "director/shell/notices.h"
#include "director/shell/package_asks.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/roots.h"
#include "director/shell/streams.h"
#include "director/shell/trace.h"
#include "director/shell/world.h"
#include "galley/v1/worker.pb.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/own_faults.h"
#include "tests/simulation/schedule.h"
#include "tests/simulation/sim_journal.h"
#include "tests/simulation/sim_ports.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/snapshot.h"
#include "tests/simulation/world.h"

namespace galley::simulation {

// The platforms at the end of every cook; others come and go.
inline const std::vector<std::string> kPlatforms = {"p0", "p1"};

class SimDirector {
 public:
  struct Deps {
    Schedule& schedule;
    Random& random;
    Faults& faults;
    Disk& disk;
    World& world;
    std::map<std::string, SnapshotTable>& tables;
    Checks& checks;
    OwnFaults& own_faults;
    // Several cooks run beside each other (Add). The checks for a single cook are off.
    bool has_several = false;
  };
  struct Callbacks {
    std::function<void(const director::Spawn&)> spawn;
    std::function<void(director::WorkerId)> stop;
    std::function<void(uint64_t stream, v1::ToWorker)> send;
    std::function<void(uint64_t stream)> hang_up;
    // With the roots that the cook published, by platform.
    std::function<void(const director::CookEnded&, const std::map<std::string, Digest>&)> ended;
    // Called after each step of the core, before its effects are carried out.
    std::function<void(const director::Event&, std::span<const director::Effect>)> stepped;
  };
  // Recovers store and journal, and applies the difference. `survivors`: living workers of the last
  // director. Throws Disk::Crash.
  SimDirector(const Deps& deps, const director::CookOptions& options, Callbacks callbacks,
              const std::set<std::string>& survivors);

  uint32_t term() const { return journal_.meta().term; }
  // Selects the files of these ids, by the names that it knows for them when the request takes
  // effect.
  void Request(director::CookRequested request, std::vector<std::string> ids);
  // Adds one of several cooks. `is_again`: the cook goes on behind a director that died.
  void Add(director::CookOrder order, bool is_again);
  void Cancel();
  void Cancel(uint64_t request);
  void OnMessage(const std::string& worker, uint64_t stream, const v1::FromWorker& message);
  // Calls of remote workers, in order: to ask for missing blobs, to store blobs, to fetch a blob if
  // it is there.
  absl::StatusOr<std::vector<Digest>> OnFindMissing(const std::vector<Digest>& blobs);
  absl::Status OnUpload(std::span<const std::pair<Digest, std::string>> blobs);
  std::optional<std::string> OnFetch(const Digest& blob);
  void OnWorkerGone(director::WorkerId worker, const std::string& reason, bool never_started);
  void OnFilesEdited(const std::vector<std::string>& names);
  void OnFilesRenamed(const std::vector<World::Renamed>& renamed);
  // Numbers the platforms as in the list.
  void ChangePlatforms(const std::vector<std::string>& platforms);
  void Clear(const std::vector<std::string>& packages);
  // False: too late, there is no cook that the packages could join.
  bool Discover(const std::vector<std::string>& ids, director::InstigatorCategory category);
  // Asks questions, and checks that the answers are what the core knows.
  void Question();
  bool has_published() const { return has_published_; }  // in this cook
  // Counted when the cook ended; since then platforms with failures may have been removed.
  bool has_failed() const { return has_failed_; }
  // True also for the failure of a package that is not cooked any more.
  bool has_ever_failed() const { return has_ever_failed_; }
  // Whether the cook that ended was for kPlatforms.
  bool HasAllPlatforms() const;
  size_t platform_count() const { return snapshot_->platform_names().size(); }
  // SIGSTOP and SIGCONT; meanwhile another director took the project.
  void StopForAWhile() { is_stopped_ = true; }
  void WakeOvertaken();
  bool is_overtaken() const { return is_overtaken_; }
  // Collect drops some blobs that the director's cook does not need; Rot turns a bit in a blob.
  void Collect();
  void Rot();
  // Somebody deletes files and segments of the store, or damages its index.
  void Damage();
  // Reads everything in the roots once more. False: something was lost since the roots were staged.
  bool Stage();
  // Checks that no root was published although the store knew that some of its blobs are gone.
  void CheckPublished();
  // Whether the director's cook is not of today's files.
  bool IsOutdated() const;
  // Whether every package was asked for by today's name of its file. A rescan in the middle of an
  // exchange of names sees other bytes under one of the names, and cannot know where its file went.
  bool HasAskedForAll() const;
  const Files& cook_files() const { return cook_snapshot_->files(); }
  const Files& files() const { return snapshot_->files(); }
  const Snapshot& snapshot() const { return *snapshot_; }
  // The world of the outcomes of asks. Where platforms change, the snapshot is newer.
  const director::WorldPtr& world() const { return world_; }
  std::shared_ptr<const director::Catalog> catalog() const { return snapshot_->catalog(); }
  SimJournal& journal() { return journal_; }
  static std::vector<content::Change> ChangesOf(const Files& before, const Files& after);
  void Step(const director::Event& event);

  // Whether this director gave the attempt.
  bool Knows(director::AttemptId attempt) const { return given_.contains(attempt); }
  const director::CookCore& core() const { return *core_; }
  uint64_t bytes_heard() const { return bytes_heard_; }
  uint64_t found_equal() const { return found_equal_; }
  SimStore& store() { return store_; }
  // The store as this director writes it: not at all, once another director has taken over.
  director::FencedStore& fenced() { return fenced_; }
  bool is_journal_broken() const { return journal_.is_broken(); }
  const std::map<std::string, std::map<std::string, Digest>>& roots() const { return trees_; }
  // The roots that were published last, by platform; but for roots of a difference.
  const std::map<std::string, std::map<std::string, Digest>>& newest() const { return newest_; }
  const director::ResultTable& results() const { return results_; }
  // Single packages are asked for here, by clients that act as devices.
  director::PackageAsks& asks() { return own_->asks; }
  // The blobs that no collection may take from this director, or whose loss its journal would
  // notice.
  std::set<Digest> ToldOrKnown();
  static std::string NameOf(director::WorkerId worker);
  static director::WorkerId WorkerOf(const std::string& name);

 private:
  using SnapshotPtr = std::shared_ptr<const Snapshot>;

  SnapshotPtr MakeSnapshot(uint64_t number, const std::string& file, Files files,
                           std::vector<std::string> platforms);
  SnapshotPtr Successor(Files files, std::vector<std::string> platforms);
  static director::WorldPtr WorldOf(const Snapshot& snapshot);
  void Announce(const SnapshotPtr& successor);
  void ApplyTheDifference();
  void TakeOver(const std::set<std::string>& survivors);

  void Do(const director::LookUp& effect);
  void LookUpSoon(const director::LookUp& effect);
  void Do(const director::Desire& effect);
  void Do(const director::Spawn& effect);
  void Do(const director::Stop& effect);
  void Do(const director::Persist& effect);
  void Do(const director::Rescan& effect);
  void Do(const director::BuildRoot& effect);
  void CheckBuild(const director::BuildRoot& effect, const std::string& platform,
                  const SnapshotPtr& cook);
  SnapshotPtr SnapshotOf(const director::BuildRoot& effect);
  std::string RootName(uint64_t request, const std::string& platform) const;
  std::string RootName(uint64_t request, director::PlatformIndex platform) const {
    return RootName(request, snapshot_->platform_names().at(platform));
  }
  std::string ReadRoots(uint64_t request, const std::map<std::string, Digest>& roots);
  void TickOn();
  void Take(const director::RootBuilt& built);
  void TakeLost(const director::RootBuilt& built, const std::string& platform);
  void Do(const director::PublishRoot& effect);
  void Take(const director::RootPublished& published);
  void CheckLatest(const std::string& platform, uint64_t request);
  void Do(const director::StageRoots& effect);
  std::string StageAll(const std::map<std::string, Digest>& roots);
  void CheckPublishedBefore(const std::map<std::string, Digest>& roots);
  void Do(const director::LookForLost& effect);
  std::string BelievedThough(const director::LookForLost& look);
  void CheckLost(std::span<const director::RootBuilt::Lost> lost);
  void Take(const director::LostFound& found);
  void Do(const director::Notify& effect);
  void Note(const director::PackageFailed& failed);
  void EndStreamOf(const director::WorkerViolated& violated);
  void BeginCook();
  void Do(const director::Reply&) {}

  director::LookedUp LookUpNow(const director::LookUp& effect);
  void CheckPlace(const std::string& worker, const std::string& package);
  void NoteGiven(const director::Streams::Given& given);
  director::WorkerReport Read(const std::string& worker, const v1::Report& report);
  void TellOwnFaults(const std::string& worker, const director::WorkerReport& report);
  void Send(const std::string& worker, v1::ToWorker message);
  void MakeSuccessor(const std::vector<std::string>& paths, const std::vector<std::string>& asked,
                     std::vector<World::Renamed> renamed);
  void TakeSuccessor(const SnapshotPtr& successor, director::FilesChanged event);
  void TakeIntoCook(const std::vector<World::Renamed>& renamed);
  void Take(const director::PackagesCleared& cleared);
  void ForgiveCleared(const std::vector<std::string>& packages);
  void Take(const director::Persisted& persisted);
  // The packages, and their readers as the core knows them.
  std::set<std::string> WithReaders(std::vector<std::string> packages) const;
  std::vector<director::SelectedPackage> Select(const std::vector<std::string>& ids,
                                                director::InstigatorCategory category);
  void StepOnce(const director::Event& event);
  void CarryOut(const std::vector<director::Effect>& effects);
  void BeginCommits();
  void CheckUrgent();
  std::vector<director::Reply::Reason> AskAll(director::QueryAsked question);
  std::vector<director::Reply::Reason> Reasons() const;
  void AskOn();
  director::Reply Ask(const director::QueryAsked& question);

  // Schedules `act` after earlier acts with the same `free_at`.
  void Schedule(absl::Time& free_at, int64_t ms_max, std::function<void()> act);
  // A task hands `act` to the loop; answers come in the order of the tasks.
  void Answer(int64_t ms_max, std::function<void()> act);
  void Accept(const director::Persist::Item& item);
  void CountEqual(const std::string& name, const director::StoredResult& stored);
  void After(absl::Duration delay, std::function<void()> act);
  // The wall clock, which jumps; the core sees the monotonic clock.
  absl::Time Wall();
  void NoteKept();
  void NoteGivenUp(const Digest& blob, const Digest& bytes);
  void NoteMadeAgain();
  bool HasPlatform(const std::string& name) const;
  void ForgetLost();
  // Blobs that the director's cook was told of, or wrote: no collection drops them.
  std::set<Digest> Told();
  // Blobs that the director relies on without having asked for them.
  std::set<Digest> KnownToJournal();

  const Deps deps_;
  const Callbacks callbacks_;
  const director::CookOptions options_;
  bool is_stopped_ = false, is_overtaken_ = false;
  std::vector<std::function<void()>> waiting_;  // calls that wait while the director is stopped
  director::FencedStore fenced_;
  SimStore& store_;
  SimJournal journal_;
  OwnFaults* own_faults_;
  // The checks of an overtaken director, which nobody heeds.
  struct Unheeded {
    Checks checks{false};
    OwnFaults own_faults{1, checks};
  };
  Unheeded unheeded_;
  std::vector<std::string> changed_before_;  // packages that changed while there was no director
  bool has_survivors_ = false;
  // Results that are no second cook of a kept result. An earlier director's job brings such a
  // result (that director may have made the result durable and died before it said so), or a lie
  // that was told before.
  std::set<director::ResultId> excused_;
  std::set<Digest> kept_;  // action keys of the results that were there at the begin
  director::ResultTable results_;
  director::Trace trace_;  // records nothing
  director::ReportReader reports_;
  director::LookUpRunner look_ups_;
  bool is_looking_up_ = false;
  std::unique_ptr<director::CookCore> core_;
  SimClock clock_;
  SimTasks tasks_;  // for commits
  SimTasks device_tasks_;
  SimTasks root_tasks_;  // build whole roots beside the commits
  SimTasks asker_;       // the thread that asks for cooks
  // The thread of one of several cooks whose roots are staged for long.
  SimTasks slow_asker_;
  SimInbox inbox_;
  struct Owners {  // director_owners.cc
    director::ActiveCooks active;
    director::Commits commits;
    director::Roots roots;
    director::PackageAsks asks;
    director::Cooks cooks;
    director::Notices notices;
    director::Streams streams;
    director::InputRepair repair;

    explicit Owners(SimDirector& of);
  };
  std::unique_ptr<Owners> own_;
  director::WorldPtr world_;  // a number and the table's name, without anything else
  bool is_commit_due_ = false;
  std::map<uint64_t, std::string> believed_;    // the result of BelievedThough, by look
  absl::Time wakes_at_ = absl::InfinitePast();  // when commits will begin
  std::vector<std::shared_ptr<const director::ActiveCook>> asked_;  // all cooks
  SnapshotPtr snapshot_, commit_snapshot_;
  uint64_t snapshots_made_ = 1;
  SnapshotPtr cook_snapshot_;  // that the cook belongs to: what changes once roots are built is
                               // the next cook's
  uint64_t request_ = 0;       // the last cook's
  std::set<std::string> asked_for_;                        // by their names in cook_snapshot_
  std::vector<std::vector<World::Renamed>> late_renames_;  // renames after cook_snapshot_
  std::set<director::AttemptId> given_;
  std::vector<director::CookRequested::Blamed> blamed_before_;
  std::map<uint64_t, wire::Conversation> conversations_;  // by stream
  std::map<std::string, uint64_t> streams_;               // worker -> its present stream
  wire::ReplacedSessions replaced_;
  std::set<std::string> remote_;                       // workers without files
  std::map<std::string, record::WorkerOffer> offers_;  // by worker
  std::set<std::string> draining_;                     // workers that were told to end
  std::set<std::string> quarantined_;                  // odd workers, whose reports are passed over
  std::map<std::pair<std::string, uint64_t>, director::ResultId> reported_;  // by worker, report
  std::set<director::ResultId> accepted_;                                    // will be committed
  // An attempt, and the platform's number at that time.
  using Brought = std::pair<director::AttemptId, uint32_t>;
  std::map<director::ResultId, Brought> told_by_;
  std::set<Brought> brought_;                      // will be committed
  std::set<std::pair<uint64_t, uint64_t>> heard_;  // attempts, and numbers of their reports
  uint64_t bytes_heard_ = 0;                       // read by reports in heard_
  std::map<Digest, std::string> cooked_;  // action key of a committed result -> its package
  uint64_t found_equal_ = 0;              // results of cooked_ that another package found
  absl::Time task_free_at_ = absl::InfinitePast(), device_task_free_at_ = absl::InfinitePast(),
             root_task_free_at_ = absl::InfinitePast(), asker_free_at_ = absl::InfinitePast(),
             slow_asker_free_at_ = absl::InfinitePast(), answered_at_ = absl::InfinitePast();
  // By platform, with the present files of the cook.
  struct Building {
    director::BuildRoot effect;
    std::map<std::string, Digest> tree;  // package -> output
  };
  std::map<std::string, Building> last_build_;  // by RootName
  // The files of each of several cooks: by cook, round, and whether it looks at a difference.
  std::map<std::tuple<uint64_t, uint32_t, bool>, SnapshotPtr> settled_;
  std::map<std::string, Digest> built_;
  std::set<Digest> told_;                                  // blobs that the store said to have
  std::set<Digest> lost_since_built_, lost_since_staged_;  // blobs that the store dropped
  // Blobs that were collected before the director was told of them, rotted, or went with the index.
  std::set<Digest> taken_;
  bool is_staging_ = false, is_staged_ = false, rotten_since_staged_ = false;
  std::map<std::string, std::map<std::string, Digest>> trees_;   // RootName -> package -> output
  std::map<std::string, std::map<std::string, Digest>> newest_;  // platform -> package -> output
  // Names by platform set and index, as the platforms were when their roots were to be published.
  std::map<std::pair<uint64_t, director::PlatformIndex>, std::string> publishing_;
  // By platform: the latest root.
  struct Latest {
    uint64_t sequence = 0, world = 0;
  };
  std::map<std::string, Latest> latest_;
  absl::Duration wall_offset_;
  // A question whose pages are asked for now and then, while the cook goes on.
  struct LongQuestion {
    director::QueryAsked next;
    std::vector<director::Reply::Reason> at_first;  // reasons that were there at the begin
    std::vector<director::Reply::Reason> told;
  };
  std::optional<LongQuestion> long_question_;
  bool is_forced_ = false, is_too_late_ = false, is_fail_fast_ = false, has_failed_ = false,
       has_ever_failed_ = false, has_failed_late_ = false;
  bool has_request_ = false, is_ending_ = false, is_publishing_ = false, has_published_ = false;
  bool is_interrupted_late_ = false;                       // when roots were published
  std::map<std::string, director::PackageBlamed> blamed_;  // in the present step, as told last
  uint64_t requests_ = 0;
  std::shared_ptr<bool> life_ = std::make_shared<bool>(true);
};

}  // namespace galley::simulation
