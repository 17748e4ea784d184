#include "common/vfs/session.h"

#include "common/vfs/retry.h"

namespace galley::vfs {
namespace {

Fault NotInTime(const Waiting& waiting) {
  if (waiting.is_cancelled()) return {GALLEY_VFS_CANCELLED, "it was cancelled"};
  return {GALLEY_VFS_TIMED_OUT, "another thread asks the director for a version still"};
}

}  // namespace

Session::Session(Ground& ground, Blobs& blobs)
    : ground_(ground),
      blobs_(blobs),
      last_root_(ground.options.disk, ground.options.cache_folder, ground.options.url,
                 ground.options.platform, ground.options.cultures) {
  if (ground.options.root) state_.view.root = *ground.options.root;
}

Result<View> Session::Look(const Waiting& waiting) {
  View view = state().view;
  const bool may_ask = ground_.reach.MayAsk(ground_.options.clock());
  if (!may_ask)
    return WithoutDirector(
        {GALLEY_VFS_OFFLINE, ground_.options.url.authority + " could not be reached a moment ago"});
  if (view.is_online() || view.why_not == GALLEY_VFS_SUPERSEDED) return view;
  const Turn::Holder holder = opening_.Take(waiting);
  if (!holder.has_turn()) return NotInTime(waiting);
  view = state().view;  // another thread may have opened one
  if (view.is_online()) return view;
  const bool has_other = view.root.size > 0 || last_root_.Load().has_value();
  const int patience_ms = waiting.LeftMs(has_other ? kPatienceMs : ground_.options.wait_ms);
  Result<View> opened = OpenAt(view, waiting.ForAtMost(patience_ms));
  if (opened.ok()) return opened;
  const int code = opened.fault().code;
  if (code == GALLEY_VFS_CANCELLED || code == GALLEY_VFS_INVALID) return opened;
  if (code != GALLEY_VFS_SUPERSEDED) ground_.NoteAway(opened.fault());
  return WithoutDirector(opened.fault());
}

Result<View> Session::WithoutDirector(const Fault& why) {
  const View now = state().view;
  const std::optional<BlobId> root = now.root.size > 0 ? now.root : last_root_.Load();
  if (!root) {
    return Fault{why.code, why.text + "; and the cache in " + ground_.options.cache_folder +
                               " has nothing of platform " + ground_.options.platform +
                               " that was read from this URL with these cultures"};
  }
  const std::lock_guard lock(mutex_);
  if (state_.view.root.size == 0) state_.view.root = *root;
  return View{.root = state_.view.root, .id = "", .why_not = state_.view.why_not};
}

// Opens a session at the root of `before`, or at the newest one where nothing was seen yet.
Result<View> Session::OpenAt(const View& before, const Waiting& waiting) {
  const State seen = state();
  // The director leases the newest root of a session.
  const BlobId& newest = seen.view.id == before.id ? seen.newest() : before.root;
  const std::optional<BlobId> root = newest.size > 0 ? std::optional(newest) : std::nullopt;
  const Result<SessionState> state = Open(root, "", waiting);
  if (state.ok()) return Take(*state, before.id);
  if (state.fault().code == GALLEY_VFS_SUPERSEDED) {
    const std::lock_guard lock(mutex_);
    if (state_.view.id == before.id)
      state_.view = {.root = before.root, .id = "", .why_not = GALLEY_VFS_SUPERSEDED};
    if (state_.view.id.empty()) state_.grown = {};
  }
  return state.fault();
}

Result<SessionState> Session::Open(const std::optional<BlobId>& root, const std::string& succeeds,
                                   const Waiting& waiting) {
  const ClientOptions& options = ground_.options;
  const Request request{.method = "POST",
                        .target = "/v1/sessions",
                        .fields = {{"Content-Type", "application/json"}, WaitField(waiting)},
                        .body = ToJson({.platform = options.platform,
                                        .cultures = options.cultures,
                                        .takes_last_good = options.takes_last_good,
                                        .root = root,
                                        .succeeds = succeeds})};
  const Result<Answer> answer = AskDirector(ground_, request, waiting);
  if (!answer.ok()) return answer.fault();
  if (answer->head.status != 201) {
    Fault fault =
        FaultOf("opening a session of platform " + options.platform, answer->head, answer->body);
    const bool is_gone = root && answer->head.status == 410;
    if (fault.code == GALLEY_VFS_ABSENT)  // or else there is no such platform
      fault.code = is_gone ? GALLEY_VFS_SUPERSEDED : GALLEY_VFS_INVALID;
    return fault;
  }
  const std::optional<SessionState> state = ParseSession(answer->body);
  if (!state)
    return Fault{GALLEY_VFS_SERVER, options.url.authority + " answers, and is no Galley director"};
  if (const Outcome failed = Keep(state->root, waiting)) return *failed;
  return *state;
}

// The cache gets the folder of the root. A cache that can take nothing does not keep a game from
// the files that it has.
Outcome Session::Keep(const BlobId& root, const Waiting& waiting) {
  const Result<std::string> folder = blobs_.Read(root, /*may_fetch=*/true, waiting);
  if (folder.ok()) return std::nullopt;
  const int code = folder.fault().code;
  if (code == GALLEY_VFS_NO_SPACE || code == GALLEY_VFS_IO) return std::nullopt;
  if (code != kNotCached) return folder.fault();
  return Fault{GALLEY_VFS_SERVER, ground_.options.url.authority + " does not have its own root"};
}

// The session is the one that is seen now. `only_behind`: unless the one that is seen is another
// one by now. Returns what is seen.
View Session::Take(const SessionState& state, const std::optional<std::string>& only_behind) {
  {
    const std::lock_guard lock(mutex_);
    if (only_behind && state_.view.id != *only_behind) return state_.view;
    state_ = {.view = {.root = state.root, .id = state.id}, .is_frozen = state.is_frozen};
  }
  Save();
  return {.root = state.root, .id = state.id};
}

void Session::Save() {
  if (ground_.options.root) return;  // nobody else is to see it first
  const std::lock_guard lock(saving_);
  if (const Outcome failed = last_root_.Save(state().view.root))
    ground_.Log(GALLEY_VFS_WARNING, "off line, an older state will be seen: " + failed->text);
}

Result<std::optional<View>> Session::OpenAgain(const View& before, const Waiting& waiting) {
  const Result<Answer> answer =
      AskDirector(ground_, {.target = "/v1/sessions/" + before.id}, waiting);
  if (!answer.ok()) return answer.fault();
  if (answer->head.status != 404) return std::optional<View>();
  const Turn::Holder holder = opening_.Take(waiting);
  if (!holder.has_turn()) return NotInTime(waiting);
  const View now = state().view;
  if (now.is_online() && now.id != before.id) return std::optional(now);
  const Result<View> opened = OpenAt(before, waiting);
  if (!opened.ok()) return opened.fault();
  return std::optional(*opened);
}

Result<bool> Session::Advance(const std::optional<std::string>& only_from, const Waiting& waiting) {
  const Turn::Holder holder = opening_.Take(waiting);
  if (!holder.has_turn()) return NotInTime(waiting);
  const View before = state().view;
  if (only_from && before.is_online() && before.id != *only_from) return false;
  const Result<SessionState> opened = Open(std::nullopt, before.id, waiting);
  if (!opened.ok()) return opened.fault();
  Take(*opened, std::nullopt);
  if (before.is_online()) {
    // A session that nobody closes ends by itself.
    static_cast<void>(
        AskDirector(ground_, {.method = "DELETE", .target = "/v1/sessions/" + before.id}, waiting));
  }
  return opened->root != before.root;
}

Outcome Session::MoveTo(const View& view, const BlobId& root, const Waiting& waiting) {
  if (Outcome failed = Keep(root, waiting)) return failed;
  {
    const std::lock_guard lock(mutex_);
    const bool is_there = state_.view.root == root && state_.grown.size == 0;
    if (state_.view.id != view.id || is_there) return std::nullopt;
    state_.view.root = root;
    state_.grown = {};
  }
  Save();
  return std::nullopt;
}

void Session::NoteGrown(const View& view, const BlobId& root) {
  const std::lock_guard lock(mutex_);
  if (state_.view.id == view.id) state_.grown = root;
}

Session::State Session::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace galley::vfs
