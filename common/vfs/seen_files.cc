#include "common/vfs/seen_files.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace galley::vfs {
namespace {

constexpr size_t kSealSize = 16;
constexpr size_t kPieceBytes = 64 << 10;
constexpr size_t kLineBytesMax = 8 << 10;

std::string SealOf(std::string_view text) { return ToHex(Sha256::Of(text)).substr(0, kSealSize); }

// The blob of a line for this path; nullopt: it is of another path, or damaged.
std::optional<BlobId> BlobIn(std::string_view line, std::string_view path) {
  if (line.size() < kSealSize + 2 || line[kSealSize] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kSealSize + 1);
  const size_t space = text.find(' ');
  if (space == std::string_view::npos || text.substr(space + 1) != path) return std::nullopt;
  if (SealOf(text) != line.substr(0, kSealSize)) return std::nullopt;
  return BlobId::Parse(text.substr(0, space));
}

}  // namespace

Outcome SeenFiles::Begin() {
  if (Outcome failed = disk_.MakeFolder(folder_)) return failed;
  Result<std::vector<FileFacts>> lists = disk_.List(folder_);
  if (!lists.ok()) return lists.fault();
  std::ranges::sort(*lists, std::greater<>(), &FileFacts::used_s);
  for (size_t i = kWorldsMax; i < lists->size(); ++i)
    static_cast<void>(disk_.Remove(folder_ + "/" + (*lists)[i].name));
  return std::nullopt;
}

Outcome SeenFiles::Note(const BlobId& world, const std::string& path, const BlobId& blob) {
  const std::string text = blob.ToText() + " " + path;
  const Hash key = Sha256::Of(text);
  {
    const std::lock_guard lock(mutex_);
    if (world_ != world) noted_ = {};
    world_ = world;
    if (noted_.Contains(key)) return std::nullopt;
  }
  // An earlier process may have noted it: a list must not grow with each start of a game.
  if (Find(world, path) != blob) {
    if (Outcome failed = Append(world, text)) return failed;
  }
  const std::lock_guard lock(mutex_);
  if (world_ == world) noted_.Insert(key);
  return std::nullopt;
}

Outcome SeenFiles::Append(const BlobId& world, const std::string& text) {
  const Result<std::unique_ptr<OpenFile>> list = disk_.OpenToAppend(ListOf(world));
  if (!list.ok()) return list.fault();
  // Behind a line that a killed process has torn, it begins a line of its own.
  return (*list)->Append("\n" + SealOf(text) + " " + text + "\n");
}

std::optional<BlobId> SeenFiles::Find(const BlobId& world, const std::string& path) const {
  const Result<std::unique_ptr<OpenFile>> list = disk_.OpenToRead(ListOf(world));
  if (!list.ok()) return std::nullopt;
  std::optional<BlobId> found;
  std::string held;  // what is read and has no line's end yet
  std::vector<char> piece(kPieceBytes);
  for (uint64_t offset = 0;;) {
    const Result<size_t> got = (*list)->ReadAt(offset, piece.data(), piece.size());
    if (!got.ok() || *got == 0) return found;
    offset += *got;
    held.append(piece.data(), *got);
    size_t begin = 0;
    for (size_t end; (end = held.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::optional<BlobId> blob =
          BlobIn(std::string_view(held).substr(begin, end - begin), path);
      if (blob) found = blob;
    }
    held.erase(0, begin);
    if (held.size() > kLineBytesMax) held.clear();  // it is no list of ours
  }
}

}  // namespace galley::vfs
