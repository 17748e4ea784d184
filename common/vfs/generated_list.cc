#include "common/vfs/generated_list.h"

#include "common/vfs/blob_id.h"
#include "common/vfs/folder.h"

namespace galley::vfs {

std::optional<std::vector<GeneratedPackage>> ParseGeneratedList(std::string_view bytes) {
  constexpr std::string_view kHead = "galley-generated 1\n";
  constexpr size_t kHexSize = 64;
  if (!bytes.starts_with(kHead)) return std::nullopt;
  bytes.remove_prefix(kHead.size());
  std::vector<GeneratedPackage> packages;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    const bool is_line = line.size() > kHexSize + 1 && line[kHexSize] == ' ' &&
                         ParseHex(line.substr(0, kHexSize)) &&
                         IsPlainPath(line.substr(kHexSize + 1));
    if (!is_line) return std::nullopt;
    packages.push_back({.path = std::string(line.substr(kHexSize + 1)),
                        .node = std::string(line.substr(0, kHexSize))});
  }
  return packages;
}

}  // namespace galley::vfs
