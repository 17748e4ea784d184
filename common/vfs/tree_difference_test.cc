#include "common/vfs/tree_difference.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/vfs/galley_vfs.h"
#include "common/vfs/testing/tree_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Le;

// Project: packages by path, as the tree of a session shows them: a link for each, and a node for
// each that is cooked. A package without bytes is not cooked. A path that ends in ".txt" is a small
// copied file.
using Project = std::map<std::string, std::string>;

class TreeDifferenceTest : public testing::Test {
 protected:
  BlobId Put(const TreeFolder& folder) {
    const std::string bytes = folder.Encode();
    const BlobId blob = BlobId::Of(bytes);
    folders_[blob] = bytes;
    return blob;
  }
  static TreeFolder::Node NodeIn(const std::string& name, const BlobId& folder) {
    return {.name = name, .blob = folder};
  }
  static std::string NodeName(const std::string& path) { return ToHex(Sha256::Of("/" + path)); }

  // Folders, by name, of the entries that `paths` have below `prefix`.
  BlobId PutShown(const Project& project, const std::string& prefix, size_t depth) {
    TreeFolder folder;
    std::set<std::string> folders;
    for (const auto& [path, bytes] : project) {
      if (!path.starts_with(prefix)) continue;
      const std::string rest = path.substr(prefix.size());
      if (const size_t slash = rest.find('/'); slash != std::string::npos) {
        folders.insert(rest.substr(0, slash));
      } else if (rest.ends_with(".txt")) {
        folder.files.push_back({.name = rest, .blob = BlobId::Of(bytes)});
      } else {
        const std::string node = NodeName(path);
        std::string up;
        for (size_t i = 0; i < depth; ++i) up += "../";
        folder.links.push_back({.name = rest,
                                .target = up + "resource/" + node.substr(0, 2) + "/" +
                                          node.substr(2, 2) + "/" + node + "/" + rest});
      }
    }
    for (const std::string& name : folders)
      folder.directories.push_back(NodeIn(name, PutShown(project, prefix + name + "/", depth + 1)));
    return Put(folder);
  }
  BlobId PutNodes(const Project& project) {
    std::map<std::string, std::map<std::string, TreeFolder>> levels;
    for (const auto& [path, bytes] : project) {
      if (bytes.empty() || path.ends_with(".txt")) continue;
      const std::string node = NodeName(path);
      const std::string name = path.substr(path.rfind('/') + 1);
      const BlobId outputs = Put(
          {.files = {{.name = name, .blob = BlobId::Of(bytes)}}, .directories = {}, .links = {}});
      levels[node.substr(0, 2)][node.substr(2, 2)].directories.push_back(NodeIn(node, outputs));
    }
    TreeFolder top;
    for (auto& [first, seconds] : levels) {
      TreeFolder middle;
      for (auto& [second, nodes] : seconds) {
        std::ranges::sort(nodes.directories, {}, &TreeFolder::Node::name);
        middle.directories.push_back(NodeIn(second, Put(nodes)));
      }
      top.directories.push_back(NodeIn(first, Put(middle)));
    }
    return Put(top);
  }
  BlobId PutTree(const Project& project) {
    return Put({.files = {},
                .directories = {NodeIn("resource", PutNodes(project)),
                                NodeIn("static", PutShown(project, "", 1))},
                .links = {}});
  }

  // The differences, as "kind path"; read_ has the folders that were read.
  std::vector<std::string> Diff(const BlobId& before, const BlobId& after, size_t max = SIZE_MAX) {
    std::vector<std::string> told;
    read_.clear();
    const auto read = [&](const BlobId& folder) -> Result<FolderBytes> {
      const auto found = folders_.find(folder);
      if (found == folders_.end()) return Fault{GALLEY_VFS_OFFLINE, "no folder"};
      read_.insert(folder);
      return FolderBytes(found->second);
    };
    const Outcome failed = DiffTrees(before, after, read, [&](const PathDifference& one) {
      static const char* const kNames[] = {"", "added ", "modified ", "removed ", "stale "};
      told.push_back(kNames[one.kind] + one.path);
      return told.size() < max;
    });
    code_ = failed ? failed->code : GALLEY_VFS_OK;
    return told;
  }

