// OpeningSessions: the turns' part of sessions that open: each waits until its audience has a tree
// in the present world, and is told its root when the store has leased it. All wait until the
// sessions of an earlier director are open again (Restore), so that the first tree of a world has
// all that these have seen.
//
// Threads: one, of the turns.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "director/devices/device_sessions.h"
#include "director/resident/left_leases.h"
#include "director/resident/shared_sessions.h"
#include "director/resident/shown_trees.h"
#include "director/resident/shown_world.h"
#include "director/resident/store_answers.h"
#include "director/resident/waiting_call.h"
#include "director/serve/device_calls.h"

namespace galley::director {

// The session as devices are told of it.
DeviceSessionState StateOf(const devices::SessionView& session);

class OpeningSessions {
 public:
  // Everything in Deps outlives OpeningSessions.
  struct Deps {
    SharedSessions& shared;
    ShownTrees& trees;
    const StoreAnswers& answers;
    // The present world, after a look whether there is a newer one; nullptr: there is none yet.
    std::function<ShownWorldPtr()> follow;
    std::function<absl::Time()> now;
  };
  explicit OpeningSessions(Deps deps) : deps_(std::move(deps)) {}

  // Opens the sessions of an earlier director again, and then those that wait. Called once.
  void Restore(const LeftLeases& left);
  // Opens a session, or refuses at once what never comes. At `deadline` the call is told to come
  // again.
  void Begin(const std::shared_ptr<SessionCall>& call, const SessionAsk& ask, absl::Time deadline);
  // Trees may have come, and deadlines may have passed.
  void TryAll();
  // Returns the sessions that were opened since the last call, whose answers are given when the
  // leases are flushed.
  std::vector<std::pair<std::shared_ptr<SessionCall>, DeviceSessionState>> TakeOpened() {
    return std::exchange(opened_, {});
  }
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

  void RestoreSession(const LeftLease& left);
  void OpenAtRoot(const Waiting& waiting);
  void Open(const Waiting& waiting, std::optional<devices::OpenSession::At> at);

  const Deps deps_;
  bool is_restored_ = false;
  std::deque<Waiting> waiting_;
  std::vector<std::pair<std::shared_ptr<SessionCall>, DeviceSessionState>> opened_;
};

}  // namespace galley::director
