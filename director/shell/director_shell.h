// DirectorShell: the loop around CookCore. It turns the outside into events, carries out effects,
// and takes no decision. Its parts, by what they do, are in shell_*.cc and worker_events.cc.
//
//   Start   (Follow | Cook | Remember)*   Stop
//
// Workers and worlds stay from one cook to the next; what is one cook's is in its CookSeat.
//
//   loop thread      drains the inbox, steps the core, executes effects
//   asking threads   one for each cook: hears what it is told, stages
//   look-up threads  LookUps
//   commit thread    CommitGroup, roots, successor snapshots: in order
//   stream threads   one for each attached worker (WorkerService), convert reports (ReportReader)
//   launcher thread  starts workers, notices deaths (Launches)
//
// Threads: Start and Stop: one; the rest: any.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/interface/store.h"
#include "director/core/cook_core.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/launch/farm_launcher.h"
#include "director/serve/director_door.h"
#include "director/serve/farm_door.h"
#include "director/serve/worker_service.h"
#include "director/shell/attached_workers.h"
#include "director/shell/clock_offsets.h"
#include "director/shell/collection_counts.h"
#include "director/shell/content_watch.h"
#include "director/shell/cook_seats.h"
#include "director/shell/figures_board.h"
#include "director/shell/free_programs.h"
#include "director/shell/group_commits.h"
#include "director/shell/instigator_notes.h"
#include "director/shell/job_builder.h"
#include "director/shell/launches.h"
#include "director/shell/look_ups.h"
#include "director/shell/lookup.h"
#include "director/shell/memory_guard.h"
#include "director/shell/message_room.h"
#include "director/shell/outgrown_limits.h"
#include "director/shell/program_runs.h"
#include "director/shell/published_keys.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/silence_watch.h"
#include "director/shell/task_thread.h"
#include "director/shell/tool_digests.h"
#include "director/shell/trace.h"
#include "director/shell/worker_admission.h"
#include "director/shell/worker_bytes.h"
#include "director/shell/worker_log_book.h"
#include "director/shell/worker_views.h"
#include "director/shell/world.h"
#include "director/shell/world_succession.h"
#include "director/shell/write_back.h"

namespace galley::director {

struct ShellOptions {
  std::string state_directory;
  std::string socket_path;          // where workers attach, if there is no `door`
  std::string worker_program;       // galley-worker
  std::string cookers_json;         // as the cookers of this director describe themselves
  bool is_identity_binary = false;  // [cook] identity = "binary"
  CookOptions core;
  LookUpRunner::Options look_up;
  std::string worker_build;       // Cookers::build
  bool has_far_programs = false;  // workers without the project's files are given `command`
  uint32_t slots = 1;
  uint64_t memory_bytes_default = 4ull << 30;
  absl::Duration timeout_default = absl::Minutes(30);
  std::string project_id;
  uint32_t keep_roots = 0;  // PublishedRoot::keep_roots
  // Asked before files of the state folder are written; the journal and the store ask by
  // themselves.
  std::function<absl::Status()> may_write;
  // Asked when a worker or an attempt ended for the machine's sake: an error ends the cook. (None
  // of the hundred times that it is tried again would make room.)
  std::function<absl::Status()> has_room;
  // What this process may use; 0: nobody looks.
  uint64_t own_memory_bytes = 0;
  std::function<uint64_t()> own_memory_used = nullptr;  // null: as the system says
  // The workers of a director that died which still live, and the attempts that it gave to them.
  std::vector<WorkerRecord> survivors;
  std::vector<AttemptRecord> given_before;
  // A store of other people behind ours, and what sends results there; null: none.
  store::RemoteCache* remote = nullptr;
  WriteBack* write_back = nullptr;
  // The socket of the director; outlives the shell. Null: the shell opens one at `socket_path`.
  DirectorDoor* door = nullptr;
  // Where workers that nobody here started attach ([farm] listen); empty: nowhere.
  std::string farm_listen;
  wire::TlsFiles farm_tls;  // no certificate: no TLS
  absl::Duration farm_certificate_lifetime = FarmDoor::kCertificateLifetime;
  // Where it writes what it counts; outlives the shell. Null: nobody asks.
  FiguresBoard* figures = nullptr;
  // What brings workers up on other machines (CookOptions::fleet says how many); they attach at
  // `farm_listen`.
  FarmLaunch farm_launch;
};

// Under the state folder, while workers can attach at farm_listen: the address with its port, and
// the token that they show, which stays (mode 0600).
inline constexpr const char* kFarmAddressFile = "farm-address";
inline constexpr const char* kFarmTokenFile = "farm-token";

class DirectorShell {
 public:
  DirectorShell(ShellOptions options, WorldPtr world, store::Store& store, Journal& journal,
                Trace& trace);
  // Stops.
  ~DirectorShell();