  std::map<BlobId, std::string> folders_;
  std::set<BlobId> read_;
  int code_ = GALLEY_VFS_OK;
};

TEST_F(TreeDifferenceTest, EachKindOfDifference) {
  const BlobId before = PutTree({{"Game/a.bin", "1"},
                                 {"Game/b.bin", "2"},
                                 {"Game/c.bin", "3"},
                                 {"Game/later.bin", ""},
                                 {"Game/maps/old.bin", "4"},
                                 {"Game/read.txt", "5"},
                                 {"Game/same.txt", "6"},
                                 {"Game/x", "7"},
                                 {"Game/y/z", "8"}});
  const BlobId after = PutTree({{"Game/a.bin", "other"},
                                {"Game/b.bin", "2"},
                                {"Game/c.bin", ""},
                                {"Game/later.bin", "cooked now"},
                                {"Game/new/n.bin", ""},
                                {"Game/read.txt", "again"},
                                {"Game/same.txt", "6"},
                                {"Game/x/below", "7"},
                                {"Game/y", "8"}});
  EXPECT_THAT(
      Diff(before, after),
      ElementsAre("modified Game/a.bin", "stale Game/c.bin", "modified Game/later.bin",
                  "removed Game/maps/old.bin", "added Game/new/n.bin", "modified Game/read.txt",
                  "removed Game/x", "added Game/x/below", "removed Game/y/z", "added Game/y"));
  EXPECT_THAT(Diff(before, before), IsEmpty());
  EXPECT_THAT(read_, IsEmpty());
  EXPECT_THAT(Diff(before, after, 2), ElementsAre("modified Game/a.bin", "stale Game/c.bin"));
  EXPECT_EQ(code_, GALLEY_VFS_OK);
  folders_.erase(folders_.find(before));
  EXPECT_THAT(Diff(before, after), IsEmpty());
  EXPECT_EQ(code_, GALLEY_VFS_OFFLINE);
  folders_[before] = "no folder";
  Diff(before, after);
  EXPECT_EQ(code_, GALLEY_VFS_DAMAGED);
}

TEST_F(TreeDifferenceTest, FilesAreThoseThatSearchesFind) {
  std::mt19937 random(20'261'201);
  for (int round = 0; round < 50; ++round) {
    Project projects[2];
    for (Project& project : projects) {
      for (int i = 0; i < 30; ++i) {
        const std::string folder = random() % 2 == 0 ? "Game/" : "Game/maps/";
        const std::string end = random() % 4 == 0 ? ".txt" : ".bin";
        const std::string bytes = std::string(random() % 3, 'x');
        if (random() % 4 != 0) project[folder + std::to_string(i) + end] = bytes;
      }
    }
    std::set<std::string> paths, differ;
    for (const Project& project : projects)
      for (const auto& [path, bytes] : project) paths.insert(path);
    for (const std::string& path : paths) {
      const auto was = projects[0].find(path), is = projects[1].find(path);
      const bool is_equal =
          was != projects[0].end() && is != projects[1].end() && was->second == is->second;
      if (!is_equal) differ.insert(path);
    }
    std::set<std::string> told;
    for (const std::string& line : Diff(PutTree(projects[0]), PutTree(projects[1])))
      told.insert(line.substr(line.find(' ') + 1));
    EXPECT_EQ(told, differ) << round;
  }
}

TEST_F(TreeDifferenceTest, WhatChangedIsReadAndNoMore) {
  Project project;
  for (int i = 0; i < 2'000; ++i)
    project["Game/" + std::to_string(i / 100) + "/" + std::to_string(i) + ".bin"] = "1";
  const BlobId before = PutTree(project);
  std::set<BlobId> had;
  for (const auto& [blob, bytes] : folders_) had.insert(blob);
  for (int i = 0; i < 20; ++i) project["Game/1/" + std::to_string(100 + i) + ".bin"] = "2";
  const BlobId after = PutTree(project);
  EXPECT_EQ(Diff(before, after).size(), 20u);
  std::erase_if(read_, [&](const BlobId& blob) { return had.contains(blob); });
  EXPECT_THAT(read_.size(), Le(1u + 1 + 20 + 20)) << "the root, resource, and two folders a node";
}

}  // namespace
}  // namespace galley::vfs
