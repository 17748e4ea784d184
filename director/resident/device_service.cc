#include "director/resident/device_service.h"

#include <algorithm>
#include <string_view>

#include "common/base/log.h"
#include "common/base/sabotage.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/tree/plain_name.h"
#include "director/resident/left_leases.h"
#include "director/resident/standing_results.h"
#include "director/shell/project_catalog.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kPoolThreads = 6;
constexpr size_t kTurnsWithoutEndMax = 64;
constexpr absl::Duration kFindLeftInterval = absl::Seconds(5);
constexpr int kFindLeftTriesMax = 12;
constexpr std::string_view kEnds = "the director ends";
constexpr std::string_view kIsCompared = "the session's world is compared with the present one";

DeviceRefusal NotPlain(const std::string& path) {
  return {.kind = RefusalKind::kInvalid, .text = fmt::format("{} is no plain path", path)};
}

// Nobody waits longer than an hour.
absl::Time DeadlineOf(absl::Time now, absl::Duration wait_max) {
  return now + std::min(wait_max, absl::Hours(1));
}

}  // namespace

DeviceService::DeviceService(Deps deps)
    : deps_(std::move(deps)),
      answers_(deps_.store, deps_.remaker),
      shared_(deps_.sessions, deps_.store),
      known_(shared_, cooked_,
             [this](const std::string& platform, const std::string& package) {
               ahead_.NoteAsked(platform, package);
             }),
      streams_(shared_, [this] { return Now(); }),
      past_({.store = deps_.store,
             .journal = deps_.journal,
             .answers = answers_,
             .shared = shared_,
             .kept = deps_.kept,
             .trust_domain = deps_.trust_domain,
             .read_trust = deps_.read_trust}),
      time_(deps_.threads.clock()),
      turns_(deps_.threads.MakeTurns()),
      builds_(deps_.threads.MakeBuilds()),
      timed_(deps_.threads.MakePool(kPoolThreads), [this](absl::Time at) { timer_->WakeAt(at); }),
      differences_(answers_.reader(), deps_.threads.MakePool(RootDifferences::kAtATime)),
      trees_({.present = deps_.present,
              .store = deps_.store,
              .journal = deps_.journal,
              .shared = shared_,
              .cooked = cooked_,
              .kept = deps_.kept,
              .builds = *builds_,
              .stop = stop_,
              .post = [this](Turn turn) { Post(std::move(turn)); },
              .now = [this] { return Now(); },
              .worlds_max = deps_.sessions.worlds_max}),
      reads_(DepsOfReads()),
      ahead_(DepsOfAhead(), deps_.ahead),
      opens_({.shared = shared_,
              .trees = trees_,
              .answers = answers_,
              .store = deps_.store,
              .timed = timed_,
              .post = [this](Turn turn) { Post(std::move(turn)); },
              .follow = [this] { return LookAtPresent(); },
              .now = [this] { return Now(); },
              .make_id = [this] { return deps_.threads.MakeSessionId(); }}),
      timer_(
          deps_.threads.MakeTimer([this] { return Now(); }, [this] { Post([this] { Tick(); }); })) {
  // Before the first call: a session of the director before must never be told that it ended.
  shared_.BeginRestore();
  builds_->Post([this] { FindLeft(); });
  NoteWorld();
}

DeviceService::~DeviceService() { Stop(); }

WaitingReads::Deps DeviceService::DepsOfReads() {
  return {
      .present = deps_.present,
      .shared = shared_,
      .cooked = cooked_,
      .post = [this](Turn turn) { Post(std::move(turn)); },
      .take_result =
          [this](const WorldPtr& world, const std::string& platform, const std::string& package,
                 const StoredResult& result) {
            return TakeResult(world, platform, package, result, ResultOrigin::kAsk);
          },
      .add_known = [this](const std::string& platform,
                          const std::string& package) { trees_.AddKnown(platform, package); },
      .follow = [this] { return LookAtPresent(); },
      .take_superseded = [this](FileRead read) { ReadPast(std::move(read)); },
      .find_last_good = [this](
                            const FileRead& read, const PathRead& path,
                            const PackageFault& fault) { return FindLastGood(read, path, fault); },
      .note_wanted = [this](const std::string& platform,
                            const std::string& package) { ahead_.NoteWanted(platform, package); },
      .note_read = [this](const std::string& platform,
                          const std::string& package) { ahead_.NoteAsked(platform, package); },
      .now = [this] { return Now(); }};
}