  // Once. UNAVAILABLE: the socket cannot be served.
  absl::Status Start();

  // The present world.
  WorldPtr world() const { return world_.Get(); }
  // Makes the files as they were found by a new scan the present world: those that a cook which
  // begins now, and cooks that run, go on with. Waits; returns the world that is present then.
  // Errors: the machine's fault; the world is as it was.
  absl::StatusOr<WorldPtr> Follow(std::shared_ptr<World> scanned);

  // A cook: waits until it is over, which is soon when `stop` is cancelled. `listener` is called on
  // this thread. REQUIRES: Start, not Stop; no other cook has its number.
  absl::StatusOr<ShellOutcome> Cook(CookOrder order, ShellListener& listener, Cancellation& stop);
  // Between two cooks, or beside some: writes down from what the next director starts: the snapshot
  // table, the digest cache, the store's state. Waits.
  absl::Status Remember();

  std::vector<WorkerStatus> Workers() const { return worker_views_.All(); }
  // Where workers attach that nobody here started; empty: nowhere.
  std::string farm_address() const { return farm_door_ == nullptr ? "" : farm_door_->address(); }
  // These workers end when they have nothing in hand, and others are started when there is work.
  void Drain(const std::vector<std::string>& workers);
  // Forgets all results of these packages; a cook that runs looks them up again. Waits. NOT_FOUND:
  // one of them was in no cook, and nothing was forgotten.
  absl::Status Forget(const std::vector<std::string>& packages);

  // Ends the workers and all threads. REQUIRES: no cook runs.
  void Stop();

 private:
  using Internal = std::function<void()>;
  using Message = std::variant<Event, Internal>;

  void Post(Message message);
  void Loop();
  void Begin(const std::shared_ptr<CookSeat>& seat);
  void End(const std::shared_ptr<CookSeat>& seat, const CookEnded& ended);
  void Finish(const std::shared_ptr<CookSeat>& seat, const absl::Status& remembered);
  void Cancel(uint64_t cook);
  void RetryWhatCooksAsk();
  CookRequested RequestOf(CookSeat& seat);
  PlatformMask PlatformsIn(CookSeat& seat, const World& world, PlatformMask otherwise);
  void TellPlatforms(CookSeat& seat) const;
  void CancelRefused();
  void LookAtResult(CookSeat& seat, const StoredResultPtr& result);
  void OnLoop(Internal task);
  void Warn(record::WarningKind kind, const std::string& text);  // any thread
  void TellProgress();
  void WriteFigures();
  std::vector<Message> TakeInbox(absl::Duration wait);
  void CheckFence();
  void LookAtOwnMemory();
  absl::StatusOr<v1::PackageAnswer> OnQuestion(const v1::PackageQuestion& question);
  absl::StatusOr<v1::PackageAnswer> Answer(const v1::PackageQuestion& question);
  absl::Duration Patience();
  void StepCore(const Event& event);

  void Execute(std::vector<Effect>& effects);
  void Do(const Reply& effect);
  void Do(const LookUp& effect);
  void Do(const Desire& effect);
  void Do(const Spawn& effect);
  void Do(const director::Stop& effect);
  void Do(const Persist& effect);
  void Do(const Rescan& effect);
  void Do(const BuildRoot& effect);
  void Do(const PublishRoot& effect);
  void Do(const StageRoots& effect);
  void Do(const LookForLost& effect);
  void Do(const Notify& effect);
  void Tell(CookMask cooks, const PackageFailed& notice);
  void Tell(CookMask cooks, const PackageWarned& notice);
  void Tell(CookMask cooks, const PackageDone& notice);
  void Tell(CookMask cooks, const PackageLeft& notice);
  void Tell(CookMask cooks, const PackageBlamed& notice);
  void Tell(CookMask cooks, const WorkerQuarantined& notice);
  void Tell(CookMask cooks, const WorkerHeld& notice);
  void Tell(CookMask cooks, const WorkerViolated& notice);
  void Tell(CookMask cooks, const CookBegan& notice);
  void Tell(CookMask cooks, const CookEnded& notice);
  void StartCommit();
  void CommitPending();
  void AfterCommit(const std::vector<ResultId>& cooked);
  bool TakeCommitted();
  SourcesPtr Present();  // any thread
  JobBuilder Builder();
  void AdoptSurvivors();

