// DevicesStage's reads of files, and what they come to.

#include <algorithm>
#include <utility>
#include <variant>

#include "director/core/effects.h"
#include "tests/simulation/clean_paths.h"
#include "tests/simulation/devices_stage.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a client of it

namespace {

constexpr int kLeavesWithinDeviceMs = 400;
constexpr absl::Duration kPatience = absl::Minutes(5);
constexpr absl::Duration kAgainAfter = absl::Milliseconds(200);
// The limit of the changes of one file under attempts (CookOptions::stale_max).
constexpr uint64_t kStaleMax = 3;

std::string TextOfAnswer(const DeviceAnswer& answer) {
  if (const auto* file = std::get_if<DeviceFile>(&answer)) return "file " + file->digest.hex();
  const auto& refusal = std::get<DeviceRefusal>(answer);
  return "refusal " + std::to_string(static_cast<int>(refusal.kind)) + ": " + refusal.text;
}

// The failure of a package is one that a clean cook has.
bool IsCleanFailure(const CleanPath& clean, const DeviceRefusal& refusal, bool may_have_changed) {
  const bool has_used_up_attempts = refusal.cause == FailureCauseName(FailureCause::kPackage) ||
                                    refusal.cause == FailureCauseName(FailureCause::kLimit);
  if (has_used_up_attempts) return clean.is_poison;
  if (may_have_changed && refusal.text.find("while it was cooked") != std::string::npos)
    return true;
  return std::ranges::any_of(
      clean.errors, [&](const std::string& error) { return refusal.text.starts_with(error); });
}

bool IsOfNoSession(const DeviceRefusal& refusal) {
  return refusal.kind == RefusalKind::kAbsent && refusal.text.starts_with("no session ");
}

bool IsOfNoPlatform(const DeviceRefusal& refusal) {
  return refusal.kind == RefusalKind::kAbsent && refusal.text.starts_with("there is no platform ");
}

}  // namespace

// ------------------------------------------------------------------ what is read

// Half of the paths are of packages that changed of late.
std::string DevicesStage::RandomPath() {
  std::string package = World::NameOf(device_draws_.Below(packages_)).substr(1);
  if (history_.size() > 1 && device_draws_.Percent(50)) {
    const auto changes =
        SimDirector::ChangesOf(history_[history_.size() - 2].files, history_.back().files);
    if (!changes.empty()) package = changes[device_draws_.Below(changes.size())].path.substr(1);
  }
  const uint64_t what = device_draws_.Below(100);
  if (what < 62) return package + ".out";
  if (what < 76) return package + (what % 2 == 0 ? "/_gen/a.out" : "/_gen/b.out");
  if (what < 86) return "Game/plain/" + package.substr(package.rfind('/') + 1) + ".txt";
  if (what < 90) return std::string(DeviceWorlds::kMarker.substr(1));
  if (what < 94) return package + ".d/lod1.out";
  if (what < 97) return package;
  return "Game/missing.out";
}

void DevicesStage::BeginRead(Call call) {
  const uint64_t number = ++last_number_;
  call.begun_in = history_.empty() ? 0 : history_.size() - 1;
  call.begun = schedule_.now();
  call.wait_max = !call.is_final && device_draws_.Percent(8) ? device_draws_.Some(200) : kPatience;
  checks_.Trace("device reads " + call.platform + " " + call.path + " in " + call.session +
                    (call.kind == Kind::kRoot ? call.root.hex() : ""),
                number);
  const bool may_leave = !call.is_final;
  calls_[number] = std::move(call);
  SubmitRead(number);
  if (may_leave && device_draws_.Percent(18))
    schedule_.After(device_draws_.Some(kLeavesWithinDeviceMs),
                    [this, number] { CancelRead(number); });
}

void DevicesStage::ReadInSomeSession() {
  std::string id;
  const Session* const session = SomeSession(id);
  if (session == nullptr) return;
  BeginRead(
      {.kind = Kind::kSession, .platform = session->platform, .path = RandomPath(), .session = id});
}

void DevicesStage::ReadInSomeRoot() {
  if (roots_.all().empty()) return;
  const auto at = std::next(roots_.all().begin(),
                            static_cast<std::ptrdiff_t>(device_draws_.Below(roots_.all().size())));
  BeginRead({.kind = Kind::kRoot,
             .platform = at->second.world.platform,
             .path = RandomPath(),
             .root = at->first});
}