CookAhead::Deps DeviceService::DepsOfAhead() {
  return {.present = deps_.present,
          .shared = shared_,
          .cooked = cooked_,
          .post = [this](Turn turn) { Post(std::move(turn)); },
          .wake_at = [this](absl::Time at) { timer_->WakeAt(at); },
          .take_result =
              [this](const WorldPtr& world, const std::string& platform, const std::string& package,
                     const StoredResult& result) {
                return TakeResult(world, platform, package, result, ResultOrigin::kCook);
              },
          .follow = [this] { FollowPresent(); },
          .now = [this] { return Now(); }};
}

std::optional<AheadFigures> DeviceService::ahead() const {
  return deps_.ahead.is_on ? std::optional(ahead_.figures()) : std::nullopt;
}

void DeviceService::Stop() {
  stop_.Cancel();
  streams_.End();
  Post([this] {
    reads_.EndAll(NotReady(std::string(kEnds)));
    opens_.EndAll(NotReady(std::string(kEnds)));
    ahead_.End();
  });
  timed_.End(NotReady(std::string(kEnds)));
  differences_.End(NotReady(std::string(kEnds)));
  timer_->End();
  builds_->End();
  {
    base::MutexLock lock(post_mutex_);
    has_stopped_ = true;
  }
  turns_->End();
}

// ------------------------------------------------------------------ turns

bool DeviceService::Post(Turn turn) {
  base::MutexLock lock(post_mutex_);
  if (has_stopped_) return false;
  ++turns_queued_;
  turns_->Post([this, cooked = cooked_notes_.count(), turn = std::move(turn)] {
    TakeCooked(cooked);
    turn();
    EndTurn();
  });
  return true;
}

// The news of many turns are stored and leased together.
bool DeviceService::IsLastTurn() {
  base::MutexLock lock(post_mutex_);
  --turns_queued_;
  if (turns_queued_ > 0 && ++turns_without_end_ < kTurnsWithoutEndMax) return false;
  turns_without_end_ = 0;
  return true;
}

void DeviceService::EndTurn() {
  if (!IsLastTurn()) return;
  trees_.Grow(Now(), reads_.IsGrowthAwaited());
  opens_.TryAll();
  GiveAnswers();
  streams_.Wake(
      shared_.With([](devices::DeviceSessions& sessions) { return sessions.TakeWoken(); }));
  if (shared_.TakeMissed()) streams_.WakeAll();
  ahead_.Advance();
  absl::Time due = std::min({trees_.due_at(), reads_.due_at(), ahead_.due_at()});
  due = std::min({due, opens_.due_at(), timed_.due_at(), find_left_at_});
  timer_->WakeAt(std::min(
      due, shared_.With([](devices::DeviceSessions& sessions) { return sessions.ticks_at(); })));
}

// A root is told when it is leased.
void DeviceService::GiveAnswers() {
  const auto files = reads_.TakeGrown();
  const absl::Status leased =
      IsSabotaged(Sabotage::kTellUnleased) ? absl::OkStatus() : shared_.FlushLeases();
  if (!leased.ok()) {
    LogWarning("devices: {}", MessageOf(leased));
    timer_->WakeAt(Now() + ShownTrees::kRetryInterval);
  }
  for (const auto& [call, file] : files)
    call->Give(leased.ok() ? DeviceAnswer(file) : RefusalOfLeases(leased));
  opens_.GiveOpened(leased);
}

void DeviceService::Tick() {
  const absl::Time now = Now();
  const std::vector<std::string> ended =
      shared_.With([&](devices::DeviceSessions& sessions) { return sessions.Tick(now); });
  streams_.Wake(ended);
  if (trees_.TakeRetry(now)) {
    FollowPresent();
    trees_.CatchUp(now);
  }
  reads_.Expire(now);
  timed_.Expire(now);
  if (now < find_left_at_ || stop_.is_cancelled()) return;
  find_left_at_ = absl::InfiniteFuture();
  builds_->Post([this] { FindLeft(); });
}

void DeviceService::NoteWorld() {
  Post([this] { FollowPresent(); });
}

void DeviceService::FollowPresent() {
  const std::optional<WorldDifference> difference = trees_.Follow(Now());
  if (!difference) return;
  ahead_.OnWorld(*difference, trees_.TakeStale());
  reads_.OnWorld(trees_.present());
  RenewChanged(*difference);
}

ShownWorldPtr DeviceService::LookAtPresent() {
  FollowPresent();
  return trees_.present();
}

