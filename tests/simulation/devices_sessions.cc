// DevicesStage's sessions, and what they are told.

#include <algorithm>
#include <utility>
#include <variant>

#include "tests/simulation/devices_stage.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a client of it

namespace {

constexpr absl::Duration kOpensAgainAfter = absl::Milliseconds(300);
constexpr uint32_t kTriesMax = 20;
constexpr size_t kEventsAtOnce = 3;
constexpr absl::Duration kOpenWaitMax = absl::Seconds(10);
constexpr int kWakesWithinMs = 5;

const std::vector<std::vector<std::string>>& CulturesOfSessions() {
  static const std::vector<std::vector<std::string>>& sets =
      *new std::vector<std::vector<std::string>>{{}, {"fr", "de"}};
  return sets;
}

}  // namespace

// ------------------------------------------------------------------ openings

void DevicesStage::OpenSome() {
  const auto& sets = CulturesOfSessions();
  Opening opening{.ask = {.platform = kPlatforms[device_draws_.Below(kPlatforms.size())],
                          .cultures = sets[device_draws_.Percent(80) ? 0 : 1],
                          .root = std::nullopt,
                          .last_good = device_draws_.Percent(20)}};
  if (!sessions_.empty() && device_draws_.Percent(40)) SomeSession(opening.ask.succeeds);
  if (!roots_.all().empty() && device_draws_.Percent(15)) {
    const auto at =
        std::next(roots_.all().begin(),
                  static_cast<std::ptrdiff_t>(device_draws_.Below(roots_.all().size())));
    opening.ask.root = at->first;
    // Some ask for another platform than the root's.
    if (device_draws_.Percent(90)) {
      opening.ask.platform = at->second.world.platform;
      opening.ask.cultures = at->second.world.cultures;
    }
  }
  Open(std::move(opening));
}

void DevicesStage::Open(Opening opening) {
  const uint64_t number = ++last_number_;
  opening.begun_in = history_.empty() ? 0 : history_.size() - 1;
  checks_.Trace("device opens a session on " + opening.ask.platform +
                    (opening.ask.root.has_value() ? " at " + opening.ask.root->hex() : ""),
                number, opening.ask.cultures.size(), opening.ask.last_good);
  openings_[number] = std::move(opening);
  SubmitOpening(number);
}

void DevicesStage::SubmitOpening(uint64_t number) {
  const auto found = openings_.find(number);
  if (found == openings_.end() || service_ == nullptr) return;
  service_->OpenSession(found->second.ask, kOpenWaitMax,
                        [this, number, of = generation_](const SessionAnswer& answer) {
                          if (of == generation_) HearOpened(number, answer);
                        });
}

void DevicesStage::HearOpened(uint64_t number, const SessionAnswer& answer) {
  const auto found = openings_.find(number);
  if (found == openings_.end())
    return checks_.Break("safety: the opening of a session is answered twice");
  const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
  checks_.Trace(refusal == nullptr ? "a session is open: " + std::get<DeviceSessionState>(answer).id
                                   : "no session: " + refusal->text,
                number);
  const bool is_later = refusal != nullptr && refusal->kind == RefusalKind::kNotReady;
  if (is_later && (found->second.is_final || ++found->second.tries < kTriesMax)) {
    schedule_.After(kOpensAgainAfter, [this, number, of = generation_] {
      if (of == generation_) SubmitOpening(number);
    });
    return;
  }
  const Opening opening = std::move(found->second);
  openings_.erase(found);
  if (refusal == nullptr) {
    TakeOpened(opening, std::get<DeviceSessionState>(answer));
  } else if (!is_later) {
    CheckRefusedOpening(opening, *refusal);
  }
}