// The answer may come within the call.
void DevicesStage::SubmitRead(uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end() || service_ == nullptr) return;
  const Call& call = found->second;
  const std::string in_session = call.session;
  const auto hear = [this, number, of = generation_](const DeviceAnswer& answer) {
    if (of == generation_) HearRead(number, answer);
  };
  DeviceCallPtr handle;
  switch (call.kind) {
    case Kind::kPresent:
      handle = service_->ReadPresent(
          {.platform = call.platform, .path = call.path, .wait_max = call.wait_max}, hear);
      break;
    case Kind::kSession:
      handle = service_->ReadInSession(
          {.session = call.session, .path = call.path, .wait_max = call.wait_max}, hear);
      break;
    case Kind::kRoot:
      handle = service_->ReadInRoot(call.root, "static/" + call.path, hear);
      break;
  }
  if (const auto session = sessions_.find(in_session); session != sessions_.end())
    NoteAsked(session->second);
  if (const auto still = calls_.find(number); still != calls_.end()) still->second.handle = handle;
}

void DevicesStage::CancelRead(uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  checks_.Trace("a device leaves", number);
  const DeviceCallPtr handle = found->second.handle;
  calls_.erase(found);
  ++device_counts_.cancelled;
  if (handle != nullptr) handle->Cancel();
}

// ------------------------------------------------------------------ what it comes to

void DevicesStage::HearRead(uint64_t number, const DeviceAnswer& answer) {
  const auto found = calls_.find(number);
  if (found == calls_.end())
    return checks_.Break("safety: a device is answered that left or was answered before");
  checks_.Trace("device hears " + TextOfAnswer(answer), number);
  const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
  device_counts_.refused += refusal != nullptr;
  if (refusal != nullptr && refusal->kind == RefusalKind::kNotReady && found->second.is_final) {
    schedule_.After(kAgainAfter, [this, number, of = generation_] {
      if (of == generation_) SubmitRead(number);
    });
    return;
  }
  const Call call = std::move(found->second);
  calls_.erase(found);
  if (refusal != nullptr && refusal->kind == RefusalKind::kDeadline) {
    if (call.wait_max >= kPatience) Break(call, "waits for ever");
    if (schedule_.now() < call.begun + call.wait_max) Break(call, "ends before its deadline");
    return;
  }
  // Nobody knows better, and the next read may.
  const bool is_later = refusal != nullptr && (refusal->kind == RefusalKind::kNotReady ||
                                               refusal->kind == RefusalKind::kInfrastructure);
  if (is_later) return;
  if (refusal != nullptr && refusal->kind == RefusalKind::kInvalid)
    return Break(call, "is refused as if it made no sense");
  switch (call.kind) {
    case Kind::kPresent:
      CheckPresent(call, answer);
      break;
    case Kind::kSession:
      CheckInSession(call, answer);
      break;
    case Kind::kRoot:
      CheckInRoot(call, answer);
      break;
  }
  if (const auto* const file = std::get_if<DeviceFile>(&answer)) ReadBytes(call, *file);
}

void DevicesStage::Break(const Call& call, const std::string& what) {
  checks_.Break("safety: the read of " + call.path + " on " + call.platform +
                (call.session.empty() ? "" : " in session " + call.session) + " " + what);
}

// Whether a clean cook of these files gives the answer.
bool DevicesStage::IsClean(const Files& files, const Call& call, const DeviceAnswer& answer) const {
  const CleanPath clean = CleanPathOf(*world_, files, call.path, call.platform);
  if (const auto* const file = std::get_if<DeviceFile>(&answer))
    return !clean.fails() && clean.file == file->digest;
  const auto& refusal = std::get<DeviceRefusal>(answer);
  if (refusal.kind == RefusalKind::kAbsent) return clean.is_absent();
  return refusal.kind == RefusalKind::kFailed &&
         IsCleanFailure(clean, refusal, edits() >= kStaleMax);
}

// Some world that was present while the device waited gives the answer.
void DevicesStage::CheckPresent(const Call& call, const DeviceAnswer& answer) {
  const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
  const bool lacks_platform = refusal != nullptr && IsOfNoPlatform(*refusal);
  for (size_t i = call.begun_in; i < history_.size(); ++i) {
    const WorldThen& then = history_[i];
    const bool has_platform =
        std::ranges::find(then.platforms, call.platform) != then.platforms.end();
    if (lacks_platform ? !has_platform : has_platform && IsClean(then.files, call, answer)) return;
  }
  Break(call, "is answered as in no world that was present: " + TextOfAnswer(answer));
}