// Only what a session has read is cooked at an edit. Where anything may have changed, what still
// stands is found without a cook.
void DeviceService::RenewChanged(const WorldDifference& difference) {
  const ShownWorldPtr present = trees_.present();
  const auto audiences =
      shared_.With([](devices::DeviceSessions& sessions) { return sessions.Audiences(); });
  for (const devices::Audience& audience : audiences) {
    const ShownPlatform* const platform = present->Find(audience.platform);
    if (platform == nullptr) continue;
    const std::vector<std::string> read = difference.is_all
                                              ? shared_.AllRead(audience, kDifferenceMax)
                                              : shared_.ReadAmong(audience, difference.packages);
    for (const std::string& package : read) {
      const std::string file = package.substr(0, package.find("/_gen/"));
      const bool is_there = present->world->table->Find(file).has_value();
      if (is_there && !IsSmallCopy(*present, *platform, package))
        reads_.Renew(audience.platform, package, present);
    }
  }
}

bool DeviceService::TakeResult(const WorldPtr& world, const std::string& platform,
                               const std::string& package, const StoredResult& result,
                               ResultOrigin origin) {
  const ShownWorldPtr present = trees_.present();
  if (present == nullptr || present->world != world) return false;
  const PackageFilesPtr files = FilesOf(*world, package, result.action_key, result.result);
  cooked_.NoteMade(*files);
  ahead_.NoteResult(platform, package, *files);
  trees_.Add(present, platform, package, files, origin);
  return true;
}

void DeviceService::NoteCooked(const StoredResultPtr& result) {
  if (result == nullptr || result->result.is_verdict || stop_.is_cancelled()) return;
  if (cooked_notes_.Note(result)) timer_->WakeAt(Now() + kCookedBatchLength);
}

void DeviceService::TakeCooked(uint64_t count) {
  for (const StoredResultPtr& result : cooked_notes_.Take(count)) {
    if (!stop_.is_cancelled()) TakeCookedOne(*result);
  }
  if (const uint64_t left_out = cooked_notes_.TakeLeftOut(); left_out > 0)
    LogWarning("devices: {} results of cooks are looked up when they are asked for", left_out);
  if (!cooked_notes_.is_empty()) timer_->WakeAt(Now() + kCookedBatchLength);
}

void DeviceService::TakeCookedOne(const StoredResult& result) {
  const ShownWorldPtr present = trees_.present();
  // A result of an older world is looked up by whoever asks for it.
  if (present == nullptr || result.holds_in != present->world->number) return;
  if (present->Find(result.platform_name) == nullptr) return;
  // A cook tells of a result before it judges what it leaves out.
  if (!MayBeShown(*present->world, result.package, result.result)) return;
  // A cook may cook a package by an older list of its generator, and drop the result when the new
  // list comes. A result that comes before the list is left out; who asks for it finds it again.
  if (!trees_.IsListed(*present, result.platform_name, result.package)) return;
  TakeResult(present->world, result.platform_name, result.package, result, ResultOrigin::kCook);
  ahead_.NoteUsed(result.platform_name, result.package, result.action_key);
}

// ------------------------------------------------------------------ the director before

// The thread of builds: the first tree waits for what the sessions before have seen.
void DeviceService::FindLeft() {
  absl::StatusOr<LeftLeases> left = ReadLeftLeases(deps_.store, shared_.project(), stop_);
  if (!left.ok() && !stop_.is_cancelled() && ++find_left_tries_ < kFindLeftTriesMax) {
    LogWarning("devices: sessions are not found yet: {}", MessageOf(left.status()));
    Post([this] { find_left_at_ = Now() + kFindLeftInterval; });
    return;
  }
  if (!left.ok() && !stop_.is_cancelled()) {
    LogWarning("devices: the sessions of the director before are lost: {}",
               MessageOf(left.status()));
  }
  Post([this, left = left.ok() ? *std::move(left) : LeftLeases()] {
    // Leases that nobody wants are released: not at an end that comes too early.
    if (!stop_.is_cancelled()) opens_.Restore(left);
  });
}

// ------------------------------------------------------------------ files

DeviceCallPtr DeviceService::ReadPresent(PresentRead read, OnFile answer) {
  auto call = std::make_shared<FileCall>(std::move(answer));
  if (!tree::IsPlainPath(read.path)) {
    call->Give(NotPlain(read.path));
    return call;
  }
  FileRead asked{.call = call,
                 .platform = std::move(read.platform),
                 .path = std::move(read.path),
                 .known_tags = std::move(read.known_tags),
                 .deadline = DeadlineOf(Now(), read.wait_max)};
  const ShownWorldPtr present = shared_.present();
  if (IsCurrent(present)) {
    if (const auto now = known_.Present(present, asked)) {
      call->Give(*now);
      return call;
    }
  }
  const bool is_posted = Post([this, asked = std::move(asked)] { BeginRead(asked); });
  if (!is_posted) call->Give(NotReady(std::string(kEnds)));
  return call;
}

