// The places of nodes and links in a session tree: where a package's node lies, and how a link in
// `static` leads there.
//
//   package  /Game/props/a.png, staged at Game/props/a.png
//   node     resource/<2 hex>/<2 hex>/<64 hex>   SHA-256 of the virtual path; its first four digits
//   link     static/Game/props/a.png.ktx2 -> ../../../resource/<2>/<2>/<64>/a.png.ktx2
//
// Threads: none; pure functions.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace galley::devices {

inline constexpr std::string_view kWorldFile = "world";
inline constexpr std::string_view kStaticFolder = "static";
inline constexpr std::string_view kResourceFolder = "resource";

// NodeKey: SHA-256 of a package's virtual path. Ordered as its hex digits are.
struct NodeKey {
  std::array<uint8_t, 32> hash{};

  // 64 lower-case hex digits: the name of the node's folder.
  std::string hex() const;
  auto operator<=>(const NodeKey&) const = default;
};

NodeKey NodeKeyOf(std::string_view package);
// nullopt: not 64 lower-case hex digits.
std::optional<NodeKey> ParseNodeKey(std::string_view hex);

// "resource/1f/2e/1f2e...", from the root of the tree.
std::string NodeFolder(const NodeKey& key);

// "b.png" of "a/b.png".
std::string_view LastName(std::string_view path);

// LinkEnd: a link's end. The last `names` names of the link's own path are the path in the node:
// 1 for `a.png.ktx2`, 2 for `a.glb.d/lod1.glb`.
struct LinkEnd {
  NodeKey node;
  uint32_t names = 1;
  auto operator<=>(const LinkEnd&) const = default;
};

// The target of the link at `path`, which is relative to `static`. REQUIRES: `path` is plain
// (tree/plain_name.h), and has `end.names` names.
std::string LinkTarget(std::string_view path, const LinkEnd& end);
// The inverse. nullopt: LinkTarget makes no such target for `path`.
std::optional<LinkEnd> ParseLinkTarget(std::string_view path, std::string_view target);

}  // namespace galley::devices
