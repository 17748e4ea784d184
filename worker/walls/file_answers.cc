#include "worker/walls/file_answers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

constexpr int kScriptsMax = 5;  // scripts that are run by scripts; execve(2)
constexpr size_t kScriptLineMax = 256;
// The kernel itself opens the loader of programs that are linked to libraries.
#if defined(__x86_64__)
constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";
#else
constexpr const char* kLoader = "/lib/ld-linux-aarch64.so.1";
#endif

}  // namespace

CallAnswer FileAnswers::Look(const WaitingCall& call) {
  const WatchedCall& watched = *call.watched;
  const bool follows =
      watched.flags >= 0 ? (call.At(watched.flags) & AT_SYMLINK_NOFOLLOW) == 0 : watched.follows;
  ASSIGN_OR_RETURN(const Place place,
                   deps_.paths.Walk(call, watched.path, watched.folder, follows));
  deps_.looks.Note(place, false);
  return 0;
}

// The target of a link into our folder tells where the folder is, which differs between machines.
CallAnswer FileAnswers::ReadLink(const WaitingCall& call) {
  const WatchedCall& watched = *call.watched;
  ASSIGN_OR_RETURN(const Place place, deps_.paths.Walk(call, watched.path, watched.folder, false));
  if (place.exists && S_ISLNK(place.mode)) {
    const std::string target = LinkAt(place.path).value_or("");
    if (target.starts_with('/') && deps_.program.IsGuarded(deps_.program.Known(target)))
      return CannotBeWatched("asks where the files of the project are (readlink)");
  }
  deps_.looks.Note(place, false);
  return 0;
}

CallAnswer FileAnswers::TellPlace(const WaitingCall& call) {
  const std::optional<std::string> place = LinkAt(fmt::format("/proc/{}/cwd", call.process));
  if (!place.has_value() || !deps_.program.IsGuarded(deps_.program.Known(*place))) return 0;
  return CannotBeWatched("asks where the files of the project are (getcwd)");
}

CallAnswer FileAnswers::Open(const WaitingCall& call) {
  const WatchedCall& watched = *call.watched;
  uint64_t flags = watched.flags < 0 ? O_CREAT | O_WRONLY | O_TRUNC : call.At(watched.flags);
  if (watched.what == WatchedCall::What::kOpenByStruct) {
    std::array<uint64_t, 3> how;  // open_how: flags, mode, resolve
    if (!call.ReadMemory(call.At(watched.flags), how.data(), sizeof(how))) return 0;
    flags = how[0];
    // Rules in `resolve` change where paths lead, which PathWalk does not know.
    if (how[2] != 0) return CannotBeWatched("calls openat2 with rules of its own for paths");
  }
  const bool creates = (flags & O_CREAT) != 0;
  const bool writes =
      (flags & O_PATH) == 0 && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0);
  const bool follows =
      (flags & O_NOFOLLOW) == 0 && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
  ASSIGN_OR_RETURN(const Place place,
                   deps_.paths.Walk(call, watched.path, watched.folder, follows));
  if (!deps_.program.IsGuarded(place.path)) {
    if (creates && !place.exists && place.absent == place.path) {
      deps_.looks.Makes(call.process, place);
    } else if ((flags & O_TMPFILE) != O_TMPFILE) {
      deps_.looks.Note(place, (flags & O_PATH) == 0);
    }
    return 0;
  }
  if (!place.exists) {
    if (creates) return EROFS;
    deps_.looks.Note(place, false);
    return 0;
  }
  if (creates && (flags & O_EXCL) != 0) return 0;  // the kernel answers that the file exists
  const bool makes_nameless = (flags & O_TMPFILE) == O_TMPFILE;
  // For a folder the kernel itself answers EISDIR.
  if (writes) return S_ISDIR(place.mode) && !makes_nameless ? 0 : EROFS;
  if ((flags & O_PATH) == 0 && (S_ISDIR(place.mode) || !deps_.program.IsOurs(place.path)))
    deps_.looks.Note(place, true);
  if ((flags & (O_PATH | O_DIRECTORY)) != 0 || !S_ISREG(place.mode)) return 0;
  if (!deps_.program.IsOurs(place.path)) return 0;
  RETURN_IF_ERROR(deps_.program.folder->FillFile(place.path));
  return 0;
}