void DevicesStage::TakeOpened(const Opening& opening, const DeviceSessionState& state) {
  ++device_counts_.opened;
  std::vector<std::string> asked = opening.ask.cultures;
  std::ranges::sort(asked);
  // Cultures that decide nothing are left out.
  const std::vector<std::string>& cultures = state.cultures;
  if (state.platform != opening.ask.platform || !std::ranges::includes(asked, cultures))
    return checks_.Break("safety: a session has another audience than was asked for");
  if (opening.ask.root.has_value() && *opening.ask.root != state.root)
    return checks_.Break("safety: a session is at another root than was asked for");
  const KnownRoot* const known = CheckTold(state.root);
  if (state.newest_root.has_value()) CheckTold(*state.newest_root);
  if (known == nullptr) return;        // parts of the tree are lost
  size_t opened_in = history_.size();  // the last time that the session's world was present
  while (opened_in > 0 && history_[opened_in - 1].files != *known->files) --opened_in;
  const bool was_present = opened_in > opening.begun_in;
  if (!opening.ask.root.has_value() && !was_present)
    return checks_.Break("safety: a session begins in a world that was not present: " + state.id);
  if (known->world.platform != state.platform || known->world.cultures != cultures)
    return checks_.Break("safety: a session's root is of another audience: " + state.id);
  Session& session = sessions_[state.id];
  NoteKnown(session);
  session.platform = state.platform;
  session.root = state.root;
  session.files = known->files;
  session.opened_in = opened_in == 0 ? 0 : opened_in - 1;
  session.is_at_old_root = opening.ask.root.has_value();
  session.takes_last_good = opening.ask.last_good;
  session.asked = schedule_.now();
  if (!opening.is_final) return;
  for (uint64_t i = 0; i < packages_; ++i) {
    const std::string package = World::NameOf(i).substr(1);
    for (const std::string& path :
         {package + ".out", package + "/_gen/a.out", "Game/plain/" + package.substr(5) + ".txt"})
      BeginRead({.kind = Kind::kSession,
                 .platform = state.platform,
                 .path = path,
                 .session = state.id,
                 .is_final = true});
  }
}

void DevicesStage::CheckRefusedOpening(const Opening& opening, const DeviceRefusal& refusal) {
  const bool lacked_platform = std::any_of(
      history_.begin() + static_cast<std::ptrdiff_t>(opening.begun_in), history_.end(),
      [&](const WorldThen& then) {
        return std::ranges::find(then.platforms, opening.ask.platform) == then.platforms.end();
      });
  if (refusal.kind == RefusalKind::kAbsent && lacked_platform) return;
  if (opening.ask.root.has_value()) {
    const KnownRoot& known = *roots_.Find(*opening.ask.root);
    const bool is_other = known.world.platform != opening.ask.platform ||
                          known.world.cultures != opening.ask.cultures;
    if (refusal.kind == RefusalKind::kInvalid && is_other) return;
    // A root that no lease keeps may be collected.
    if (IsLossPossible() || !IsLeased(*opening.ask.root)) return;
  }
  if (!IsLossPossible())
    checks_.Break("safety: a session is refused for no reason: " + refusal.text);
}

// ------------------------------------------------------------------ sessions

// nullptr: there is none.
DevicesStage::Session* DevicesStage::SomeSession(std::string& id) {
  if (sessions_.empty()) return nullptr;
  const auto at = std::next(sessions_.begin(),
                            static_cast<std::ptrdiff_t>(device_draws_.Below(sessions_.size())));
  id = at->first;
  return &at->second;
}

void DevicesStage::RenewSome() {
  std::string id;
  if (SomeSession(id) == nullptr || service_ == nullptr) return;
  CheckSession(id, service_->RenewSession(id));
}

void DevicesStage::CloseSome() {
  std::string id;
  Session* const session = SomeSession(id);
  if (session == nullptr || service_ == nullptr) return;
  checks_.Trace("device closes session " + id);
  const bool may_have_ended = MayHaveEnded(*session);
  const std::optional<DeviceRefusal> refusal = service_->CloseSession(id);
  // The sessions of an earlier director are not known yet.
  if (refusal && refusal->kind == RefusalKind::kNotReady) return;
  // Some streams outlive their session for a while.
  const std::unique_ptr<DeviceEvents> stream = std::move(session->stream);
  sessions_.erase(id);
  if (refusal && !may_have_ended)
    checks_.Break("safety: a session has ended that was not silent: " + id);
}

void DevicesStage::ToggleStream() {
  std::string id;
  Session* const session = SomeSession(id);
  if (session == nullptr || service_ == nullptr) return;
  const bool may_have_ended = MayHaveEnded(*session);
  const bool had_stream = session->stream != nullptr;
  checks_.Trace((had_stream ? "device stops to hear changes of " : "device hears changes of ") +
                id);
  NoteAsked(*session);
  if (had_stream) return session->stream.reset();
  std::optional<std::string> last;
  if (session->last_event != devices::EventId()) last = devices::TextOf(session->last_event);
  EventsAnswer answer = service_->ReadChanges(id, last);
  if (const auto* const refusal = std::get_if<DeviceRefusal>(&answer)) {
    // The sessions of an earlier director are not known yet.
    const bool may_be_unknown = session->known_to != generation_;
    if (refusal->kind == RefusalKind::kNotReady && may_be_unknown) return;
    if (!may_have_ended) checks_.Break("safety: a session hears no changes: " + id);
    sessions_.erase(id);
    return;
  }
  session->stream = std::move(std::get<std::unique_ptr<DeviceEvents>>(answer));
  NoteKnown(*session);
  session->stream->SetWake([this, id, of = generation_] {
    schedule_.After(device_draws_.Some(kWakesWithinMs), [this, id, of] {
      if (of == generation_) TakeEvents(id);
    });
  });
  TakeEvents(id);
}

