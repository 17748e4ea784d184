// Sessions: who uses a store, so that nothing is collected which it was told is there. A session is
// a file in the store's folder `sessions`, whose flock its process holds: it ends with the process,
// however that ends, and outlives the store's owner, whose successor finds it.
//
//   sessions/<16 hex digits>   "galley-session 1\nbegun <20 digits>\npid <n>\nname <text>\n
//                               started <nanoseconds>\nend <16 hex digits>\n"
//
// `begun`, which Renew moves, and `started` are in nanoseconds of CLOCK_BOOTTIME: all that use a
// store run on one machine. `end` has the checksum of the lines before it. Older programs write
// neither `started` nor `end`.
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

// Time since the machine started, as a Time. The clock of sessions and touches.
absl::Time BootTime();

struct SessionInfo {
  std::string name;
  int64_t pid = 0;
  absl::Time begun;
  absl::Time started;  // really, whatever was renewed; begun when it is not known
};

// "cook of x (process 7, for 13s)": for people. `now`: of BootTime.
std::string DescribeSession(const SessionInfo& session, absl::Time now);

// Threads: one at a time.
class Session {
 public:
  // `name` is for people: what runs ("cook", "serve").
  static absl::StatusOr<Session> Begin(const std::string& store_directory, std::string_view name);
  // Makes the session one that began `keeps` ago: it relies no more on anything that it was told
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
  static absl::StatusOr<FileDescriptor> PutInPlace(const std::string& store_directory,
                                                   const std::string& path, std::string_view text);

  std::string store_directory_;
  std::string path_;  // empty: moved from
  std::string rest_;  // its lines after `begun`
  FileDescriptor file_;
};

// Returns the sessions whose processes live, oldest first; the files of others are removed. A
// session that cannot be read counts as older than all.
absl::StatusOr<std::vector<SessionInfo>> LiveSessions(const std::string& store_directory);

}  // namespace galley::store
