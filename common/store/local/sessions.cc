#include "common/store/local/sessions.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <random>

#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kFirstLine = "galley-session 1\n";
constexpr size_t kFileBytesMax = 4096;
constexpr size_t kNameBytesMax = 200;

std::string SessionsFolder(std::string_view store_directory) {
  return JoinPath(store_directory, "sessions");
}

// Of a width that never changes, so that it can be written over.
std::string BegunLine(absl::Time begun) {
  return fmt::format("begun {:020}\n", absl::ToUnixNanos(begun));
}

std::string RandomName() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

template <typename Number>
bool TakeNumber(std::string_view& text, std::string_view key, Number& number) {
  if (!text.starts_with(key)) return false;
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  const char* const last = text.data() + end;
  const auto [at, error] = std::from_chars(text.data() + key.size(), last, number);
  if (error != std::errc() || at != last) return false;
  text.remove_prefix(end + 1);
  return true;
}

SessionInfo Parse(std::string_view text) {
  SessionInfo session{.name = "one that cannot be read",
                      .begun = absl::InfinitePast(),
                      .started = absl::InfinitePast()};
  int64_t begun_ns = 0, pid = 0;
  if (!text.starts_with(kFirstLine)) return session;
  text.remove_prefix(kFirstLine.size());
  if (!TakeNumber(text, "begun ", begun_ns) || !TakeNumber(text, "pid ", pid)) return session;
  session.begun = absl::FromUnixNanos(begun_ns);
  session.pid = pid;
  session.started = session.begun;
  if (!text.starts_with("name ")) return session;
  const size_t end = text.find('\n');
  session.name = text.substr(5, end - 5);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  int64_t started_ns = 0;
  if (TakeNumber(text, "started ", started_ns)) session.started = absl::FromUnixNanos(started_ns);
  return session;
}

}  // namespace

absl::Time BootTime() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return absl::TimeFromTimespec(now);
}

std::string DescribeSession(const SessionInfo& session, absl::Time now) {
  if (session.started == absl::InfinitePast()) return session.name;
  const absl::Duration age = absl::Trunc(now - session.started, absl::Seconds(1));
  return fmt::format("{} (process {}, for {})", session.name, session.pid,
                     age < absl::Seconds(1) ? "less than 1s" : absl::FormatDuration(age));
}

absl::StatusOr<Session> Session::Begin(const std::string& store_directory, std::string_view name) {
  const std::string folder = SessionsFolder(store_directory);
  RETURN_IF_ERROR(CreateDirectories(folder));
  // Nobody sees it before it is locked.
  std::string temporary =
      JoinPath(TemporaryDirectory(store_directory), fmt::format("{}.XXXXXX", ::getpid()));
  FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "create", temporary);
  std::string plain_name(name.substr(0, kNameBytesMax));
  std::replace(plain_name.begin(), plain_name.end(), '\n', ' ');
  const std::string path = JoinPath(folder, RandomName());
  const absl::Time now = BootTime();
  absl::Status status;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) status = ErrnoStatus(errno, "lock", temporary);
  if (status.ok())
    status = WriteAll(file.get(),
                      fmt::format("{}{}pid {}\nname {}\nstarted {}\n", kFirstLine, BegunLine(now),
                                  ::getpid(), plain_name, absl::ToUnixNanos(now)),
                      temporary);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = ErrnoStatus(errno, "rename", path);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return Session(path, std::move(file));
}

absl::Status Session::Renew(absl::Duration keeps) {
  const std::string line = BegunLine(std::max(BootTime() - keeps, absl::UnixEpoch()));
  const ssize_t count =
      ::pwrite(file_.get(), line.data(), line.size(), static_cast<off_t>(kFirstLine.size()));
  return count == static_cast<ssize_t>(line.size()) ? absl::OkStatus()
                                                    : ErrnoStatus(errno, "write", path_);
}

Session::~Session() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

absl::StatusOr<std::vector<SessionInfo>> LiveSessions(const std::string& store_directory) {
  std::vector<SessionInfo> sessions;
  std::error_code error;
  std::filesystem::directory_iterator at(SessionsFolder(store_directory), error);
  for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
      if (errno == ENOENT) continue;  // it ended just now
      return ErrnoStatus(errno, "open", path);
    }
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) {
      ::unlink(path.c_str());
      continue;
    }
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "lock", path);
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kFileBytesMax));
    sessions.push_back(Parse(text));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return ErrnoStatus(error.value(), "read folder", SessionsFolder(store_directory));
  std::sort(sessions.begin(), sessions.end(),
            [](const SessionInfo& a, const SessionInfo& b) { return a.begun < b.begun; });
  return sessions;
}

}  // namespace galley::store
