#include "common/vfs/replace_file.h"

#include <memory>

namespace galley::vfs {
namespace {

constexpr int kNewNames = 16;  // processes that write one file at a time
constexpr std::string_view kNew = ".new";

// nullptr: another process writes there.
Result<std::unique_ptr<OpenFile>> OpenNew(Disk& disk, const std::string& path) {
  Result<std::unique_ptr<OpenFile>> file = disk.OpenToAppend(path);
  if (!file.ok() && file.fault().code == kNotAFile) {
    if (const Outcome failed = disk.Remove(path)) return *failed;
    file = disk.OpenToAppend(path);
  }
  if (!file.ok() || (*file)->Lock()) return file;
  return std::unique_ptr<OpenFile>();
}

Outcome MoveOver(Disk& disk, const std::string& from, const std::string& to) {
  Outcome failed = disk.Rename(from, to);
  if (failed && failed->code != GALLEY_VFS_NO_SPACE && !disk.Remove(to))
    failed = disk.Rename(from, to);
  return failed;
}

Outcome WriteNew(Disk& disk, OpenFile& file, const std::string& next, const std::string& path,
                 std::string_view bytes) {
  Outcome failed = file.Append(bytes);
  if (!failed) failed = MoveOver(disk, next, path);
  if (failed) static_cast<void>(disk.Remove(next));
  if (failed && failed->code == GALLEY_VFS_ABSENT) failed->code = GALLEY_VFS_IO;
  return failed;
}

}  // namespace

Outcome ReplaceFile(Disk& disk, const std::string& path, std::string_view bytes) {
  if (Outcome failed = disk.MakeFolder(path.substr(0, path.rfind('/')))) return failed;
  for (int i = 0; i < kNewNames; ++i) {
    const std::string next = path + std::string(kNew) + std::to_string(i);
    const Result<std::unique_ptr<OpenFile>> file = OpenNew(disk, next);
    if (!file.ok()) return file.fault();
    if (*file == nullptr) continue;
    const Result<uint64_t> size = (*file)->Size();
    if (size.ok() && *size == 0) return WriteNew(disk, **file, next, path, bytes);
    static_cast<void>(disk.Remove(next));  // left by a process that was killed
  }
  return Fault{GALLEY_VFS_IO, path + " cannot be written: others write it all the time"};
}

bool IsNewName(std::string_view name) { return name.find(kNew) != std::string_view::npos; }

void RemoveNew(Disk& disk, const std::string& path) {
  const Result<std::unique_ptr<OpenFile>> file = OpenNew(disk, path);
  if (!file.ok() || *file != nullptr) static_cast<void>(disk.Remove(path));
}

}  // namespace galley::vfs