  absl::StatusOr<v1::ToWorker> OnAttach(const std::string& worker_id, const v1::FromWorker& first);
  void OnMessageInTurn(const std::string& worker_id, const v1::FromWorker& message,
                       absl::FunctionRef<bool()> is_present);
  void OnMessage(const std::string& worker_id, const v1::FromWorker& message);
  void HearClock(const std::string& worker_id, const v1::FromWorker& message);
  void NoteFailedAttempts(const std::string& worker_id, const WorkerReported& reported);
  void ForgetWorker(const std::string& worker_id);
  void TellHeld(CookSeat& seat) const;
  absl::Status OpenFarmDoor();
  void MakeLaunches();
  void LoseTheSilent();
  void GiveSegmentIfLow(const std::string& worker_id, const v1::FromWorker& message);

  void BuildDifference(CookSeat& seat, const BuildRoot& effect, HeldResults results,
                       const std::string& platform);
  // The results that an effect names, so that they are there while others work with it.
  HeldResults Hold(const std::vector<std::pair<PackageId, ResultId>>& packages) const;
  static RootContent ContentOf(const CookSeat& seat, const std::string& platform, bool by_the_book);
  std::optional<Digest> WholeRoot(const std::string& platform);
  void CountLost(const std::vector<RootBuilt::Lost>& lost,
                 const std::vector<std::string>& packages);
  std::optional<uint64_t> PublishedAlready(const std::string& platform, const PublishRoot& effect);
  void NoteFailure(CookSeat& seat, const PackageFailed& failed);
  std::vector<FailureUpdate> TakeFailures();
  void TakeSuccessor(Successor successor);
  void TakePlatforms(const World& before, const World& world, FilesChanged files);
  InstigatorNotes NoteInstigators(const CookSeat& seat);
  void SendBack(const GroupCommits::Ended& committed);
  void LogRefused(const Persisted::Item& item) const;
  void TakeReports(WorkerReported reported, uint64_t world_number);
  void NoteProgram(AttemptId attempt, const AttemptInfo& info);
  void WatchContent();
  absl::StatusOr<std::vector<FreePrograms::Change>> ChangesBy(const CookSeat& seat);
  void TellFreePrograms(CookSeat& seat);
  void ForgetPrograms();
  void LookAtInputs(const WorkerReport& report);
  void LookAtTheDisk();
  std::string PlatformName(PlatformIndex platform) const;

  const ShellOptions options_;
  WorldHolder world_;
  store::Store& store_;
  Journal& journal_;
  Trace& trace_;
  SystemClock clock_;

  Cancellation stopping_;  // of files that are hashed where the loop or a commit waits for them
  ToolDigests tools_;
  ResultTable results_{ResultTable::Kept::kWhileHeld};
  ReportReader reports_;
  WorkerBytes worker_bytes_;
  StoredReads stored_reads_;
  AttachedWorkers workers_{options_.farm_launch.kind};
  WorkerViews worker_views_{
      [this](const std::string& name, const std::string& state, const std::string& machine) {
        trace_.WorkerIs(name, state, machine, clock_.Now());
      }};
  ClockOffsets clocks_;
  WorkerLogBook log_book_;
  WorkerAdmission admission_;
  CollectionCounts collections_;
  const absl::Time began_at_ = clock_.Now();
  OutgrownLimits limits_;
  MessageRoom message_room_;
  std::unique_ptr<CookCore> core_;

  base::Mutex mutex_;
  base::CondVar inbox_changed_;
  std::vector<Message> inbox_ GALLEY_GUARDED_BY(mutex_);
  bool accepting_ GALLEY_GUARDED_BY(mutex_) = true;
  bool is_serving_ GALLEY_GUARDED_BY(mutex_) = false;

  // Loop thread only.
  GroupCommits commits_;        // (Some of it is the commit thread's.)
  CookSeats seats_;             // (All: the commit thread, too)
  WorldSuccession successors_;  // (The commit thread's.)
  MemoryGuard memory_;
  ProgramRuns program_runs_;
  std::unique_ptr<ContentWatch> content_watch_;  // null: no such program ran, or content_blind_
  std::string content_blind_;                    // why there is none
  bool is_stopping_ = false;
  uint64_t bytes_stored_ = 0, bytes_deduplicated_ = 0;  // for all cooks
  absl::Time last_progress_ = absl::InfinitePast();
  absl::Time fence_checked_ = absl::InfinitePast();
  SilenceWatch silence_;
  std::optional<Reply> reply_;

  // Last, so that they end before what their callbacks use.
  LookUps look_ups_;
  TaskThread commit_thread_;
  std::unique_ptr<WorkerService> service_;
  std::unique_ptr<FarmDoor> farm_door_;
  std::unique_ptr<Launches> launches_;
  std::thread loop_;
};

}  // namespace galley::director