// True: no newer world has come, and nothing is about to be replaced.
bool DeviceService::IsCurrent(const ShownWorldPtr& shown) const {
  const absl::StatusOr<WorldPtr> world = deps_.present.Get();
  return shown != nullptr && world.ok() && *world == shown->world;
}

void DeviceService::BeginRead(FileRead read) {
  if (read.call->is_over()) return;
  if (stop_.is_cancelled()) return read.call->Give(NotReady(std::string(kEnds)));
  const ShownWorldPtr present = LookAtPresent();
  const std::string why_not = shared_.why_not();
  if (present == nullptr || (read.session.empty() && !why_not.empty())) {
    return read.call->Give(NotReady(why_not.empty() ? "the project is being made ready" : why_not));
  }
  if (!read.session.empty()) {
    const auto seen = shared_.Renew(read.session, Now());
    if (!seen.ok()) return read.call->Give(RefusalOf(seen.status()));
    if (seen->shown == nullptr || seen->shown->number != present->number)
      return ReadPast(std::move(read));
  }
  reads_.Begin(std::move(read), present);
}

DeviceCallPtr DeviceService::ReadInSession(SessionRead read, OnFile answer) {
  auto call = std::make_shared<FileCall>(std::move(answer));
  // The project sees that its world is used, and looks whether files have changed.
  static_cast<void>(deps_.present.Get());
  const auto seen = shared_.Renew(read.session, Now());
  if (!seen.ok() || !tree::IsPlainPath(read.path)) {
    call->Give(seen.ok() ? NotPlain(read.path) : RefusalOf(seen.status()));
    return call;
  }
  FileRead asked{.call = call,
                 .platform = seen->session.audience.platform,
                 .path = std::move(read.path),
                 .session = std::move(read.session),
                 .known_tags = std::move(read.known_tags),
                 .deadline = DeadlineOf(Now(), read.wait_max)};
  std::optional<DeviceAnswer> now;
  if (!seen->is_settling) now = known_.InSession(*seen, asked, seen->session.view);
  if (now) {
    call->Give(*now);
    return call;
  }
  const bool is_posted = Post([this, asked = std::move(asked)] { BeginRead(asked); });
  if (!is_posted) call->Give(NotReady(std::string(kEnds)));
  return call;
}

// A session of an older world, or of one that is not held.
void DeviceService::ReadPast(FileRead read) {
  const std::shared_ptr<FileCall> call = read.call;
  const absl::Time deadline = read.deadline;
  timed_.Start(call, deadline, [this, read = std::move(read)](const Cancellation& stop) {
    if (const auto answer = AnswerOfPast(read, stop)) return read.call->Give(*answer);
    const bool is_posted = Post([this, read] { BeginRead(read); });
    if (!is_posted) read.call->Give(NotReady(std::string(kEnds)));
  });
}

// nullopt: the session's world has just turned out to be the present one, behind a restart or after
// an edit that was undone.
std::optional<DeviceAnswer> DeviceService::AnswerOfPast(const FileRead& read,
                                                        const Cancellation& stop) {
  const auto seen = shared_.Renew(read.session, Now());
  if (!seen.ok()) return RefusalOf(seen.status());
  const ShownWorldPtr present = shared_.present();
  const bool is_present = seen->shown != nullptr && seen->shown->number == present->number;
  if (is_present) return std::nullopt;
  if (const auto now = known_.InSession(*seen, read, seen->session.view)) return now;
  // The tree may have grown since the session last moved, and stays as it is now.
  if (const auto now = known_.InSession(*seen, read, seen->newest)) return now;
  DeviceAnswer answer = past_.Answer(*seen, read, stop);
  const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
  const bool may_come = refusal != nullptr && refusal->kind == RefusalKind::kSuperseded;
  if (may_come && IsUnsettled(seen->session)) return NotReady(std::string(kIsCompared));
  return answer;
}

// After a restart nobody knows whether the session's world is the present one, until its audience
// has a tree.
bool DeviceService::IsUnsettled(const devices::SessionView& session) const {
  if (session.standing != devices::SessionStanding::kFrozen || session.newest_root != Digest())
    return false;
  const ShownWorldPtr present = shared_.present();
  return present == nullptr || present->Find(session.audience.platform) != nullptr;
}

