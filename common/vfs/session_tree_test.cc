#include "common/vfs/session_tree.h"

#include <string>
#include <vector>

#include "common/vfs/testing/sample_tree.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A world with a mesh (further outputs), a level that generates a level and a part, of which the
// inner level generates again, and a level that is not cooked.
class SessionTreeTest : public testing::Test {
 protected:
  static std::string NodeOf(const std::string& package) { return ToHex(Sha256::Of(package)); }
  static std::string InNode(const std::string& package, const std::string& name) {
    const std::string node = NodeOf(package);
    return "../../resource/" + node.substr(0, 2) + "/" + node.substr(2, 2) + "/" + node + "/" +
           name;
  }
  void AddNode(const std::string& package, SampleFolder folder) {
    nodes_[NodeOf(package)] = tree_.Put(folder);
  }
  BlobId List(const std::vector<std::string>& packages) {
    std::string text = "galley-generated 1\n";
    for (const std::string& package : packages)
      text += NodeOf("/" + package) + " " + package + "\n";
    return tree_.Put(text);
  }
  // Folders of the first digits are shared where there are any: each node has other ones here.
  BlobId Root() {
    std::map<std::string, std::map<std::string, SampleFolder>> shards;
    for (const auto& [node, blob] : nodes_)
      shards[node.substr(0, 2)][node.substr(2, 2)].folders.emplace_back(node, blob);
    SampleFolder resource;
    for (const auto& [first, buckets] : shards) {
      SampleFolder shard;
      for (const auto& [second, bucket] : buckets)
        shard.folders.emplace_back(second, tree_.Put(bucket));
      resource.folders.emplace_back(first, tree_.Put(shard));
    }
    SampleFolder game;
    game.files = {{"read.txt", BlobId::Of("read me")}};
    game.folders = {
        {"new.level", tree_.Put({.files = {},
                                 .folders = {},
                                 .links = {{"_gen", "../" + InNode("/Game/new.level", "_gen")}}})},
        {"town.level",
         tree_.Put({.files = {},
                    .folders = {},
                    .links = {{"_gen", "../" + InNode("/Game/town.level", "_gen")}}})}};
    game.links = {{"a.glb", InNode("/Game/a.glb", "a.glb")},
                  {"a.glb.d", InNode("/Game/a.glb", "a.glb.d")},
                  {"b.glb", InNode("/Game/b.glb", "b.glb")},
                  {"b.glb.d", InNode("/Game/b.glb", "b.glb.d")},
                  {"c.glb.d", InNode("/Game/c.glb", "c.glb.d")},
                  {"town.level.bin", InNode("/Game/town.level", "town.level.bin")}};
    const BlobId shown = tree_.PutBelow({"Game"}, tree_.Put(game));
    return tree_.Put({.files = {},
                      .folders = {{"resource", tree_.Put(resource)}, {"static", shown}},
                      .links = {}});
  }
  void SetUp() override {
    const BlobId lods =
        tree_.Put({.files = {{"lod1", BlobId::Of("lod")}}, .folders = {}, .links = {}});
    AddNode(
        "/Game/a.glb",
        {.files = {{"a.glb", BlobId::Of("mesh")}}, .folders = {{"a.glb.d", lods}}, .links = {}});
    AddNode("/Game/c.glb", {.files = {{".empty", BlobId::Of("")}}, .folders = {}, .links = {}});
    AddNode(
        "/Game/town.level",
        {.files = {{"_gen", List({gen_ + "cells/1.part", gen_ + "in.level", gen_ + "in.level.x"})},
                   {"town.level.bin", BlobId::Of("town")}},
         .folders = {},
         .links = {}});
    read_ = tree_.Read();
  }
  // Says what is at the path.
  std::string At(const std::string& path) {
    const Result<ShownPath> found = SessionTree(Root(), read_).Find(path);
    if (!found.ok()) return "fault";
    if (const auto* const file = std::get_if<FileAt>(&*found))
      return "file of " + std::to_string(file->blob.size);
    if (std::holds_alternative<ShownFolder>(*found)) return "folder";
    if (const auto* const waits = std::get_if<NotCookedAt>(&*found))
      return waits->is_folder ? "not cooked, a folder" : "not cooked";
    return "nothing";
  }
  std::vector<std::string> Names(const std::string& folder) {
    const auto listing = SessionTree(Root(), read_).List(folder);
    if (!listing.ok()) return {"fault"};
    if (!*listing) return {"none"};
    std::vector<std::string> names;
    for (const ShownEntry& entry : (*listing)->entries)
      names.push_back(entry.name + (entry.is_folder ? "/" : " " + std::to_string(entry.size)));
    for (const std::string& ask : (*listing)->asks) names.push_back("? " + ask);
    return names;
  }

