#include "common/vfs/seen_lines.h"

#include <algorithm>
#include <cstring>

#include "common/vfs/sha256.h"

namespace galley::vfs {
namespace {

constexpr size_t kSealSize = 16;
constexpr size_t kPieceBytes = 64 << 10;
constexpr size_t kLineBytesMax = 8 << 10;

std::string SealOf(std::string_view text) { return ToHex(Sha256::Of(text)).substr(0, kSealSize); }

// Empty: the line is damaged.
std::string_view TextIn(std::string_view line) {
  if (line.size() < kSealSize + 2 || line[kSealSize] != ' ') return {};
  const std::string_view text = line.substr(kSealSize + 1);
  return SealOf(text) == line.substr(0, kSealSize) ? text : std::string_view();
}

// The text of the line at the offset; empty: there is no whole line, or a damaged one.
std::string TextAt(const OpenFile& list, uint64_t offset) {
  std::string bytes(kLineBytesMax, '\0');
  const Result<size_t> got = list.ReadAt(offset, bytes.data(), bytes.size());
  if (!got.ok()) return {};
  bytes.resize(*got);
  const size_t end = bytes.find('\n');
  return end == std::string::npos ? std::string()
                                  : std::string(TextIn(std::string_view(bytes).substr(0, end)));
}

}  // namespace

std::string SeenLine(std::string_view text) {
  return SealOf(text).append(" ").append(text).append("\n");
}

uint64_t ForEachSeenLine(const OpenFile& list, uint64_t from, const TakeSeenLine& take) {
  std::string held;  // what is read and has no line's end yet
  std::vector<char> piece(kPieceBytes);
  for (uint64_t offset = from, begins = from;;) {
    const Result<size_t> got = list.ReadAt(offset, piece.data(), piece.size());
    if (!got.ok() || *got == 0) return begins;
    offset += *got;
    held.append(piece.data(), *got);
    size_t begin = 0;
    for (size_t end; (end = held.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string_view line = std::string_view(held).substr(begin, end - begin);
      take(begins + begin, line, TextIn(line));
    }
    if (held.size() - begin > kLineBytesMax) begin = held.size();  // it is no list of ours
    held.erase(0, begin);
    begins += begin;
  }
}

std::string SeenText(const std::string& path, const BlobId& blob) {
  return blob.ToText() + " " + path;
}

std::optional<SeenFile> ParseSeenText(std::string_view text) {
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::optional<BlobId> blob = BlobId::Parse(text.substr(0, space));
  if (!blob) return std::nullopt;
  return SeenFile{.path = text.substr(space + 1), .blob = *blob};
}

uint64_t SeenIndex::KeyOf(std::string_view path) {
  const Hash hash = Sha256::Of(path);
  uint64_t key = 0;
  std::memcpy(&key, hash.data(), sizeof key);
  return key;
}

// False: somebody has replaced the list by a shorter one.
bool SeenIndex::IsOf(const OpenFile& list) const {
  return end_ == 0 || (!last_.empty() && TextAt(list, last_offset_) == last_);
}

void SeenIndex::ReadOn(const OpenFile& list) {
  const size_t known = places_.size();
  end_ = ForEachSeenLine(list, end_,
                         [&](uint64_t offset, std::string_view /*line*/, std::string_view text) {
                           const std::optional<SeenFile> file = ParseSeenText(text);
                           if (!file) return;
                           places_.push_back({.key = KeyOf(file->path), .offset = offset});
                           last_ = text;
                           last_offset_ = offset;
                         });
  if (places_.size() > known) std::ranges::sort(places_);
}

std::optional<BlobId> SeenIndex::Find(const OpenFile& list, const std::string& path) {
  if (!IsOf(list)) *this = {};
  ReadOn(list);
  const uint64_t key = KeyOf(path);
  auto at = std::ranges::upper_bound(places_, Place{.key = key, .offset = UINT64_MAX});
  for (; at != places_.begin() && std::prev(at)->key == key; --at) {
    const std::string text = TextAt(list, std::prev(at)->offset);
    const std::optional<SeenFile> file = ParseSeenText(text);
    if (file && file->path == path) return file->blob;
  }
  return std::nullopt;
}

}  // namespace galley::vfs
