#include "director/resident/opening_sessions.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "common/base/log.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "director/resident/tree_build.h"
#include "director/resident/tree_presence.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

DeviceRefusal RootIsGone(const Digest& root) {
  return {.kind = RefusalKind::kGone,
          .text = fmt::format("the root {} was collected, or never was here", root.ToString())};
}

}  // namespace

DeviceSessionState StateOf(const devices::SessionView& session) {
  DeviceSessionState state{.id = session.id,
                           .platform = session.audience.platform,
                           .cultures = session.audience.cultures,
                           .root = session.root,
                           .is_frozen = session.standing == devices::SessionStanding::kFrozen,
                           .last_good = session.takes_last_good};
  if (session.newest_root != Digest()) state.newest_root = session.newest_root;
  return state;
}

DeviceRefusal RefusalOfLeases(const absl::Status& leased) {
  return absl::IsNotFound(leased) ? NotReady(MessageOf(leased)) : RefusalOf(leased);
}

// ------------------------------------------------------------------ the director before

void OpeningSessions::Restore(const LeftLeases& left) {
  for (const LeftLease& one : left.readable) {
    deps_.trees.NoteLeased(devices::DigestOfWorld(one.world), one.lease.root);
    if (!one.owner.session.empty()) RestoreSession(one);
  }
  deps_.shared.EndRestore(left.all);
  is_restored_ = true;
  deps_.trees.CatchUp(deps_.now());
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    if (!waiting.call->is_over()) Begin(waiting.call, waiting.ask, waiting.deadline);
  }
}

void OpeningSessions::RestoreSession(const LeftLease& left) {
  const devices::OpenSession request{
      .id = left.owner.session,
      .audience = {.platform = left.world.platform, .cultures = left.world.cultures},
      .at = devices::OpenSession::At{.root = left.lease.root, .world = left.world},
      .takes_last_good = left.owner.takes_last_good};
  const auto opened = deps_.shared.With(
      [&](devices::DeviceSessions& sessions) { return sessions.Open(request, deps_.now()); });
  if (!opened.ok())
    LogWarning("devices: lease={}: {}", left.lease.name, MessageOf(opened.status()));
}

// ------------------------------------------------------------------ sessions that open

void OpeningSessions::Begin(const std::shared_ptr<SessionCall>& call, const SessionAsk& ask,
                            absl::Time deadline) {
  const ShownWorldPtr present = deps_.follow();
  Waiting waiting{.call = call, .ask = ask, .deadline = deadline};
  const absl::Status valid = devices::ValidateDeviceWorld(
      {.project = deps_.shared.project(), .platform = ask.platform, .cultures = ask.cultures});
  if (!valid.ok()) return call->Give(RefusalOf(valid));
  const std::string why_not = deps_.shared.why_not();
  if (present == nullptr)
    return call->Give(NotReady(why_not.empty() ? "the project is being made ready" : why_not));
  if (present->Find(ask.platform) == nullptr)
    return call->Give(Absent(fmt::format("there is no platform {}", ask.platform)));
  if (!is_restored_) return waiting_.push_back(waiting);
  if (ask.root) return FindRoot(waiting);
  waiting.ask.cultures = CulturesIn(*present, ask.cultures);
  const absl::Status wanted = deps_.trees.Want(waiting.audience(), deps_.now());
  if (!wanted.ok()) return call->Give(RefusalOf(wanted));
  waiting_.push_back(std::move(waiting));
}

void OpeningSessions::TryAll() {
  const absl::Time now = deps_.now();
  std::set<devices::Audience> wanted;
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    if (waiting.call->is_over()) continue;
    if (deps_.trees.HasTree(waiting.audience())) {
      Open(waiting, std::nullopt, /*had_no_lease=*/false);
    } else if (waiting.deadline > now) {
      wanted.insert(waiting.audience());
      waiting_.push_back(std::move(waiting));
    } else if (!is_restored_) {
      waiting.call->Give(NotReady(std::string(kSessionsAreRestored)));
    } else {
      const BuildProgress& progress = deps_.trees.progress();
      waiting.call->Give(NotReady(fmt::format("the project is being looked at: {} of {} packages",
                                              progress.done.load(), progress.total.load())));
    }
  }
  deps_.trees.KeepWanted(wanted);
}

void OpeningSessions::Open(const Waiting& waiting, std::optional<At> at, bool had_no_lease) {
  const devices::OpenSession request{.id = deps_.make_id(),
                                     .audience = waiting.audience(),
                                     .at = std::move(at),
                                     .takes_last_good = waiting.ask.last_good,
                                     .succeeds = waiting.ask.succeeds};
  const auto session = deps_.shared.With(
      [&](devices::DeviceSessions& sessions) { return sessions.Open(request, deps_.now()); });
  if (!session.ok()) return waiting.call->Give(RefusalOf(session.status()));
  opened_.push_back({.call = waiting.call,
                     .state = StateOf(*session),
                     .deadline = waiting.deadline,
                     .had_no_lease = had_no_lease});
  if (request.at) deps_.trees.CatchUp(deps_.now());  // the audience may have no tree yet
}

