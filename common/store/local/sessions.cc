#include "common/store/local/sessions.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <random>

#include "common/base/folder_names.h"
#include "common/base/own_file.h"
#include "common/base/parse_whole.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_format.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kSessionLine = "galley-session 1\n";
constexpr size_t kFileBytesMax = 4096;
constexpr size_t kNameBytesMax = 200;
constexpr int kReadAgainMax = 3;

std::string SessionsFolder(std::string_view store_directory) {
  return JoinPath(store_directory, "sessions");
}

// The width never changes, so that it can be written over.
std::string BegunLine(absl::Time begun) {
  return fmt::format("begun {:020}\n", absl::ToUnixNanos(begun));
}

// The line has the checksum of all before it; older programs neither write nor read it.
std::string EndLine(std::string_view text) { return fmt::format("end {:016x}\n", Checksum(text)); }

std::string TextOf(absl::Time begun, std::string_view rest) {
  const std::string text = fmt::format("{}{}{}", kSessionLine, BegunLine(begun), rest);
  return text + EndLine(text);
}

std::string RandomName() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

bool TakeNumber(std::string_view& text, std::string_view key, int64_t& number) {
  if (!text.starts_with(key)) return false;
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  const auto read = ParseWhole<int64_t>(text.substr(key.size(), end - key.size()));
  if (!read) return false;
  number = *read;
  text.remove_prefix(end + 1);
  return true;
}

SessionInfo Parse(std::string_view text) {
  const SessionInfo unreadable{.name = "one that cannot be read",
                               .begun = absl::InfinitePast(),
                               .started = absl::InfinitePast()};
  if (const size_t end = text.rfind("\nend "); end != std::string_view::npos) {
    const std::string_view before = text.substr(0, end + 1);
    if (text.substr(end + 1) != EndLine(before)) return unreadable;
    text = before;
  }
  int64_t begun_ns = 0, pid = 0, started_ns = 0;
  if (!text.starts_with(kSessionLine)) return unreadable;
  text.remove_prefix(kSessionLine.size());
  if (!TakeNumber(text, "begun ", begun_ns) || !TakeNumber(text, "pid ", pid)) return unreadable;
  SessionInfo session{.pid = pid, .begun = absl::FromUnixNanos(begun_ns)};
  const size_t end = text.find('\n');
  if (!text.starts_with("name ") || end == std::string_view::npos) return unreadable;
  session.name = text.substr(5, end - 5);
  text.remove_prefix(end + 1);
  session.started = session.begun;
  if (TakeNumber(text, "started ", started_ns)) session.started = absl::FromUnixNanos(started_ns);
  return text.empty() ? session : unreadable;
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
  std::string plain_name(name.substr(0, kNameBytesMax));
  std::ranges::replace(plain_name, '\n', ' ');
  const absl::Time now = BootTime();
  const std::string rest =
      fmt::format("pid {}\nname {}\nstarted {}\n", ::getpid(), plain_name, absl::ToUnixNanos(now));
  const std::string path = JoinPath(folder, RandomName());
  ASSIGN_OR_RETURN(FileDescriptor file, PutLocked(store_directory, path, TextOf(now, rest)));
  return Session(store_directory, path, rest, std::move(file));
}

// The file is written in one write, which a reader sees whole or finds out. A file that was
// deleted, or replaced, is put there again: the process lives.
absl::Status Session::Renew(absl::Duration keeps) {
  const std::string text = TextOf(std::max(BootTime() - keeps, absl::UnixEpoch()), rest_);
  const absl::StatusOr<FileStat> named = StatFile(path_);
  const absl::StatusOr<FileStat> open = StatDescriptor(file_.get(), path_);
  const bool is_in_place =
      named.ok() && open.ok() && named->inode == open->inode && named->device == open->device;
  if (!is_in_place) {
    RETURN_IF_ERROR(EnsureWritableFile(path_));
    ASSIGN_OR_RETURN(file_, PutLocked(store_directory_, path_, text));
    return absl::OkStatus();
  }
  const ssize_t count = ::pwrite(file_.get(), text.data(), text.size(), 0);
  return count == static_cast<ssize_t>(text.size()) ? absl::OkStatus()
                                                    : ErrnoStatus(errno, "write", path_);
}

Session::~Session() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

absl::StatusOr<std::vector<SessionInfo>> LiveSessions(const std::string& store_directory) {
  std::vector<SessionInfo> sessions;
  std::error_code error;
  for (const std::string& session_name : NamesIn(SessionsFolder(store_directory), &error)) {
    const std::string path = JoinPath(SessionsFolder(store_directory), session_name);
    const absl::StatusOr<FileStat> stat = StatFile(path, /*follow_links=*/false);
    if (stat.ok() && !S_ISREG(stat->mode)) continue;  // no session
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid() && errno == EACCES && EnsureWritableFile(path).ok())
      file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
      if (errno == ENOENT) continue;  // it ended just now
      return ErrnoStatus(errno, "open", path);
    }
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) {
      ::unlink(path.c_str());
      continue;
    }
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "lock", path);
    absl::StatusOr<std::string> text = ReadFile(path, kFileBytesMax);
    SessionInfo session = Parse(text.value_or(std::string()));
    // Perhaps it was written just now.
    for (int i = 0; i < kReadAgainMax && text.ok() && session.begun == absl::InfinitePast(); ++i) {
      text = ReadFile(path, kFileBytesMax);
      session = Parse(text.value_or(std::string()));
    }
    if (absl::IsNotFound(text.status())) continue;  // it ended just now
    RETURN_IF_ERROR(text.status());
    sessions.push_back(std::move(session));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return ErrnoStatus(error.value(), "read folder", SessionsFolder(store_directory));
  std::ranges::sort(sessions,
                    [](const SessionInfo& a, const SessionInfo& b) { return a.begun < b.begun; });
  return sessions;
}

}  // namespace galley::store
