#include "worker/cookers/command/workspace.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <memory>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {

absl::StatusOr<Workspace> Workspace::Create(CookContext& context) {
  ASSIGN_OR_RETURN(const std::string scratch, context.ScratchDirectory());
  // A job runs the program once for each of its platforms; each run gets a folder without
  // leftovers.
  Workspace workspace;
  int run = 0;
  do {
    workspace.root_ = fmt::format("{}/run{}", scratch, run++);
  } while (FileExists(workspace.root_));
  RETURN_IF_ERROR(CreateDirectories(workspace.root_ + "/.galley/out"));
  RETURN_IF_ERROR(context.ShowMounts(workspace.root_));
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(workspace.root_.c_str(), nullptr),
                                                      &::free);
  workspace.real_root_ = real ? real.get() : workspace.root_;
  return workspace;
}

absl::StatusOr<std::string> Workspace::Relative(std::string_view path) const {
  std::string_view inside = path;
  for (const std::string& root : {root_, real_root_}) {
    if (path.starts_with(root + "/")) inside = path.substr(root.size() + 1);
  }
  const absl::StatusOr<std::string> normal = content::NormalizeAsked(inside);
  if (!normal.ok()) return normal.status();
  if (normal->starts_with('/') || *normal == ".." || normal->starts_with("../"))
    return VerdictError("{} lies outside the folder in which the program ran", path);
  return *normal;
}

absl::Status Workspace::MakeFolderOf(const std::string& relative) const {
  const std::string path = JoinPath(root_, relative);
  return CreateDirectories(path.substr(0, path.rfind('/')));
}

absl::StatusOr<std::string> Workspace::FileOf(const std::string& relative) const {
  for (size_t slash = relative.find('/');; slash = relative.find('/', slash + 1)) {
    const bool is_last = slash == std::string::npos;
    struct stat status {};
    if (::lstat(JoinPath(root_, relative.substr(0, slash)).c_str(), &status) != 0) {
      return NotFoundError("{}: there is no such file", relative);
    }
    if (is_last ? !S_ISREG(status.st_mode) : !S_ISDIR(status.st_mode))
      return VerdictError("{}: expected a regular file, not reached through links", relative);
    if (is_last) break;
  }
  return JoinPath(root_, relative);
}

absl::StatusOr<std::string> Workspace::Read(const std::string& relative,
                                            uint64_t size_bytes_max) const {
  ASSIGN_OR_RETURN(const std::string path, FileOf(relative));
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(path));
  if (stat.size_bytes > size_bytes_max) {
    return VerdictError("{} has {} bytes; expected at most {}", relative, stat.size_bytes,
                        size_bytes_max);
  }
  return ReadFile(path, size_bytes_max);
}

}  // namespace galley::worker