CallAnswer FileAnswers::Run(const WaitingCall& call) {
  const WatchedCall& watched = *call.watched;
  ASSIGN_OR_RETURN(const Place place, deps_.paths.Walk(call, watched.path, watched.folder, true));
  RETURN_IF_ERROR(FillInterpreters(call, place, 0));
  return 0;
}

// The kernel itself opens the program, and the interpreter in a script's first line.
absl::Status FileAnswers::FillInterpreters(const WaitingCall& call, const Place& program,
                                           int depth) {
  deps_.looks.Note(program, !deps_.program.IsOurs(program.path));
  if (!program.exists || !S_ISREG(program.mode) || depth == kScriptsMax) return absl::OkStatus();
  if (deps_.program.IsOurs(program.path))
    RETURN_IF_ERROR(deps_.program.folder->FillFile(program.path));
  const FileDescriptor file(::open(program.path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, kScriptLineMax> head;
  const ssize_t count = file.valid() ? ::read(file.get(), head.data(), head.size()) : 0;
  const std::string_view text(head.data(), count > 0 ? static_cast<size_t>(count) : 0);
  if (!text.starts_with("#!")) {
    ASSIGN_OR_RETURN(const Place loader, deps_.paths.WalkFrom(call, "", kLoader, true));
    deps_.looks.Note(loader, true);
    return absl::OkStatus();
  }
  std::istringstream line{std::string(text.substr(2, text.find('\n') - 2))};
  std::string interpreter;
  line >> interpreter;
  ASSIGN_OR_RETURN(const Place place, deps_.paths.WalkFrom(call, "", interpreter, true));
  return FillInterpreters(call, place, depth + 1);
}

CallAnswer FileAnswers::Change(const WaitingCall& call) {
  const WatchedCall& watched = *call.watched;
  const bool is_link = watched.error == EXDEV;
  const uint64_t flags = watched.flags >= 0 ? call.At(watched.flags) : 0;
  const bool follows = is_link              ? (flags & AT_SYMLINK_FOLLOW) != 0
                       : watched.flags >= 0 ? (flags & AT_SYMLINK_NOFOLLOW) == 0
                                            : watched.follows;
  // utimensat of a descriptor gives no path at all.
  if (call.At(watched.path) == 0 && watched.folder >= 0) return ChangeOpened(call);
  ASSIGN_OR_RETURN(const Place first,
                   deps_.paths.Walk(call, watched.path, watched.folder, follows));
  if (first.is_empty && (flags & AT_EMPTY_PATH) != 0) {
    ASSIGN_OR_RETURN(const int error, ChangeOpened(call));
    if (error != 0) return is_link ? EXDEV : error;
  }
  // The kernel itself refuses to change an absent file, or to make an existing one.
  const bool is_it = first.exists == (watched.what == WatchedCall::What::kChange);
  if (deps_.program.IsGuarded(first.path) && !first.is_empty && is_it) return watched.error;
  if (watched.what == WatchedCall::What::kMake && !first.exists && first.absent == first.path) {
    deps_.looks.Makes(call.process, first);
  } else {
    deps_.looks.Note(first, is_link);
  }
  if (watched.second_path < 0) return 0;
  ASSIGN_OR_RETURN(const Place second,
                   deps_.paths.Walk(call, watched.second_path, watched.second_folder, false));
  if (deps_.program.IsGuarded(second.path)) return EROFS;
  if (!second.exists && second.absent == second.path) {
    deps_.looks.Makes(call.process, second);
  } else {
    deps_.looks.Note(second, false);
  }
  return 0;
}

CallAnswer FileAnswers::ChangeOpened(const WaitingCall& call) {
  const auto descriptor = static_cast<int>(call.At(call.watched->folder));
  const std::optional<std::string> place =
      LinkAt(fmt::format("/proc/{}/fd/{}", call.process, descriptor));
  return place.has_value() && place->starts_with('/') &&
                 deps_.program.IsGuarded(deps_.program.Known(*place)) && call.Waits()
             ? EROFS
             : 0;
}

}  // namespace galley::worker
