#include "common/vfs/seen_files.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "common/vfs/replace_file.h"

namespace galley::vfs {
Outcome SeenFiles::Begin() {
  if (Outcome failed = disk_.MakeFolder(folder_)) {
    if (failed->code == GALLEY_VFS_NO_SPACE || disk_.Remove(folder_)) return failed;
    if (Outcome again = disk_.MakeFolder(folder_)) return again;
  }
  RemoveOldLists("");
  return std::nullopt;
}

// `kept`: the name of a list that stays.
void SeenFiles::RemoveOldLists(const std::string& kept) const {
  Result<std::vector<FileFacts>> lists = disk_.List(folder_);
  if (!lists.ok()) return;
  std::ranges::sort(*lists, std::greater<>(), &FileFacts::used_s);
  size_t left = kWorldsMax - (kept.empty() ? 0 : 1);
  for (const FileFacts& list : *lists) {
    const std::string path = folder_ + "/" + list.name;
    const bool is_list = ParseHex(list.name).has_value();
    if (list.name == kept) continue;
    if (is_list && left > 0) {
      --left;
    } else if (IsNewName(list.name)) {
      RemoveNew(disk_, path);
    } else {
      static_cast<void>(disk_.Remove(path));
    }
  }
}

Outcome SeenFiles::Note(const BlobId& world, const std::string& path, const BlobId& blob) {
  const std::string text = SeenText(path, blob);
  const Hash key = Sha256::Of(text);
  const std::lock_guard lock(mutex_);
  if (world_ != world) EnterWorld(world);
  if (noted_.Contains(key)) return std::nullopt;
  // Behind a line that a killed process has torn, it begins a line of its own.
  if (Outcome failed = Append("\n" + SeenLine(text))) return failed;
  noted_.Insert(key);
  return std::nullopt;
}

// An earlier process may have noted much: a list must not grow with each start of a game.
void SeenFiles::EnterWorld(const BlobId& world) {
  world_ = world;
  noted_ = {};
  const Result<std::unique_ptr<OpenFile>> list = disk_.OpenToRead(ListOf(world));
  if (!list.ok()) return;
  ForEachSeenLine(**list, 0, [&](uint64_t, std::string_view, std::string_view text) {
    if (!text.empty()) noted_.Insert(Sha256::Of(text));
  });
}

Outcome SeenFiles::Append(const std::string& line) {
  const std::string path = ListOf(world_);
  Result<std::unique_ptr<OpenFile>> list = disk_.OpenToAppend(path);
  if (!list.ok() && list.fault().code != GALLEY_VFS_NO_SPACE) {
    // Somebody has put something else there, or removed the folder.
    if (list.fault().code == kNotAFile) static_cast<void>(disk_.Remove(path));
    if (list.fault().code == GALLEY_VFS_ABSENT) static_cast<void>(disk_.MakeFolder(folder_));
    list = disk_.OpenToAppend(path);
  }
  if (!list.ok()) return list.fault();
  const Result<uint64_t> size = (*list)->Size();
  if (!size.ok()) return size.fault();
  if (*size == 0) RemoveOldLists(ToHex(world_.hash));
  if (*size + line.size() <= kListBytesMax) return (*list)->Append(line);
  if (Outcome failed = Forget()) return failed;
  list = disk_.OpenToAppend(path);
  return list.ok() ? (*list)->Append(line) : Outcome(list.fault());
}

// Keeps the newer half of the list, and whole lines.
Outcome SeenFiles::Forget() {
  std::string kept;
  {
    const Result<std::unique_ptr<OpenFile>> list = disk_.OpenToRead(ListOf(world_));
    if (!list.ok()) return list.fault();
    ForEachSeenLine(**list, 0, [&](uint64_t, std::string_view line, std::string_view text) {
      if (text.empty()) return;
      kept.append(line).append("\n");
      if (kept.size() > kListBytesMax) kept.erase(0, kept.find('\n', kListBytesMax / 2) + 1);
    });
  }
  if (kept.size() > kListBytesMax / 2)
    kept.erase(0, kept.find('\n', kept.size() - kListBytesMax / 2) + 1);
  if (Outcome failed = ReplaceFile(disk_, ListOf(world_), kept)) return failed;
  EnterWorld(world_);
  return std::nullopt;
}

std::optional<BlobId> SeenFiles::Find(const BlobId& world, const std::string& path) {
  const std::lock_guard lock(mutex_);
  const Result<std::unique_ptr<OpenFile>> list = disk_.OpenToRead(ListOf(world));
  if (!list.ok()) return std::nullopt;
  if (index_world_ != world) index_ = {};
  index_world_ = world;
  return index_.Find(**list, path);
}

}  // namespace galley::vfs
