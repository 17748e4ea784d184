// OpeningSessions: the turns' part of sessions that open: each waits until its audience has a tree
// in the present world, and is told its root when the store has leased it. All wait until the
// sessions of an earlier director are open again (Restore), so that the first tree of a world has
// all that these have seen.
//
// A root that is named, and that no lease keeps, may be collected at any moment. The whole root is
// looked for (IsTreeWhole), leased, and looked for again: only then the session is told.
//
// Threads: one, of the turns.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store.h"
#include "director/devices/device_sessions.h"
#include "director/resident/left_leases.h"
#include "director/resident/shared_sessions.h"
#include "director/resident/shown_trees.h"
#include "director/resident/shown_world.h"
#include "director/resident/store_answers.h"
#include "director/resident/timed_calls.h"
#include "director/resident/waiting_call.h"
#include "director/serve/device_calls.h"

namespace galley::director {

// The session as devices are told of it.
DeviceSessionState StateOf(const devices::SessionView& session);

// The refusal of those whose roots could not be leased. A root that is gone is that of one session:
// the others come again.
DeviceRefusal RefusalOfLeases(const absl::Status& leased);

class OpeningSessions {
 public:
  // Everything in Deps outlives OpeningSessions.
  struct Deps {
    SharedSessions& shared;
    ShownTrees& trees;
    const StoreAnswers& answers;
    store::Store& store;
    TimedCalls& timed;
    // Posts a turn, from any thread.
    std::function<void(std::function<void()> turn)> post;
    // The present world, after a look whether there is a newer one; nullptr: there is none yet.
    std::function<ShownWorldPtr()> follow;
    std::function<absl::Time()> now;
    std::function<std::string()> make_id;  // of a session: one that nobody can guess
  };
  explicit OpeningSessions(Deps deps) : deps_(std::move(deps)) {}

  // Opens the sessions of an earlier director again, and then those that wait. Called once.
  void Restore(const LeftLeases& left);
  // Opens a session, or refuses at once what never comes. At `deadline` the call is told to come
  // again.
  void Begin(const std::shared_ptr<SessionCall>& call, const SessionAsk& ask, absl::Time deadline);
  // Trees may have come, and deadlines may have passed.
  void TryAll();
  // Answers for the sessions that were opened since the last call. `leased`: whether the leases
  // were flushed since.
  void GiveOpened(const absl::Status& leased);
  // When TryAll is needed next.
  absl::Time due_at() const;
  // Refuses all that wait: the service stops.
  void EndAll(const DeviceRefusal& refusal);

 private:
  struct Waiting {
    std::shared_ptr<SessionCall> call;
    SessionAsk ask;
    absl::Time deadline;
    devices::Audience audience() const {
      return {.platform = ask.platform, .cultures = ask.cultures};
    }
  };

  struct Opened {
    std::shared_ptr<SessionCall> call;
    DeviceSessionState state;
    absl::Time deadline;
    bool had_no_lease = false;  // nothing kept the root before
  };
  using At = devices::OpenSession::At;

  void RestoreSession(const LeftLease& left);
  void FindRoot(const Waiting& waiting);
  void OpenAtRoot(Waiting waiting, const absl::StatusOr<devices::DeviceWorld>& world);
  std::vector<std::string> CulturesAt(const devices::DeviceWorld& world,
                                      const std::vector<std::string>& asked) const;
  void LookBeforeLease(const Waiting& waiting, const At& at);
  void LookAfterLease(const Opened& opened);
  DeviceSessionState StateOfNow(DeviceSessionState opened) const;
  std::optional<DeviceRefusal> RefusalOfRoot(const Digest& root, const Cancellation& stop) const;
  void Open(const Waiting& waiting, std::optional<At> at, bool had_no_lease);
  void Close(const std::string& session);

  const Deps deps_;
  bool is_restored_ = false;
  std::deque<Waiting> waiting_;
  std::vector<Opened> opened_;
};

}  // namespace galley::director
