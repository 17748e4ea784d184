// DeviceCalls: answers devices: files of the present world, of sessions and of roots, blobs,
// records, sessions, and what changes. A face translates a protocol into these calls, as
// ClientCalls for clients. DeviceService implements it.
//
//   const DeviceCallPtr call = calls.ReadPresent(
//       {.platform = "linux", .path = "Game/a.png.ktx2", .wait_max = absl::Minutes(1)},
//       [responder](const DeviceAnswer& answer) { responder.Answer(ToHttp(answer)); });
//   responder.OnLeave([call] { call->Cancel(); });
//
// An answer is a value: it names bytes that the store has, and the face reads them there.
//
// Threads: any, many at once. No call blocks. A callback is called at most once, on the thread of
// the call, also before the call returns, or on a thread of the service; it must not block, and may
// call DeviceCalls. Ownership: the service owns a waiting call, whoever else holds its handle; a
// handle that is dropped cancels nothing. The face cancels: when its client leaves. The service
// outlives all calls and readers; when it stops, each waiting call is answered (kNotReady), and
// each reader ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "director/devices/change_event.h"

namespace galley::director {

// Why there is no file. The comment has the status of HTTP.
enum class RefusalKind : uint8_t {
  kInvalid,         // 400: the call makes no sense: a path that is not plain, a wrong culture
  kAbsent,          // 404: no such path, platform, session, blob or record
  kSuperseded,      // 409: this world can no longer make it; `root` is the newest one
  kGone,            // 410: it was collected
  kFailed,          // 422: the package fails; it is the project's fault
  kInfrastructure,  // 500: machines or the store failed, or a record came out otherwise
  kNotReady,        // 503: later: `retry_after` is set
  kDeadline,        // 504: wait_max has passed
};

struct DeviceRefusal {
  RefusalKind kind = RefusalKind::kAbsent;
  std::string text;     // a sentence for people
  std::string package;  // virtual path; empty: none, or not known
  std::string log;      // digest text of the log, a blob; empty: none
  std::string cause;    // of kFailed and kInfrastructure: one word, as in a summary
  // kSuperseded: the newest root. kAbsent: the session's root, which has the folder, if there is
  // one, of a path that is no file.
  std::optional<Digest> root;
  std::optional<absl::Duration> retry_after;  // of kNotReady
  bool operator==(const DeviceRefusal&) const = default;
};

enum class FileCaching : uint8_t {
  kNoCache,    // asked for again each time, with its tag
  kImmutable,  // the same for ever
};

struct DeviceFile {
  Digest digest;  // of the bytes: with their size
  bool is_executable = false;
  // The opaque part of a strong entity tag: FileTag(). Empty: the answer has no tag.
  std::string tag;
  FileCaching caching = FileCaching::kNoCache;
  // `tag` is one of the known tags of the call, and the store may lack the bytes: the face answers
  // that nothing has changed.
  bool is_known = false;
  std::optional<Digest> root;       // Galley-Root: of a session, after this answer
  std::optional<Digest> last_good;  // Galley-Last-Good: the older root that the file is of
  bool operator==(const DeviceFile&) const = default;
};

using DeviceAnswer = std::variant<DeviceFile, DeviceRefusal>;

// "<64 hex of the key>-<64 hex of the file>"; `key`: the action key that determines the file;
// nullopt: no cook determines the file, or its key is not known ("<64 hex of the file>").
inline std::string FileTag(const std::optional<Digest>& key, const Digest& file) {
  return key ? key->hex() + "-" + file.hex() : file.hex();
}

// DeviceCall: a call that may wait. Threads: any.
class DeviceCall {
 public:
  virtual ~DeviceCall() = default;
  // Nobody waits any more: the callback is not called from now on, unless it runs already. Does
  // nothing after the answer.
  virtual void Cancel() = 0;
};
using DeviceCallPtr = std::shared_ptr<DeviceCall>;  // never nullptr

// A path is relative and decoded: "Game/a.png.ktx2". One that is not plain is kInvalid.
struct PresentRead {
  std::string platform;
  std::string path;
  // The opaque parts of the strong tags that the client has. A known one may be answered though the
  // store lacks the bytes: DeviceFile::is_known.
  std::vector<std::string> known_tags;
  absl::Duration wait_max = absl::Minutes(5);
};
struct SessionRead {
  std::string session;
  std::string path;
  std::vector<std::string> known_tags;
  absl::Duration wait_max = absl::Minutes(5);
};

struct RecordOutput {
  std::string suffix;  // ".ktx2", ".d/lod1.glb", ""
  Digest digest;
  bool is_executable = false;
  bool operator==(const RecordOutput&) const = default;
};
// DeviceRecord: a stored result. A verdict has an error and no outputs.
struct DeviceRecord {
  Digest action_key;
  std::vector<RecordOutput> outputs;  // sorted by suffix
  std::string error;                  // of a verdict
  std::string log;                    // digest text; empty: none
  bool operator==(const DeviceRecord&) const = default;
};
using RecordAnswer = std::variant<DeviceRecord, DeviceRefusal>;

struct SessionAsk {
  std::string platform;
  std::vector<std::string> cultures;  // in any order
  std::optional<Digest> root;         // nullopt: the newest one
  bool last_good = false;             // a package that fails is answered by its last good version
  // The session that this one follows in a newer world: what that one has read, this one has, too.
  // Empty, or ended: none.
  std::string succeeds = {};
};
struct DeviceSessionState {
  std::string id;
  std::string platform;
  std::vector<std::string> cultures;  // sorted
  Digest root;                        // the session's
  std::optional<Digest> newest_root;  // of the present world; nullopt: it has none yet
  bool is_frozen = false;             // its world is not held any more
  bool last_good = false;
  bool operator==(const DeviceSessionState&) const = default;
};
using SessionAnswer = std::variant<DeviceSessionState, DeviceRefusal>;

// RootDifference: how the files of a session's root differ from those of an older one. Generated
// packages are in no list. A folder of which only a cook tells what it has stands for its files.
struct RootDifference {
  // Sorted by path. Without `after`: not cooked in the newer root, or a folder. No `before`.
  std::vector<devices::ChangedPath> added, modified;
  std::vector<std::string> removed;
  std::vector<std::string> stale;  // paths of the older root that are not cooked in the newer one
  bool is_cut = false;             // there is more than is listed: the lists are empty
  bool operator==(const RootDifference&) const = default;
};
using DifferenceAnswer = std::variant<RootDifference, DeviceRefusal>;

// DeviceEvents: a stream of a session's changes. While it lives the session does not end by
// silence. Threads: one at a time; `wake` is called on any.
class DeviceEvents {
 public:
  virtual ~DeviceEvents() = default;
  // Called once, before Take. `wake` is called whenever there may be something to take; it must be
  // short, must not call the stream, and is not called any more after the destructor has returned.
  virtual void SetWake(std::function<void()> wake) = 0;
  // The next events in order, at most `events_max`; empty: none as yet. A reader that is too far
  // behind gets one snapshot. nullopt: the session has ended, or the service stops.
  virtual std::optional<std::vector<devices::ChangeEventPtr>> Take(size_t events_max) = 0;
};
using EventsAnswer = std::variant<std::unique_ptr<DeviceEvents>, DeviceRefusal>;

class DeviceCalls {
 public:
  using OnFile = std::function<void(const DeviceAnswer&)>;
  using OnRecord = std::function<void(const RecordAnswer&)>;
  using OnSession = std::function<void(const SessionAnswer&)>;
  using OnDifference = std::function<void(const DifferenceAnswer&)>;

