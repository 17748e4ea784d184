#include "common/vfs/last_root.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "common/vfs/replace_file.h"

namespace galley::vfs {
namespace {

constexpr std::string_view kHead = "galley-vfs-root 1\n";
constexpr size_t kBytesMax = 512;

std::string NameOf(const Url& url, const std::string& platform,
                   const std::vector<std::string>& cultures) {
  std::string key = (url.is_tls ? "https " : "http ") + url.host + " " + std::to_string(url.port);
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  key += '\n' + platform;
  for (const std::string& culture : cultures) key += '\n' + culture;
  return ToHex(Sha256::Of(key)).substr(0, 32);
}

}  // namespace

LastRoot::LastRoot(Disk& disk, std::string cache_folder, const Url& url,
                   const std::string& platform, const std::vector<std::string>& cultures)
    : disk_(disk),
      folder_(std::move(cache_folder) + "/roots"),
      name_(NameOf(url, platform, cultures)) {}

std::optional<BlobId> LastRoot::Load() const {
  const Result<std::unique_ptr<OpenFile>> file = disk_.OpenToRead(folder_ + "/" + name_);
  if (!file.ok()) return std::nullopt;
  std::string text(kBytesMax, '\0');
  const Result<size_t> got = (*file)->ReadAt(0, text.data(), text.size());
  if (!got.ok()) return std::nullopt;
  text.resize(*got);
  const size_t space = text.rfind(' ');
  if (!text.starts_with(kHead) || !text.ends_with('\n') || space == std::string::npos ||
      space < kHead.size())
    return std::nullopt;
  const std::string_view sealed = std::string_view(text).substr(0, space);
  if (text.substr(space + 1, text.size() - space - 2) != ToHex(Sha256::Of(sealed)))
    return std::nullopt;
  return BlobId::Parse(sealed.substr(kHead.size()));
}

Outcome LastRoot::Save(const BlobId& root) const {
  const std::string sealed = std::string(kHead) + root.ToText();
  const std::string text = sealed + " " + ToHex(Sha256::Of(sealed)) + "\n";
  const std::string path = folder_ + "/" + name_;
  const bool is_new = !disk_.Look(path).ok();
  Outcome failed = ReplaceFile(disk_, path, text);
  if (!failed && is_new) RemoveOldRoots();
  return failed;
}

void LastRoot::RemoveOldRoots() const {
  Result<std::vector<FileFacts>> roots = disk_.List(folder_);
  if (!roots.ok()) return;
  std::ranges::sort(*roots, std::greater<>(), &FileFacts::used_s);
  size_t left = kRootsMax - 1;
  for (const FileFacts& root : *roots) {
    const std::string path = folder_ + "/" + root.name;
    if (root.name == name_) continue;
    if (IsNewName(root.name)) {
      RemoveNew(disk_, path);
    } else if (left > 0) {
      --left;
    } else {
      static_cast<void>(disk_.Remove(path));
    }
  }
}

}  // namespace galley::vfs
