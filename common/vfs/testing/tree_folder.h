// TreeFolder: a folder of a session's tree, for tests that need nothing but the library. Its bytes
// are those of Galley (common/tree/linked_directory.h); tree_folder_test.cc holds them together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/vfs/blob_id.h"

namespace galley::vfs {

struct TreeFolder {
  struct Node {
    std::string name;
    BlobId blob;
  };
  struct Link {
    std::string name, target;
  };
  std::vector<Node> files, directories;
  std::vector<Link> links;

  // The lists are written as they are.
  std::string Encode() const {
    std::string bytes;
    for (const Node& file : files) bytes += Field(1, OfNode(file));
    for (const Node& folder : directories) bytes += Field(2, OfNode(folder));
    for (const Link& link : links) bytes += Field(3, Field(1, link.name) + Field(2, link.target));
    return bytes;
  }

 private:
  // Source: the wire format of Protocol Buffers.
  static std::string Number(uint64_t number) {
    std::string bytes;
    for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
    return bytes + static_cast<char>(number);
  }
  static std::string Field(uint64_t number, std::string_view bytes) {
    return Number(number << 3 | 2) + Number(bytes.size()) + std::string(bytes);
  }
  static std::string OfNode(const Node& node) {
    std::string digest = Field(1, ToHex(node.blob.hash));
    if (node.blob.size > 0) digest += Number(2 << 3) + Number(node.blob.size);
    return Field(1, node.name) + Field(2, digest);
  }
};

}  // namespace galley::vfs
