#include "common/vfs/session.h"

#include "common/vfs/retry.h"

namespace galley::vfs {

Session::Session(Ground& ground)
    : ground_(ground),
      last_root_(ground.options.disk, ground.options.cache_folder, ground.options.platform,
                 ground.options.cultures) {}

Result<View> Session::Look(const Waiting& waiting) {
  View view;
  bool may_ask = false;
  {
    const std::lock_guard lock(mutex_);
    view = state_.view;
    may_ask = ground_.options.clock() >= retry_at_ms_;
  }
  if (!may_ask) return WithoutDirector({GALLEY_VFS_OFFLINE, "the director cannot be reached"});
  if (view.is_online()) return view;
  const std::optional<BlobId> root = view.root.size > 0 ? std::optional(view.root) : std::nullopt;
  Result<View> opened = Open(root, "", waiting);
  if (opened.ok()) return opened;
  const int code = opened.fault().code;
  if (code == GALLEY_VFS_CANCELLED || code == GALLEY_VFS_INVALID) return opened;
  NoteFault(opened.fault());
  return WithoutDirector(opened.fault());
}

Result<View> Session::WithoutDirector(const Fault& why) {
  {
    const std::lock_guard lock(mutex_);
    if (state_.view.root.size > 0) return View{.root = state_.view.root, .id = ""};
  }
  const std::optional<BlobId> root = last_root_.Load();
  if (!root) {
    return Fault{why.code, why.text + "; and the cache in " + ground_.options.cache_folder +
                               " has seen no files of platform " + ground_.options.platform};
  }
  const std::lock_guard lock(mutex_);
  if (state_.view.root.size == 0) state_.view.root = *root;
  return View{.root = state_.view.root, .id = ""};
}

Result<View> Session::Open(const std::optional<BlobId>& root, const std::string& succeeds,
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
  const Result<HttpClient::Answer> answer = AskDirector(ground_, request, waiting);
  if (!answer.ok()) return answer.fault();
  if (answer->head.status == 410 && root) {
    ground_.Log(GALLEY_VFS_WARNING,
                "the director has no more what was seen last: a newer world is seen");
    return Open(std::nullopt, succeeds, waiting);
  }
  if (answer->head.status != 201) {
    Fault fault =
        FaultOf("opening a session of platform " + options.platform, answer->head, answer->body);
    if (fault.code == GALLEY_VFS_ABSENT) fault.code = GALLEY_VFS_INVALID;  // no such platform
    return fault;
  }
  const std::optional<SessionState> state = ParseSession(answer->body);
  if (!state)
    return Fault{GALLEY_VFS_SERVER, options.url.authority + " answers, and is no Galley director"};
  Take(*state);
  return View{.root = state->root, .id = state->id};
}

void Session::Take(const SessionState& state) {
  bool was_away = false;
  {
    const std::lock_guard lock(mutex_);
    was_away = retry_at_ms_ > 0;
    state_ = {.view = {.root = state.root, .id = state.id},
              .newest_root = state.newest_root,
              .is_frozen = state.is_frozen};
    retry_at_ms_ = 0;
  }
  if (was_away) ground_.Log(GALLEY_VFS_INFO, "the director is reached again");
  Save(state.root);
}

void Session::Save(const BlobId& root) const {
  if (const Outcome failed = last_root_.Save(root))
    ground_.Log(GALLEY_VFS_WARNING, "off line, an older state will be seen: " + failed->text);
}

Result<std::optional<View>> Session::OpenAgain(const View& before, const Waiting& waiting) {
  const Result<HttpClient::Answer> answer =
      AskDirector(ground_, {.target = "/v1/sessions/" + before.id}, waiting);
  if (!answer.ok()) return answer.fault();
  if (answer->head.status != 404) return std::optional<View>();
  const Result<View> opened = Open(before.root, "", waiting);
  if (!opened.ok()) return opened.fault();
  return std::optional(*opened);
}

Result<bool> Session::Advance(const Waiting& waiting) {
  const View before = state().view;
  const Result<View> opened = Open(std::nullopt, before.id, waiting);
  if (!opened.ok()) {
    NoteFault(opened.fault());
    return opened.fault();
  }
  if (before.is_online()) {
    // A session that nobody closes ends by itself.
    static_cast<void>(
        AskDirector(ground_, {.method = "DELETE", .target = "/v1/sessions/" + before.id}, waiting));
  }
  return opened->root != before.root;
}

void Session::MoveTo(const View& view, const BlobId& root) {
  {
    const std::lock_guard lock(mutex_);
    if (state_.view.id != view.id || state_.view.root == root) return;
    state_.view.root = root;
  }
  Save(root);
}

void Session::NoteFault(const Fault& fault) {
  const bool is_away = fault.code == GALLEY_VFS_OFFLINE || fault.code == GALLEY_VFS_REFUSED ||
                       fault.code == GALLEY_VFS_SERVER;
  if (!is_away) return;
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    is_news = retry_at_ms_ == 0;
    retry_at_ms_ = ground_.options.clock() + kRetryMs;
  }
  if (is_news)
    ground_.Log(GALLEY_VFS_WARNING, "the cache alone is used for a while: " + fault.text);
}

void Session::NoteNewest(const std::optional<BlobId>& root) {
  const std::lock_guard lock(mutex_);
  state_.newest_root = root;
}

Session::State Session::state() const {
  const std::lock_guard lock(mutex_);
  State state = state_;
  if (retry_at_ms_ > 0) state.view.id.clear();
  return state;
}

}  // namespace galley::vfs