  virtual ~DeviceCalls() = default;

  // GET /v1/<platform>/<path>: the file of the present world, cooked if need be. All refusals but
  // kSuperseded and kGone.
  virtual DeviceCallPtr ReadPresent(PresentRead read, OnFile answer) = 0;
  // GET /v1/sessions/<id>/<path>: the file in the session's world. All refusals; kGone: what the
  // session's tree has was lost by the store.
  virtual DeviceCallPtr ReadInSession(SessionRead read, OnFile answer) = 0;
  // GET /v1/root/<hex>/<size>/<path>: a final path in a session's root or a cooked one; links are
  // followed, nothing is cooked. kAbsent: the root has no such path; kGone: the root was collected,
  // or never was here.
  virtual DeviceCallPtr ReadInRoot(const Digest& root, std::string path, OnFile answer) = 0;
  // GET /v1/root/<newer>?since=<older>: what differs between two roots of sessions. kAbsent: one of
  // them is no such root; kGone: one of them was collected, or never was here.
  virtual DeviceCallPtr CompareRoots(const Digest& older, const Digest& newer,
                                     OnDifference answer) = 0;
  // GET /v1/blob/<hex>/<size>. kAbsent: the store has no such blob.
  virtual DeviceCallPtr ReadBlob(const Digest& digest, OnFile answer) = 0;

  // GET /v1/record/<action key>: the outputs of a record. kAbsent: there is none.
  virtual DeviceCallPtr ReadRecord(const Digest& action_key, OnRecord answer) = 0;
  // GET /v1/record/<action key>/<suffix>: an output, made again if the store lost it. kAbsent: no
  // such record or output; kGone: what it is made of is gone, `text` names it; kInfrastructure: it
  // came out otherwise, which was told as an alarm; kNotReady: enough is being made.
  virtual DeviceCallPtr ReadRecordOutput(const Digest& action_key, std::string suffix,
                                         absl::Duration wait_max, OnFile answer) = 0;

  // POST /v1/sessions. kInvalid, kAbsent (platform), kNotReady, kGone (the root was collected).
  virtual DeviceCallPtr OpenSession(SessionAsk ask, absl::Duration wait_max, OnSession answer) = 0;
  // GET /v1/sessions/<id>: renews the session. kAbsent: it ended, or never was. kNotReady: which
  // sessions an earlier director left is not known yet.
  virtual SessionAnswer RenewSession(const std::string& id) = 0;
  // DELETE /v1/sessions/<id>. nullopt: it is closed. Refusals as RenewSession.
  virtual std::optional<DeviceRefusal> CloseSession(const std::string& id) = 0;
  // GET /v1/sessions/<id>/changes. `last_event_id`: of the request; nullopt: events behind the
  // opening of the session. A text that is no id gives a snapshot. Refusals as RenewSession.
  virtual EventsAnswer ReadChanges(const std::string& id,
                                   const std::optional<std::string>& last_event_id) = 0;

  // The store lacks the bytes that an answer named: whoever asks again has them cooked again. The
  // face calls this when it cannot read them.
  virtual void NoteLost(const Digest& digest) = 0;
};

}  // namespace galley::director
