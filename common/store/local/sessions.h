// Sessions: the users of a store: a collection drops nothing that a live session was told is
// present. A session is a file in the store's folder `sessions`, with a flock that its process
// holds: the session ends with the process, in whatever way, and outlives the store's owner; the
// next owner finds it.
//
//   sessions/<16 hex digits>   "galley-session 1\nbegun <20 digits>\npid <n>\nname <text>\n
//                               started <nanoseconds>\nend <16 hex digits>\n"
//
// `begun`, which Renew changes, and `started` are in nanoseconds of CLOCK_BOOTTIME, since all users
// of a store run on one machine. `end` has the checksum of the lines before it. Older programs
// write neither `started` nor `end`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"

namespace galley::store {

// Returns the time since the machine started, as a Time: the clock of sessions and touches.
absl::Time BootTime();

struct SessionInfo {
  std::string name;
  int64_t pid = 0;
  absl::Time begun;
  absl::Time started;  // not changed by Renew; `begun` if unknown
};

// Returns "cook of x (process 7, for 13s)", for people. `now`: of BootTime.
std::string DescribeSession(const SessionInfo& session, absl::Time now);

// Threads: one at a time.
class Session {
 public:
  // `name`: for people: the running command ("cook", "serve").
  static absl::StatusOr<Session> Begin(const std::string& store_directory, std::string_view name);
  // Sets the session's begin to `keeps` ago: it no longer relies on anything that it was told
  // before.
  absl::Status Renew(absl::Duration keeps = absl::ZeroDuration());
  ~Session();
  Session(Session&& other) noexcept
      : store_directory_(std::move(other.store_directory_)),
        path_(std::exchange(other.path_, {})),
        rest_(std::move(other.rest_)),
        file_(std::move(other.file_)) {}
  Session& operator=(Session&&) = delete;

 private:
  Session(std::string store_directory, std::string path, std::string rest, FileDescriptor file)
      : store_directory_(std::move(store_directory)),
        path_(std::move(path)),
        rest_(std::move(rest)),
        file_(std::move(file)) {}

  std::string store_directory_;
  std::string path_;  // empty: moved from
  std::string rest_;  // lines of the file after `begun`
  FileDescriptor file_;
};

// Returns the sessions of live processes, oldest first; removes the files of other sessions. An
// unreadable session counts as the oldest.
absl::StatusOr<std::vector<SessionInfo>> LiveSessions(const std::string& store_directory);

}  // namespace galley::store
