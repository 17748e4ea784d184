#include "director/journal/project_home.h"

#include <string_view>
#include <vector>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/real_path.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"

namespace galley::director {
namespace {

constexpr std::string_view kKind = "galley-project";
constexpr std::string_view kName = "project";
constexpr int kVersion = 1;
constexpr uint64_t kBytesMax = 64 << 10;
// Where each project has its state (project::Project::state_directory).
constexpr std::string_view kStateBelow = ".galley/state";

struct Home {
  std::string project_id;
  std::string folder;
};

Home ReadHome(const std::string& state_directory) {
  const std::string file = JoinPath(state_directory, kName);
  const absl::StatusOr<std::string> text = ReadFile(file, kBytesMax);
  if (absl::IsNotFound(text.status())) return {};
  const auto lines = text.ok() ? Unseal(kKind, kVersion, *text) : text.status();
  if (!lines.ok()) {
    LogWarning("state: {} is not used: {}", file, MessageOf(lines.status()));
    return {};
  }
  return {.project_id = std::string(ValueOf(*lines, "project")),
          .folder = std::string(ValueOf(*lines, "folder"))};
}

// One state folder that shows at two paths: a link, a bind mount, a network file system that is
// mounted twice. The folder itself must be the same one, for its files may be shared by a copy of
// hard links (`cp -al`). Whoever asks has the lock, and so has just written to the lock's file: no
// snapshot of the disk has one that was changed at the same time. (Device numbers may differ from
// mount to mount.)
bool IsSameState(const std::string& a, const std::string& b) {
  const auto our_folder = StatFile(a);
  const auto their_folder = StatFile(b);
  const auto ours = StatFile(JoinPath(a, "lock"));
  const auto theirs = StatFile(JoinPath(b, "lock"));
  return our_folder.ok() && their_folder.ok() && our_folder->inode == their_folder->inode &&
         ours.ok() && theirs.ok() && ours->inode == theirs->inode &&
         ours->ctime_ns == theirs->ctime_ns;
}

}  // namespace

ProjectHome FindHome(const std::string& state_directory, const std::string& project_folder) {
  const Home home = ReadHome(state_directory);
  if (home.project_id.empty() || home.folder.empty() || home.folder == RealPath(project_folder))
    return {.project_id = home.project_id, .copied_from = {}};
  const std::string other = JoinPath(home.folder, kStateBelow);
  if (ReadHome(other).project_id != home.project_id || IsSameState(state_directory, other))
    return {.project_id = home.project_id, .copied_from = {}};
  return {.project_id = {}, .copied_from = home.folder};
}

absl::Status WriteHome(const std::string& state_directory, const std::string& project_folder,
                       const std::string& project_id) {
  const std::string file = JoinPath(state_directory, kName);
  const std::string text =
      Seal(kKind, kVersion, {{"project", project_id}, {"folder", RealPath(project_folder)}});
  const absl::StatusOr<std::string> present = ReadFile(file, kBytesMax);
  if (present.ok() && *present == text) return absl::OkStatus();
  return WriteFileAtomic(file, text, true);
}

std::string ReadProjectId(const std::string& state_directory) {
  return ReadHome(state_directory).project_id;
}

}  // namespace galley::director