  const std::string gen_ = "Game/town.level/_gen/";
  SampleTree tree_;
  std::map<std::string, BlobId> nodes_;
  ReadFolder read_;
};

TEST_F(SessionTreeTest, PathsOfTheWorldAreFoundWhetherOrNotTheyAreCooked) {
  EXPECT_EQ(At("Game/a.glb"), "file of 4");
  EXPECT_EQ(At("Game/a.glb.d"), "folder");
  EXPECT_EQ(At("Game/a.glb.d/lod1"), "file of 3");
  EXPECT_EQ(At("Game/a.glb.d/lod9"), "nothing");
  EXPECT_EQ(At("Game/b.glb"), "not cooked");
  EXPECT_EQ(At("Game/b.glb.d"), "not cooked, a folder");
  EXPECT_EQ(At("Game/b.glb.d/lod1"), "not cooked");
  EXPECT_EQ(At("Game/read.txt"), "file of 7");
  EXPECT_EQ(At("Game"), "folder");
  EXPECT_EQ(At(""), "folder");
  EXPECT_EQ(At("Game/other"), "nothing");
  EXPECT_EQ(At("Game/c.glb.d"), "folder") << "an empty one: the package has nothing there";
  EXPECT_EQ(At("Game/c.glb.d/x"), "nothing");
}

TEST_F(SessionTreeTest, GeneratedPathsAreFoundByTheListOfTheirGenerator) {
  EXPECT_EQ(At("Game/new.level/_gen"), "not cooked, a folder");
  EXPECT_EQ(At("Game/new.level/_gen/x.bin"), "not cooked");
  EXPECT_EQ(At("Game/town.level"), "folder");
  EXPECT_EQ(At("Game/town.level/_gen"), "folder");
  EXPECT_EQ(At(gen_ + "cells"), "folder");
  EXPECT_EQ(At(gen_ + "cells/1.part.bin"), "not cooked");
  EXPECT_EQ(At(gen_ + "cells/2.part.bin"), "nothing");
  AddNode("/" + gen_ + "cells/1.part",
          {.files = {{"1.part.bin", BlobId::Of("part")}}, .folders = {}, .links = {}});
  EXPECT_EQ(At(gen_ + "cells/1.part.bin"), "file of 4");
  EXPECT_EQ(At(gen_ + "cells/1.part.other"), "nothing") << "a node is whole";
  // Either of two packages may have it.
  EXPECT_EQ(At(gen_ + "in.level.x"), "not cooked");
  AddNode("/" + gen_ + "in.level.x",
          {.files = {{"in.level.x", BlobId::Of("x")}}, .folders = {}, .links = {}});
  EXPECT_EQ(At(gen_ + "in.level.x"), "file of 1");
}

TEST_F(SessionTreeTest, AGeneratedPackageMayGenerateAgain) {
  EXPECT_EQ(At(gen_ + "in.level/_gen"), "not cooked, a folder");
  EXPECT_EQ(At(gen_ + "in.level/_gen/deep.part"), "not cooked");
  AddNode("/" + gen_ + "in.level", {.files = {{"_gen", List({gen_ + "in.level/_gen/deep"})},
                                              {"in.level.bin", BlobId::Of("in")}},
                                    .folders = {},
                                    .links = {}});
  EXPECT_EQ(At(gen_ + "in.level"), "folder");
  EXPECT_EQ(At(gen_ + "in.level/_gen"), "folder");
  EXPECT_EQ(At(gen_ + "in.level/_gen/deep.part"), "not cooked");
  AddNode("/" + gen_ + "in.level/_gen/deep",
          {.files = {{"deep.part", BlobId::Of("deep")}}, .folders = {}, .links = {}});
  EXPECT_EQ(At(gen_ + "in.level/_gen/deep.part"), "file of 4");
  EXPECT_THAT(Names(gen_ + "in.level"), ElementsAre("_gen/"));
  EXPECT_THAT(Names(gen_ + "in.level/_gen"), ElementsAre("deep.part 4"));
}

