#include "common/vfs/last_root.h"

#include <utility>

#include "common/vfs/replace_file.h"

namespace galley::vfs {
namespace {

constexpr std::string_view kHead = "galley-vfs-root 1\n";
constexpr size_t kBytesMax = 512;

std::string NameOf(const std::string& platform, const std::vector<std::string>& cultures) {
  std::string key = platform;
  for (const std::string& culture : cultures) key += '\n' + culture;
  return ToHex(Sha256::Of(key)).substr(0, 32);
}

}  // namespace

LastRoot::LastRoot(Disk& disk, std::string cache_folder, const std::string& platform,
                   const std::vector<std::string>& cultures)
    : disk_(disk), folder_(std::move(cache_folder) + "/roots"), name_(NameOf(platform, cultures)) {}

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
  return ReplaceFile(disk_, folder_ + "/" + name_, sealed + " " + ToHex(Sha256::Of(sealed)) + "\n");
}

}  // namespace galley::vfs