void DevicesStage::CheckInSession(const Call& call, const DeviceAnswer& answer) {
  const auto found = sessions_.find(call.session);
  const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
  if (found == sessions_.end()) return;  // it was closed, or has ended
  Session& session = found->second;
  if (refusal != nullptr && IsOfNoSession(*refusal)) {
    if (!MayHaveEnded(session)) Break(call, "is told that the session ended");
    sessions_.erase(found);
    return;
  }
  if (refusal != nullptr) return CheckRefusal(call, session, *refusal);
  CheckFile(call, session, std::get<DeviceFile>(answer));
}

void DevicesStage::CheckFile(const Call& call, Session& session, const DeviceFile& file) {
  ++device_counts_.read;
  const CleanPath clean = CleanPathOf(*world_, *session.files, call.path, call.platform);
  if (file.last_good.has_value()) {
    const bool was_good = std::ranges::any_of(worlds_.all(), [&](const auto& one) {
      return CleanPathOf(*world_, one.second, call.path, call.platform).file == file.digest;
    });
    if (!session.takes_last_good || !was_good)
      Break(call, "is answered by a last good version that is none");
  } else if (clean.fails() || clean.file != file.digest) {
    Break(call, "has other bytes than a clean cook of the session's world: " + file.digest.hex());
  }
  if (!file.root.has_value()) return Break(call, "is answered without a root");
  MoveTo(session, *file.root);
  if (file.last_good.has_value()) return;
  if (roots_.FileIn(session.root, call.path, director_->store()) == file.digest) {
    session.answered[call.path] = file.digest;
    NoteKnown(session);
  } else if (!HasWorldMoved(session) && !IsLossPossible()) {
    Break(call, "is answered with a file that is not in the root that the answer names");
  }
}

void DevicesStage::CheckRefusal(const Call& call, Session& session, const DeviceRefusal& refusal) {
  const CleanPath clean = CleanPathOf(*world_, *session.files, call.path, call.platform);
  const bool may_be_lost = IsLossPossible();
  if (session.answered.contains(call.path) && !may_be_lost)
    Break(call, "was answered before, and is refused now: " + refusal.text);
  if (refusal.kind == RefusalKind::kSuperseded) {
    ++device_counts_.superseded;
    if (!HasWorldMoved(session)) Break(call, "is told that the session's world is over");
    if (!refusal.root.has_value()) return Break(call, "is not told the newest root");
    CheckTold(*refusal.root);
    return;
  }
  if (refusal.kind == RefusalKind::kGone) {
    if (!may_be_lost) Break(call, "is told that a leased root was collected");
    return;
  }
  if (IsOfNoPlatform(refusal) && HasWorldMoved(session)) return;
  // A world that is over has no link for what it never cooks.
  const bool is_judged_away = refusal.kind == RefusalKind::kAbsent && clean.is_never_cooked;
  if (!is_judged_away && !IsClean(*session.files, call, refusal) && !may_be_lost)
    Break(call, "is refused otherwise than by a clean cook of the session's world: " +
                    TextOfAnswer(refusal));
}

// A root is the same for ever, and gone only when nothing keeps it.
void DevicesStage::CheckInRoot(const Call& call, const DeviceAnswer& answer) {
  const KnownRoot& known = *roots_.Find(call.root);
  const bool may_be_lost = IsLossPossible() || !IsLeased(call.root);
  if (const auto* const file = std::get_if<DeviceFile>(&answer)) {
    ++device_counts_.read;
    const CleanPath clean = CleanPathOf(*world_, *known.files, call.path, call.platform);
    if (clean.file != file->digest)
      Break(call, "has other bytes in its root: " + TextOfAnswer(answer));
    return;
  }
  const auto& refusal = std::get<DeviceRefusal>(answer);
  const bool has_it = !World::IsGenerated(call.path) &&
                      roots_.FileIn(call.root, call.path, director_->store()).has_value();
  const bool is_right = refusal.kind == RefusalKind::kAbsent && !has_it;
  if (!is_right && !may_be_lost) Break(call, "is refused in a root that has it: " + refusal.text);
}

// A device reads the bytes that an answer names, and its face tells of bytes that are gone.
void DevicesStage::ReadBytes(const Call& call, const DeviceFile& file) {
  if (director_ == nullptr) return;
  const auto bytes = director_->store().Get(file.digest);
  if (bytes.ok()) return;
  const bool is_leased = call.kind != Kind::kRoot || IsLeased(call.root);
  if (is_leased && !IsLossPossible()) Break(call, "names bytes that the store lacks");
  service_->NoteLost(file.digest);
}

}  // namespace galley::simulation
