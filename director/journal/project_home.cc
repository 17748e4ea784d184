#include "director/journal/project_home.h"

#include <array>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/real_path.h"
#include "common/base/repairs.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kHomeKind = "galley-project";
constexpr std::array<std::string_view, 2> kNames = {"project", "project.copy"};
constexpr int kHomeVersion = 1;
constexpr uint64_t kFileBytesMax = 64 << 10;
// The folder of each project's state (project::Project::state_directory).
constexpr std::string_view kStateBelow = ".galley/state";

struct Home {
  uint64_t number = 0;  // 0: an older Galley wrote it
  std::string project_id;
  std::string folder;
};

// NOT_FOUND: absent. Other errors: why the file cannot be used.
absl::StatusOr<Home> ReadOne(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kFileBytesMax));
  ASSIGN_OR_RETURN(const std::vector<SealedLine> lines, Unseal(kHomeKind, kHomeVersion, text));
  Home home{.project_id = std::string(ValueOf(lines, "project")),
            .folder = std::string(ValueOf(lines, "folder"))};
  (void)absl::SimpleAtoi(std::string(ValueOf(lines, "number")), &home.number);
  return home;
}

Home ReadHome(const std::string& state_directory) {
  Home best;
  for (const std::string_view name : kNames) {
    const absl::StatusOr<Home> one = ReadOne(JoinPath(state_directory, name));
    if (one.ok() && (best.project_id.empty() || one->number > best.number)) best = *one;
  }
  return best;
}

std::string TextOf(const Home& home) {
  return Seal(kHomeKind, kHomeVersion,
              {{"project", home.project_id},
               {"folder", home.folder},
               {"number", fmt::format("{}", home.number)}});
}

// `is_new`: the file is out of date because its contents changed just now.
absl::Status WriteOne(const std::string& file, const Home& home, bool is_new) {
  RETURN_IF_ERROR(EnsureWritableFile(file));
  const absl::StatusOr<Home> present = ReadOne(file);
  const std::string text = TextOf(home);
  if (present.ok() && TextOf(*present) == text) return absl::OkStatus();
  if (!present.ok() && !absl::IsNotFound(present.status())) {
    const absl::StatusOr<std::string> aside = PutAside(file);
    NoteRepair(fmt::format("{}: {}; {}it was written anew", file, MessageOf(present.status()),
                           aside.ok() ? fmt::format("it was moved aside to {}, ", *aside) : ""));
  } else if (present.ok() && !is_new) {
    NoteRepair(fmt::format("{}: it is an older one; it was written anew", file));
  }
  return WriteFileAtomic(file, text, true);
}

// Says whether one state folder shows at two paths: a link, a bind mount, a network file system
// that is mounted twice. The folder itself must be the same, because a copy of hard links (`cp
// -al`) may share its files. The caller has the lock, and so has just written to the lock's file:
// no snapshot of the disk has a file that was changed at the same time. Device numbers may differ
// from mount to mount.
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
  Home home = ReadHome(state_directory);
  const std::string folder = RealPath(project_folder);
  const bool is_new = home.project_id != project_id || home.folder != folder || home.number == 0;
  if (is_new) home = {.number = home.number + 1, .project_id = project_id, .folder = folder};
  for (const std::string_view name : kNames)
    RETURN_IF_ERROR(WriteOne(JoinPath(state_directory, name), home, is_new));
  return absl::OkStatus();
}

std::string ReadProjectId(const std::string& state_directory) {
  return ReadHome(state_directory).project_id;
}

}  // namespace galley::director
