#include "director/devices/node_path.h"

#include <algorithm>

#include "common/base/digest.h"
#include "common/base/hex.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::devices {
namespace {

// The last `names` names of a path; empty: it has fewer.
std::string_view LastNames(std::string_view path, uint32_t names) {
  size_t at = path.size();
  for (; names > 0; --names) {
    if (at == 0) return {};
    const size_t slash = path.rfind('/', at - 1);
    at = slash == std::string_view::npos ? 0 : slash;
  }
  return at == 0 ? path : path.substr(at + 1);
}

// Leads from the folder of `path` below `static` to the root of the tree.
std::string WayToRoot(std::string_view path) {
  std::string way;
  for (auto folders = std::ranges::count(path, '/') + 1; folders > 0; --folders) way += "../";
  return way;
}

}  // namespace

std::string NodeKey::hex() const {
  return HexEncode({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

NodeKey NodeKeyOf(std::string_view package) {
  NodeKey key;
  const Digest digest = Digest::Of(package);
  std::ranges::copy(digest.hash(), reinterpret_cast<char*>(key.hash.data()));
  return key;
}

std::optional<NodeKey> ParseNodeKey(std::string_view hex) {
  NodeKey key;
  if (!HexDecodeTo(hex, key.hash)) return std::nullopt;
  return key;
}

std::string NodeFolder(const NodeKey& key) {
  const std::string hex = key.hex();
  const std::string_view digits = hex;
  return fmt::format("{}/{}/{}/{}", kResourceFolder, digits.substr(0, 2), digits.substr(2, 2), hex);
}

std::string_view LastName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string LinkTarget(std::string_view path, const LinkEnd& end) {
  const std::string_view names = LastNames(path, end.names);
  GALLEY_CHECK(!names.empty());
  return fmt::format("{}{}/{}", WayToRoot(path), NodeFolder(end.node), names);
}

std::optional<LinkEnd> ParseLinkTarget(std::string_view path, std::string_view target) {
  const std::string start = WayToRoot(path) + std::string(kResourceFolder);
  constexpr size_t kKeyAt = 7;  // behind "/1f/2e/"
  constexpr size_t kKeyDigits = 64;
  if (!target.starts_with(start) || target.size() <= start.size() + kKeyAt + kKeyDigits + 1) {
    return std::nullopt;
  }
  const std::string_view rest = target.substr(start.size() + kKeyAt);
  const std::optional<NodeKey> node = ParseNodeKey(rest.substr(0, kKeyDigits));
  if (!node || rest[kKeyDigits] != '/') return std::nullopt;
  const auto slashes = std::ranges::count(rest.substr(kKeyDigits), '/');
  const LinkEnd end{.node = *node, .names = static_cast<uint32_t>(slashes)};
  if (LastNames(path, end.names).empty() || LinkTarget(path, end) != target) return std::nullopt;
  return end;
}

}  // namespace galley::devices
