// DeviceService: what devices see of a resident director: the object behind all their faces.
//
//   a call       what is cooked is answered on the thread of the call, from immutable views
//   turns        one thread: worlds, trees, reads that wait, sessions that open, what is cooked
//                ahead; new folders are stored, and new roots leased, before anybody is told
//   builds       one thread: the sessions of an earlier director, the first tree of a platform
//   pool         paths in roots, what differs between two, blobs, records, older worlds: what
//                blocks at the store
//
// Decisions are made by classes without threads: PathRead, WaitingReads, OpeningSessions,
// DeviceTrees, DeviceSessions, ChangeLog, WorldDifference, AheadPlan. Where the service runs is the
// caller's choice (DeviceThreads).
//
// Threads: any; Stop: one. The callbacks of calls run on the threads above.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "director/devices/device_sessions.h"
#include "director/journal/journal.h"
#include "director/remake/remaker.h"
#include "director/resident/cook_ahead.h"
#include "director/resident/cooked_notes.h"
#include "director/resident/cooked_tables.h"
#include "director/resident/device_threads.h"
#include "director/resident/event_streams.h"
#include "director/resident/known_answers.h"
#include "director/resident/opening_sessions.h"
#include "director/resident/past_reads.h"
#include "director/resident/present_project.h"
#include "director/resident/root_differences.h"
#include "director/resident/shared_sessions.h"
#include "director/resident/shown_trees.h"
#include "director/resident/steady_time.h"
#include "director/resident/store_answers.h"
#include "director/resident/timed_calls.h"
#include "director/resident/waiting_call.h"
#include "director/resident/waiting_reads.h"
#include "director/serve/device_calls.h"
#include "director/shell/kept_sources.h"
#include "director/shell/result_table.h"

namespace galley::director {

class DeviceService final : public DeviceCalls {
 public:
  // Whoever opens a session waits so long for the tree, and then is told to come again. A root that
  // is named is looked for as long as the caller waits.
  static constexpr absl::Duration kOpenPatience = absl::Seconds(2);
  // A cook's result is taken up by the next turn, which comes after about this time.
  static constexpr absl::Duration kCookedBatchLength = absl::Milliseconds(20);

  // Everything in Deps outlives the service.
  struct Deps {
    PresentProject& present;
    store::Store& store;
    Journal& journal;
    Remaker& remaker;
    KeptSources* kept = nullptr;  // null: sources are not kept
    DeviceThreads& threads;
    std::string trust_domain;
    std::vector<std::string> read_trust;
    // `project` is the id of the project, `changes.term` that of the director.
    devices::DeviceSessionsOptions sessions;
    CookAhead::Settings ahead;
  };
  // The sessions whose leases an earlier director left are found on the thread of builds, and
  // opened again in a turn; until then a session that is not there is kNotReady, not kAbsent.
  explicit DeviceService(Deps deps);
  // Calls Stop.
  ~DeviceService() override;

  // Another world may be the present one.
  void NoteWorld();
  // A cook of any class has brought this result, which is durable.
  void NoteCooked(const StoredResultPtr& result);
  // Answers all who wait, and ends the threads. Later calls are refused.
  void Stop();

  // Says how cooking ahead gets on. nullopt: the project does not want it.
  std::optional<AheadFigures> ahead() const;

  DeviceCallPtr ReadPresent(PresentRead read, OnFile answer) override;
  DeviceCallPtr ReadInSession(SessionRead read, OnFile answer) override;
  DeviceCallPtr ReadInRoot(const Digest& root, std::string path, OnFile answer) override;
  DeviceCallPtr CompareRoots(const Digest& older, const Digest& newer,
                             OnDifference answer) override;
  DeviceCallPtr ReadBlob(const Digest& digest, OnFile answer) override;
  DeviceCallPtr ReadRecord(const Digest& action_key, OnRecord answer) override;
  DeviceCallPtr ReadRecordOutput(const Digest& action_key, std::string suffix,
                                 absl::Duration wait_max, OnFile answer) override;
  DeviceCallPtr OpenSession(SessionAsk ask, absl::Duration wait_max, OnSession answer) override;
  SessionAnswer RenewSession(const std::string& id) override;
  std::optional<DeviceRefusal> CloseSession(const std::string& id) override;
  EventsAnswer ReadChanges(const std::string& id,
                           const std::optional<std::string>& last_event_id) override;
  void NoteLost(const Digest& digest) override;

 private:
  using Turn = std::function<void()>;

  WaitingReads::Deps DepsOfReads();
  CookAhead::Deps DepsOfAhead();
  ShownWorldPtr LookAtPresent();
  absl::Time Now() { return time_.Now(); }
  // False: the service has stopped, and the turn is dropped.
  bool Post(Turn turn);
  void EndTurn();
  bool IsLastTurn();
  void GiveAnswers();
  void Tick();
  void FollowPresent();
  void RenewChanged(const WorldDifference& difference);
  bool TakeResult(const WorldPtr& world, const std::string& platform, const std::string& package,
                  const StoredResult& result, ResultOrigin origin);
  std::optional<DeviceFile> FindLastGood(const FileRead& read, const PathRead& path,
                                         const PackageFault& fault);
  void TakeCooked(uint64_t count);
  void TakeCookedOne(const StoredResult& result);
  void FindLeft();
  bool IsCurrent(const ShownWorldPtr& shown) const;
  void BeginRead(FileRead read);
  void ReadPast(FileRead read);
  std::optional<DeviceAnswer> AnswerOfPast(const FileRead& read, const Cancellation& stop);
  bool IsUnsettled(const devices::SessionView& session) const;

  const Deps deps_;
  const StoreAnswers answers_;
  SharedSessions shared_;
  CookedTables cooked_;
  CookedNotes cooked_notes_;
  KnownAnswers known_;
  EventStreams streams_;
  PastReads past_;
  Cancellation stop_;

  SteadyTime time_;
  base::Mutex post_mutex_;
  bool has_stopped_ GALLEY_GUARDED_BY(post_mutex_) = false;
  size_t turns_queued_ GALLEY_GUARDED_BY(post_mutex_) = 0;

  const std::unique_ptr<EndingTasks> turns_;
  const std::unique_ptr<EndingTasks> builds_;
  TimedCalls timed_;
  RootDifferences differences_;

  // The thread of turns only.
  ShownTrees trees_;
  WaitingReads reads_;
  CookAhead ahead_;  // NoteAsked and figures: any thread
  OpeningSessions opens_;
  int find_left_tries_ = 0;                           // of the thread of builds
  absl::Time find_left_at_ = absl::InfiniteFuture();  // when FindLeft is tried again
  size_t turns_without_end_ = 0;

  const std::unique_ptr<WakeTimer> timer_;
};

}  // namespace galley::director
