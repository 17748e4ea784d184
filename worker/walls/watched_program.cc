#include "worker/walls/watched_program.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"

namespace galley::worker {
namespace {

absl::StatusOr<bool> HoldsText(const std::string& file, const std::string& text) {
  if (text.empty()) return false;
  std::string held;  // the end of the piece before
  bool has_it = false;
  RETURN_IF_ERROR(ReadInPieces(file, [&](std::string_view piece) {
    held += piece.substr(0, text.size());
    has_it = has_it || held.find(text) != std::string::npos ||
             piece.find(text) != std::string_view::npos;
    held += piece.substr(std::min(piece.size(), text.size()));
    if (held.size() >= text.size()) held.erase(0, held.size() - text.size() + 1);
    return absl::OkStatus();
  }));
  return has_it;
}

}  // namespace

bool IsBelow(std::string_view path, std::string_view folder) {
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

bool WatchedProgram::IsOurs(std::string_view path) const { return IsBelow(path, folder->root()); }

bool WatchedProgram::IsGuarded(std::string_view path) const {
  return IsOurs(path) || IsBelow(path, tools);
}

std::string WatchedProgram::Known(std::string path) const {
  struct stat info {};
  if (IsOurs(path) || ::lstat(path.c_str(), &info) != 0) return path;
  std::string ours = folder->PathOf(info.st_dev, info.st_ino);
  return ours.empty() ? path : ours;
}

absl::Status CheckWritten(const WatchedProgram& program, const std::string& folder) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_symlink(error) || !at->is_regular_file(error)) continue;
    const std::string path = at->path().string();
    for (const std::string& place : {program.folder->root(), program.tools}) {
      ASSIGN_OR_RETURN(const bool has_it, HoldsText(path, place));
      if (has_it)
        return FailedPreconditionError("its program writes where its files are ({}) into {}", place,
                                       path.substr(std::min(folder.size() + 1, path.size())));
    }
  }
  return error ? ErrnoStatus(error.value(), "list", folder) : absl::OkStatus();
}

}  // namespace galley::worker
