#include "common/vfs/watch.h"

#include <climits>
#include <optional>
#include <string_view>
#include <vector>

#include "common/vfs/retry.h"

namespace galley::vfs {
namespace {

constexpr const char* kNoId = "none";

}  // namespace

Result<int> Watch::Run(const Tell& tell) {
  while (true) {
    const Waiting waiting(ground_.options.clock, ground_.is_cancelled, INT_MAX);
    const Result<View> view = session_.Look(waiting);
    if (!view.ok()) return view.fault();
    if (view->is_online()) {
      const bool is_first = session_id_.empty();
      session_id_ = view->id;
      // The events of all sessions are the same, and the stream goes on behind the last one. Nobody
      // knows what was missed where there is none: any id that is none brings a snapshot.
      if (!is_first && last_id_.empty()) last_id_ = kNoId;
      const Result<ResponseHead> ended = ReadStream(*view, waiting, tell);
      if (!ended.ok() && ended.fault().code == kStopped) return ended_by_;
      const std::string seen = session_.state().view.id;
      if (!seen.empty() && seen != session_id_) continue;  // somebody has advanced
      if (ended.ok() && ended->status == 404)
        static_cast<void>(session_.OpenAgain(*view, waiting));  // the next round says what is wrong
    } else if (view->why_not == GALLEY_VFS_SUPERSEDED && gone_root_ != view->root) {
      // The director has collected what is seen here: only Advance goes on.
      gone_root_ = view->root;
      if ((ended_by_ = tell({.kind = GALLEY_VFS_MORE})) != 0) return ended_by_;
    }
    if (!Pause(kPauseMs, waiting)) return Fault{GALLEY_VFS_CANCELLED, "it was cancelled"};
  }
}

Result<ResponseHead> Watch::ReadStream(const View& view, const Waiting& waiting, const Tell& tell) {
  EventParser parser;
  bool is_stream = false;
  Request request{.target = "/v1/sessions/" + view.id + "/changes",
                  .fields = {{"Accept", "text/event-stream"}}};
  if (!last_id_.empty()) request.fields.emplace_back("Last-Event-ID", last_id_);
  return ground_.Do(request, waiting,
                    {.head = [&](const ResponseHead& head) -> Outcome {
                       is_stream = head.status == 200;
                       return std::nullopt;
                     },
                     .body = [&](std::string_view bytes) -> Outcome {
                       if (!is_stream) return std::nullopt;
                       return TakeEvents(bytes, parser, tell);
                     },
                     .silence_max_ms = kSilenceMaxMs});
}

Outcome Watch::TakeEvents(std::string_view bytes, EventParser& parser, const Tell& tell) {
  std::vector<ServerEvent> events;
  if (!parser.Feed(bytes, events))
    return Fault{GALLEY_VFS_SERVER, "an event of the director is too long"};
  for (const ServerEvent& event : events) {
    if (!TellEvent(event, tell)) return Fault{kStopped, ""};
    last_id_ = event.id;
  }
  return std::nullopt;
}

// False: the caller wants no more.
bool Watch::TellEvent(const ServerEvent& event, const Tell& tell) {
  const bool is_snapshot = event.event == "snapshot";
  if (event.event != "change" && !is_snapshot) return true;
  const std::optional<ChangeEvent> change = ParseChange(event.data);
  if (!change) {
    ground_.Log(GALLEY_VFS_WARNING, "an event of the director cannot be read");
    return true;
  }
  // A snapshot has no lists of what changed.
  const bool has_more = is_snapshot || change->is_cut;
  if (has_more && (ended_by_ = tell({.kind = GALLEY_VFS_MORE})) != 0) return false;
  if (!TellAll(GALLEY_VFS_ADDED, change->added, tell)) return false;
  if (!TellAll(GALLEY_VFS_MODIFIED, change->modified, tell)) return false;
  if (!TellAll(GALLEY_VFS_REMOVED, change->removed, tell)) return false;
  if (!TellAll(GALLEY_VFS_STALE, change->stale, tell)) return false;
  for (const FailedPackage& failed : change->failures) {
    ended_by_ = tell({.kind = GALLEY_VFS_BROKEN, .path = failed.package, .text = failed.text});
    if (ended_by_ != 0) return false;
  }
  return TellAll(GALLEY_VFS_HEALED, change->healed, tell);
}

bool Watch::TellAll(int kind, const std::vector<std::string>& paths, const Tell& tell) {
  for (const std::string& path : paths) {
    if ((ended_by_ = tell({.kind = kind, .path = path})) != 0) return false;
  }
  return true;
}

}  // namespace galley::vfs