TEST_F(SessionTreeTest, FoldersAreListedAndSayWhatHasToBeCooked) {
  EXPECT_THAT(Names(""), ElementsAre("Game/"));
  EXPECT_THAT(Names("Game"),
              ElementsAre("a.glb -1", "a.glb.d/", "b.glb -1", "b.glb.d/", "c.glb.d/", "new.level/",
                          "read.txt 7", "town.level/", "town.level.bin -1"));
  EXPECT_THAT(Names("Game/a.glb.d"), ElementsAre("lod1 3"));
  EXPECT_THAT(Names("Game/b.glb.d"), ElementsAre("? Game/b.glb.d"));
  EXPECT_THAT(Names("Game/b.glb.d/in"), ElementsAre("? Game/b.glb.d"));
  EXPECT_THAT(Names("Game/c.glb.d"), IsEmpty()) << "cooked, without further outputs";
  EXPECT_THAT(Names("Game/other.d"), ElementsAre("none"));
  EXPECT_THAT(Names("Game/a.glb"), ElementsAre("none"));
  EXPECT_THAT(Names("Game/new.level/_gen"), ElementsAre("? Game/new.level/_gen"));
}

TEST_F(SessionTreeTest, WhatIsGeneratedIsListedWhenItIsCooked) {
  EXPECT_THAT(Names("Game/town.level"), ElementsAre("_gen/"));
  EXPECT_THAT(Names("Game/town.level/_gen"),
              ElementsAre("cells/", "? " + gen_ + "in.level.d", "? " + gen_ + "in.level.x.d"));
  AddNode("/" + gen_ + "in.level", {.files = {{"_gen", List({gen_ + "in.level/_gen/deep"})},
                                              {"in.level.bin", BlobId::Of("in")}},
                                    .folders = {},
                                    .links = {}});
  AddNode("/" + gen_ + "in.level.x",
          {.files = {{".empty", BlobId::Of("")}}, .folders = {}, .links = {}});
  EXPECT_THAT(Names("Game/town.level/_gen"), ElementsAre("cells/", "in.level/", "in.level.bin 2"));
  EXPECT_THAT(Names(gen_ + "cells"), ElementsAre("? " + gen_ + "cells/1.part.d"));
  EXPECT_THAT(Names(gen_ + "in.level/_gen"), ElementsAre("? " + gen_ + "in.level/_gen/deep.d"));
  EXPECT_THAT(Names(gen_ + "none"), ElementsAre("none"));
}

TEST_F(SessionTreeTest, AListThatLeadsElsewhereIsDamage) {
  const std::string inner = gen_ + "in.level";
  AddNode("/" + inner, {.files = {{"_gen", List({inner})}, {"in.level.bin", BlobId::Of("in")}},
                        .folders = {},
                        .links = {}});
  EXPECT_EQ(At(inner + "/_gen/x"), "fault") << "a list that names its own generator has no end";
  EXPECT_THAT(Names(inner + "/_gen"), ElementsAre("fault"));
}

TEST_F(SessionTreeTest, AListThatIsNoneIsDamage) {
  for (const char* const bad : {"", "galley-generated 2\n", "galley-generated 1\nx Game/a\n",
                                "galley-generated 1\n", "galley-generated 1\nno end"}) {
    const auto parsed = ParseGeneratedList(bad);
    EXPECT_EQ(parsed.has_value(), std::string(bad) == "galley-generated 1\n") << bad;
  }
  const std::string escaping =
      "galley-generated 1\n" + std::string(64, 'a') + " Game/t/_gen/../../x\n";
  EXPECT_FALSE(ParseGeneratedList(escaping).has_value());
}

}  // namespace
}  // namespace galley::vfs