void DevicesStage::TakeEvents(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.stream == nullptr) return;
  Session& session = found->second;
  while (checks_.broken().empty()) {
    const auto events = session.stream->Take(kEventsAtOnce);
    if (!events.has_value())
      return checks_.Break("safety: a stream ends, and its session does not");
    if (events->empty()) return;
    for (const devices::ChangeEventPtr& event : *events) {
      ++device_counts_.events;
      checks_.Trace("an event for " + id, event->id.number, event->added.size(),
                    event->modified.size(), event->removed.size(), event->stale.size(),
                    event->failures.size(), event->is_snapshot);
      const bool is_next =
          session.last_event < event->id || (event->is_snapshot && session.last_event == event->id);
      if (!is_next) checks_.Break("safety: an event is told twice, or out of order: " + id);
      session.last_event = event->id;
      // A newer root may have taken the lease.
      if (event->root != Digest())
        roots_.Know(event->root, director_->store(), /*may_be_lost=*/true);
    }
  }
}

// The answer to a renewal, also to the first one behind a restart.
void DevicesStage::CheckSession(const std::string& id, const SessionAnswer& answer) {
  Session& session = sessions_.at(id);
  const auto* const state = std::get_if<DeviceSessionState>(&answer);
  const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
  if (refusal != nullptr && refusal->kind == RefusalKind::kNotReady) return CheckLater(id);
  if (state == nullptr) {
    if (!MayHaveEnded(session)) checks_.Break("safety: a session is lost: " + id);
    sessions_.erase(id);
    return;
  }
  session.asked = schedule_.now();
  NoteKnown(session);
  if (state->platform != session.platform || state->last_good != session.takes_last_good)
    return checks_.Break("safety: a session is another one than before: " + id);
  if (state->newest_root.has_value()) CheckTold(*state->newest_root);
  MoveTo(session, state->root);
}

// The sessions of the director before are not known yet, or not compared with the present world.
void DevicesStage::CheckLater(const std::string& id) {
  schedule_.After(device_draws_.Some(kNotReadyMsMax), [this, id, of = generation_] {
    const bool is_there = of == generation_ && service_ != nullptr && sessions_.contains(id);
    if (is_there) CheckSession(id, service_->RenewSession(id));
  });
}

void DevicesStage::MoveTo(Session& session, const Digest& root) {
  const KnownRoot* const known = CheckTold(root);
  const Digest before = std::exchange(session.root, root);
  if (known == nullptr || before == root || roots_.Find(before) == nullptr) return;
  // After a loss, a director may begin a tree with less than the last one had.
  if (!IsLossPossible()) roots_.CheckGrowth(before, root);
}

// Whether another world than the session's was present since it was opened.
bool DevicesStage::HasWorldMoved(const Session& session) const {
  if (session.is_at_old_root) return true;
  const WorldThen& first = history_.at(session.opened_in);
  return std::any_of(history_.begin() + static_cast<std::ptrdiff_t>(session.opened_in),
                     history_.end(), [&](const WorldThen& then) {
                       return then.files != *session.files || then.platforms != first.platforms;
                     });
}

// A director that begins gives up a session whose root is lost.
bool DevicesStage::MayHaveEnded(const Session& session) const {
  return session.was_silent || IsLossPossible() ||
         (session.stream == nullptr && schedule_.now() - session.asked >= kSilenceMax);
}

// The session is there.
void DevicesStage::NoteKnown(Session& session) const {
  session.was_silent = false;
  session.known_to = generation_;
}

void DevicesStage::NoteAsked(Session& session) {
  session.was_silent = MayHaveEnded(session);
  session.asked = schedule_.now();
}

// A root that is told is leased, and is what its world says. nullptr: parts of it are lost.
const KnownRoot* DevicesStage::CheckTold(const Digest& root) {
  if (!IsLeased(root))
    checks_.Break("safety: a device is told a root that no lease keeps: " + root.hex());
  return roots_.Know(root, director_->store(), IsLossPossible());
}

}  // namespace galley::simulation