void OpeningSessions::Close(const std::string& session) {
  deps_.shared.With([&](devices::DeviceSessions& sessions) { sessions.Close(session); });
}

void OpeningSessions::GiveOpened(const absl::Status& leased) {
  for (const Opened& opened : std::exchange(opened_, {})) {
    if (leased.ok() && opened.had_no_lease) {
      LookAfterLease(opened);
    } else if (leased.ok()) {
      opened.call->Give(StateOfNow(opened.state));
    } else {
      // Nobody was told of it, and a root that went must not hold up the leases of others.
      Close(opened.state.id);
      opened.call->Give(absl::IsNotFound(leased) && opened.had_no_lease
                            ? RootIsGone(opened.state.root)
                            : RefusalOfLeases(leased));
    }
  }
}

absl::Time OpeningSessions::due_at() const {
  absl::Time due = absl::InfiniteFuture();
  for (const Waiting& waiting : waiting_) due = std::min(due, waiting.deadline);
  return due;
}

// ------------------------------------------------------------------ named roots

void OpeningSessions::FindRoot(const Waiting& waiting) {
  deps_.timed.Start(waiting.call, waiting.deadline, [this, waiting](const Cancellation&) {
    const auto world = WorldOfRoot(*waiting.ask.root, deps_.answers.reader());
    deps_.post([this, waiting, world] {
      if (!waiting.call->is_over()) OpenAtRoot(waiting, world);
    });
  });
}

void OpeningSessions::OpenAtRoot(Waiting waiting,
                                 const absl::StatusOr<devices::DeviceWorld>& world) {
  const Digest root = *waiting.ask.root;
  if (absl::IsNotFound(world.status())) return waiting.call->Give(RootIsGone(root));
  if (!world.ok()) return waiting.call->Give(RefusalOf(world.status()));
  waiting.ask.cultures = CulturesAt(*world, waiting.ask.cultures);
  const absl::Status admitted = deps_.trees.Admit(waiting.audience());
  if (!admitted.ok()) return waiting.call->Give(RefusalOf(admitted));
  const At at{.root = root, .world = *world};
  if (!deps_.shared.IsLeased(root)) return LookBeforeLease(waiting, at);
  Open(waiting, at, /*had_no_lease=*/false);
}

// A culture that neither the root's world nor the present one has decides nothing.
std::vector<std::string> OpeningSessions::CulturesAt(const devices::DeviceWorld& world,
                                                     const std::vector<std::string>& asked) const {
  std::vector<std::string> cultures = CulturesIn(*deps_.trees.present(), asked);
  std::ranges::set_intersection(asked, world.cultures, std::back_inserter(cultures));
  SortUnique(cultures);
  return cultures;
}

void OpeningSessions::LookBeforeLease(const Waiting& waiting, const At& at) {
  deps_.timed.Start(waiting.call, waiting.deadline, [this, waiting, at](const Cancellation& stop) {
    if (const auto refusal = RefusalOfRoot(at.root, stop)) return waiting.call->Give(*refusal);
    deps_.post([this, waiting, at] {
      if (!waiting.call->is_over()) Open(waiting, at, /*had_no_lease=*/true);
    });
  });
}

void OpeningSessions::LookAfterLease(const Opened& opened) {
  deps_.timed.Start(opened.call, opened.deadline, [this, opened](const Cancellation& stop) {
    const auto refusal = RefusalOfRoot(opened.state.root, stop);
    const bool is_heard = !refusal && !opened.call->is_over();
    if (is_heard) return opened.call->Give(StateOfNow(opened.state));
    deps_.post([this, id = opened.state.id] { Close(id); });
    if (!refusal) return;
    opened.call->Give(*refusal);
  });
}

// The tree of the present world may have grown since the session was opened; the root that was the
// newest one then is leased no more.
DeviceSessionState OpeningSessions::StateOfNow(DeviceSessionState opened) const {
  opened.newest_root.reset();
  const auto seen = deps_.shared.Renew(opened.id, deps_.now());
  if (!seen.ok()) return opened;  // the session has ended, as its next request will hear
  const DeviceSessionState now = StateOf(seen->session);
  opened.newest_root = now.newest_root;
  opened.is_frozen = now.is_frozen;
  return opened;
}

// nullopt: the store has the whole tree.
std::optional<DeviceRefusal> OpeningSessions::RefusalOfRoot(const Digest& root,
                                                            const Cancellation& stop) const {
  const absl::StatusOr<bool> is_whole = IsTreeWhole(deps_.store, root, stop);
  if (!is_whole.ok()) return RefusalOf(is_whole.status());
  return *is_whole ? std::nullopt : std::optional(RootIsGone(root));
}

void OpeningSessions::EndAll(const DeviceRefusal& refusal) {
  for (const Waiting& waiting : std::exchange(waiting_, {})) waiting.call->Give(refusal);
}

}  // namespace galley::director
