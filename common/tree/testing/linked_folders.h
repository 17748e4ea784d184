// For tests: session trees, written as text, with their folders in memory.
//
//   LinkedFolders folders;
//   const Digest root = folders.Build("resource/1f/a=text static/a->../resource/1f/a");
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/digest.h"
#include "common/tree/linked_directory.h"
#include "common/tree/linked_tree.h"
#include "common/tree/testing/counted_blobs.h"
#include "common/tree/tree.h"

namespace galley::tree {

// Reads "a/b=text c!=text d e->../a/b": files with their contents, where '!' marks an executable
// and a file without '=' has its path as its content; links with their targets.
inline LinkedTree ParseLinkedTree(const std::string& text) {
  LinkedTree tree;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (const size_t arrow = word.find("->"); arrow != std::string::npos) {
      tree.links.push_back({word.substr(0, arrow), word.substr(arrow + 2)});
      continue;
    }
    const size_t equals = word.find('=');
    std::string path = word.substr(0, equals);
    const bool is_executable = path.back() == '!';
    if (is_executable) path.pop_back();
    const std::string content = equals == std::string::npos ? path : word.substr(equals + 1);
    tree.files.push_back({path, Digest::Of(content), is_executable});
  }
  return tree;
}

class LinkedFolders : public CountedBlobs {
 public:
  Digest Build(const std::string& text) { return Build(ParseLinkedTree(text)); }

  Digest Build(const LinkedTree& tree) {
    Node top;
    for (const TreeFile& file : tree.files) {
      const auto [folder, name] = FolderFor(top, file.path);
      folder->files[name] = {name, file.digest, file.is_executable};
    }
    for (const TreeLink& link : tree.links) {
      const auto [folder, name] = FolderFor(top, link.path);
      folder->links[name] = {name, link.target};
    }
    return Store(top);
  }

 private:
  struct Node {
    std::map<std::string, FileNode> files;
    std::map<std::string, LinkNode> links;
    std::map<std::string, Node> folders;
  };

  static std::pair<Node*, std::string> FolderFor(Node& top, std::string_view path) {
    Node* folder = &top;
    for (size_t slash; (slash = path.find('/')) != std::string_view::npos;) {
      folder = &folder->folders[std::string(path.substr(0, slash))];
      path.remove_prefix(slash + 1);
    }
    return {folder, std::string(path)};
  }

  Digest Store(const Node& node) {
    LinkedDirectory directory;
    for (const auto& [name, file] : node.files) directory.files.push_back(file);
    for (const auto& [name, link] : node.links) directory.links.push_back(link);
    for (const auto& [name, inner] : node.folders) {
      directory.directories.push_back({name, Store(inner)});
    }
    return Add(EncodeLinkedDirectory(directory));
  }
};

}  // namespace galley::tree