std::optional<DeviceFile> DeviceService::FindLastGood(const FileRead& read, const PathRead& path,
                                                      const PackageFault& fault) {
  const auto seen = shared_.Renew(read.session, Now());
  if (!seen.ok() || !seen->session.takes_last_good) return std::nullopt;
  DeviceFile file{.root = seen->session.root};
  const std::optional<std::string> suffix = path.SuffixOf(fault.package);
  const auto good =
      suffix ? shared_.FindLastGood(seen->session.audience, fault.package, *suffix) : std::nullopt;
  if (good) {
    file.digest = good->file.digest;
    file.is_executable = good->file.is_executable;
    file.last_good = good->root;
    return file;
  }
  const auto roots = deps_.store.Roots(shared_.project());
  if (!roots.ok()) return std::nullopt;
  const auto root = std::ranges::find(*roots, read.platform, &store::PublishedRoot::platform);
  if (root == roots->end()) return std::nullopt;
  const DeviceAnswer answer = answers_.FindInRoot(root->root, read.path);
  const auto* const cooked = std::get_if<DeviceFile>(&answer);
  if (cooked == nullptr) return std::nullopt;
  file.digest = cooked->digest;
  file.is_executable = cooked->is_executable;
  file.last_good = root->root;
  return file;
}

// ------------------------------------------------------------------ the store

DeviceCallPtr DeviceService::ReadInRoot(const Digest& root, std::string path, OnFile answer) {
  auto call = std::make_shared<FileCall>(std::move(answer));
  if (!tree::IsPlainPath(path)) {
    call->Give(NotPlain(path));
    return call;
  }
  timed_.Run(call, absl::InfiniteFuture(),
             [this, root, path = std::move(path)](const Cancellation&) {
               return answers_.FindInRoot(root, path);
             });
  return call;
}

DeviceCallPtr DeviceService::CompareRoots(const Digest& older, const Digest& newer,
                                          OnDifference answer) {
  return differences_.Compare(older, newer, std::move(answer));
}

DeviceCallPtr DeviceService::ReadBlob(const Digest& digest, OnFile answer) {
  auto call = std::make_shared<FileCall>(std::move(answer));
  timed_.Run(call, absl::InfiniteFuture(),
             [this, digest](const Cancellation&) { return answers_.FindBlob(digest); });
  return call;
}

DeviceCallPtr DeviceService::ReadRecord(const Digest& action_key, OnRecord answer) {
  auto call = std::make_shared<RecordCall>(std::move(answer));
  timed_.Run(call, absl::InfiniteFuture(),
             [this, action_key](const Cancellation&) { return answers_.FindRecord(action_key); });
  return call;
}

DeviceCallPtr DeviceService::ReadRecordOutput(const Digest& action_key, std::string suffix,
                                              absl::Duration wait_max, OnFile answer) {
  auto call = std::make_shared<FileCall>(std::move(answer));
  timed_.Run(call, DeadlineOf(Now(), wait_max),
             [this, action_key, suffix = std::move(suffix)](const Cancellation& stop) {
               return answers_.FindRecordOutput(action_key, suffix, stop);
             });
  return call;
}

// ------------------------------------------------------------------ sessions

DeviceCallPtr DeviceService::OpenSession(SessionAsk ask, absl::Duration wait_max,
                                         OnSession answer) {
  auto call = std::make_shared<SessionCall>(std::move(answer));
  SortUnique(ask.cultures);
  const absl::Time deadline =
      DeadlineOf(Now(), ask.root ? wait_max : std::min(wait_max, kOpenPatience));
  const bool is_posted = Post([this, call, ask = std::move(ask), deadline] {
    if (call->is_over()) return;
    if (stop_.is_cancelled()) return call->Give(NotReady(std::string(kEnds)));
    opens_.Begin(call, ask, deadline);
  });
  if (!is_posted) call->Give(NotReady(std::string(kEnds)));
  return call;
}

SessionAnswer DeviceService::RenewSession(const std::string& id) {
  const auto seen = shared_.Renew(id, Now());
  if (!seen.ok()) return RefusalOf(seen.status());
  if (IsUnsettled(seen->session)) return NotReady(std::string(kIsCompared));
  return StateOf(seen->session);
}

std::optional<DeviceRefusal> DeviceService::CloseSession(const std::string& id) {
  if (const auto seen = shared_.Renew(id, Now()); !seen.ok()) return RefusalOf(seen.status());
  shared_.With([&](devices::DeviceSessions& sessions) { sessions.Close(id); });
  Post([this, id] { streams_.Wake({id}); });
  return std::nullopt;
}

EventsAnswer DeviceService::ReadChanges(const std::string& id,
                                        const std::optional<std::string>& last_event_id) {
  return streams_.Open(id, last_event_id);
}

void DeviceService::NoteLost(const Digest& digest) {
  LogWarning("devices: blob={} is lost", digest.ToString());
  cooked_.NoteLost(digest);
}

}  // namespace galley::director
