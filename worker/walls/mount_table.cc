#include "worker/walls/mount_table.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "common/base/file.h"

namespace galley::worker {
namespace {

constexpr uint64_t kTableBytesMax = 64 << 20;
constexpr std::string_view kRemoved = "//deleted";
// File systems that may be mounted below a project's folder for a program's sake, for example in
// the root of another system. They show the machine and no content, and other programs need them
// unchanged.
constexpr std::array<std::string_view, 7> kOfTheMachine = {"proc",   "sysfs",  "devtmpfs", "devpts",
                                                           "mqueue", "cgroup", "cgroup2"};

// Decodes escapes: "\040" is a blank.
std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto is_octal = [&](size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] != '\\' || i + 3 >= text.size() || !is_octal(i + 1) || !is_octal(i + 2) ||
        !is_octal(i + 3)) {
      decoded += text[i];
      continue;
    }
    decoded +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return decoded;
}

// Whether `path` is the folder or lies below it.
bool IsIn(std::string_view path, std::string_view folder) {
  return folder == "/" ||
         (path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/'));
}

// The part of `path` behind the folder: "" or "/...".
std::string_view Below(std::string_view path, std::string_view folder) {
  if (folder == "/") return path == "/" ? std::string_view() : path;
  return path.substr(folder.size());
}

std::string Joined(std::string_view folder, std::string_view below) {
  if (below.empty()) return std::string(folder);
  return folder == "/" ? std::string(below) : std::string(folder) + std::string(below);
}

// A folder of a file system, and a path that leads to it.
struct MountedFolder {
  std::string device, root, path;
};

const MountLine* MountOf(const std::vector<MountLine>& mounts, const std::string& path) {
  const MountLine* found = nullptr;
  for (const MountLine& mount : mounts) {
    if (IsIn(path, mount.point) && (found == nullptr || mount.point.size() >= found->point.size()))
      found = &mount;
  }
  return found;
}

std::vector<MountedFolder> MountedFoldersOf(const std::vector<std::string>& folders,
                                            const std::vector<MountLine>& mounts) {
  std::vector<MountedFolder> places;
  for (const std::string& folder : folders) {
    if (const MountLine* const mount = MountOf(mounts, folder); mount != nullptr)
      places.push_back({mount->device, Joined(mount->root, Below(folder, mount->point)), folder});
    for (const MountLine& mount : mounts) {
      const bool is_of_the_machine =
          std::ranges::find(kOfTheMachine, mount.type) != kOfTheMachine.end();
      if (mount.point != folder && IsIn(mount.point, folder) && !is_of_the_machine)
        places.push_back({mount.device, mount.root, mount.point});
    }
  }
  return places;
}

}  // namespace

std::vector<MountLine> ParseMountTable(std::string_view mountinfo) {
  std::vector<MountLine> mounts;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, parent, options, word;
    MountLine mount;
    words >> id >> parent >> mount.device >> mount.root >> mount.point >> options;
    while (words >> word && word != "-") {
    }
    words >> mount.type;
    mount.root = Decoded(mount.root);
    mount.point = Decoded(mount.point);
    if (mount.type.empty() || !mount.root.starts_with('/') || !mount.point.starts_with('/') ||
        mount.root.ends_with(kRemoved))
      continue;
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::vector<MountLine> ReadMountTable() {
  const auto text = ReadFile("/proc/self/mountinfo", kTableBytesMax);
  return text.ok() ? ParseMountTable(*text) : std::vector<MountLine>();
}

std::vector<std::string> PathsTo(
    const std::vector<std::string>& folders, const std::vector<MountLine>& mounts,
    const std::function<bool(const std::string&, const std::string&)>& is_same) {
  std::set<std::string> paths(folders.begin(), folders.end());
  for (const MountedFolder& place : MountedFoldersOf(folders, mounts)) {
    for (const MountLine& mount : mounts) {
      if (mount.device != place.device) continue;
      std::string path, original = place.path;
      if (IsIn(place.root, mount.root)) {
        path = Joined(mount.point, Below(place.root, mount.root));
      } else if (IsIn(mount.root, place.root)) {
        path = mount.point;
        original = Joined(place.path, Below(mount.root, place.root));
      } else {
        continue;
      }
      // A project that shows the machine's whole root does not make the root part of the project.
      if (path != "/" && !paths.contains(path) && is_same(path, original))
        paths.insert(std::move(path));
    }
  }
  std::vector<std::string> roots;
  for (const std::string& path : paths) {
    const bool is_below =
        std::ranges::any_of(roots, [&](const std::string& root) { return IsIn(path, root); });
    if (!is_below) roots.push_back(path);
  }
  return roots;
}

}  // namespace galley::worker
