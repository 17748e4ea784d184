#include "director/devices/device_node.h"

#include <gtest/gtest.h>

#include "director/devices/generated_list.h"
#include "director/devices/testing/device_samples.h"

namespace galley::devices {
namespace {

class DeviceNodeTest : public testing::Test {
 protected:
  DeviceNode Make(const CookedPackage& cooked) {
    std::vector<NamedBlob> blobs;
    const auto node = MakeNode(cooked, LoweredPath, blobs);
    EXPECT_TRUE(node.ok()) << node.status();
    EXPECT_EQ(blobs.back().digest, node->root);
    EXPECT_TRUE(store_.Store(std::move(blobs)));
    return *node;
  }
  std::vector<std::string> PathsIn(const DeviceNode& node) {
    std::vector<std::string> paths;
    const auto files = tree::ListTree(node.root, store_.Read());
    EXPECT_TRUE(files.ok()) << files.status();
    for (const tree::TreeFile& file : *files) paths.push_back(file.path);
    return paths;
  }
  absl::Status StatusOfMake(const CookedPackage& cooked) {
    std::vector<NamedBlob> blobs;
    return MakeNode(cooked, LoweredPath, blobs).status();
  }

  BlobsInMemory store_;
};

using NodePaths = std::vector<std::string>;

TEST_F(DeviceNodeTest, OutputsHaveThePackagesLastName) {
  const DeviceNode node = Make(
      SampleCooked("/Game/a.glb", {SampleOutput(".mesh", "m"), SampleOutput(".d/lod1.glb", "1")}));
  EXPECT_EQ(PathsIn(node), (NodePaths{"a.glb.d/lod1.glb", "a.glb.mesh"}));
  ASSERT_NE(node.Find("a.glb.d/lod1.glb"), nullptr);
  EXPECT_EQ(node.Find("a.glb.d/lod1.glb")->digest, Digest::Of("1"));
  EXPECT_EQ(node.Find("a.glb.d/lod9.glb"), nullptr);
}

TEST_F(DeviceNodeTest, AnExecutableOutputStaysOne) {
  CookedPackage cooked = SampleCooked("/Game/run", {SampleOutput("", "#!")});
  cooked.outputs[0].is_executable = true;
  const DeviceNode node = Make(cooked);
  EXPECT_TRUE(node.Find("run")->is_executable);
  cooked.outputs[0].is_executable = false;
  EXPECT_NE(Make(cooked).root, node.root);
}

TEST_F(DeviceNodeTest, APackageWithoutOutputsHasTheFileEmpty) {
  const DeviceNode node = Make(SampleCooked("/Game/a.rules", {}));
  EXPECT_EQ(PathsIn(node), (NodePaths{".empty"}));
  EXPECT_TRUE(node.files.empty());
  EXPECT_EQ(node.Find(".empty"), nullptr);
  EXPECT_NE(store_.Find(Digest()), nullptr);
}

TEST_F(DeviceNodeTest, AGeneratorListsItsPackagesWithTheirNodes) {
  CookedPackage cooked = SampleCooked("/Game/town.level", {SampleOutput(".bin", "b")});
  cooked.stage_path = "Staged/town.level";
  cooked.generated = {"_gen/cell_1.level", "_gen/cell_0.level"};
  const DeviceNode node = Make(cooked);
  EXPECT_EQ(PathsIn(node), (NodePaths{"_gen", "town.level.bin"}));
  EXPECT_TRUE(node.Generates("Staged/town.level/_gen/cell_0.level"));
  EXPECT_FALSE(node.Generates("Staged/town.level/_gen/cell_2.level"));
  EXPECT_EQ(node.Find("_gen"), nullptr);
  const auto files = tree::ListTree(node.root, store_.Read());
  const auto list = DecodeGeneratedList(*store_.Find((*files)[0].digest));
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(*list,
            (std::vector<GeneratedPackage>{{"Staged/town.level/_gen/cell_0.level",
                                            NodeKeyOf("/Game/town.level/_gen/cell_0.level")},
                                           {"Staged/town.level/_gen/cell_1.level",
                                            NodeKeyOf("/Game/town.level/_gen/cell_1.level")}}));
}

TEST_F(DeviceNodeTest, AGeneratorWithoutOutputsHasBothFiles) {
  CookedPackage cooked = SampleCooked("/Game/town.level", {});
  cooked.generated = {"_gen/a"};
  EXPECT_EQ(PathsIn(Make(cooked)), (NodePaths{".empty", "_gen"}));
}

TEST_F(DeviceNodeTest, APackageWithTheNameOfTheListKeepsItsOutput) {
  CookedPackage cooked = SampleCooked("/Game/_Gen", {SampleOutput("", "b")});
  cooked.generated = {"_gen/a"};
  const DeviceNode node = Make(cooked);
  EXPECT_EQ(PathsIn(node), (NodePaths{".generated", "_Gen"}));
  EXPECT_EQ(node.Find("_Gen")->digest, Digest::Of("b"));
}

TEST_F(DeviceNodeTest, TheOrderOfOutputsDoesNotMatter) {
  CookedPackage one = SampleCooked("/Game/a", {SampleOutput(".x", "x"), SampleOutput(".y", "y")});
  CookedPackage two = SampleCooked("/Game/a", {SampleOutput(".y", "y"), SampleOutput(".x", "x")});
  one.generated = {"_gen/a", "_gen/b"};
  two.generated = {"_gen/b", "_gen/a"};
  EXPECT_EQ(Make(one), Make(two));
}

TEST_F(DeviceNodeTest, OutputsThatCannotBeInOneTreeAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      StatusOfMake(SampleCooked("/Game/a", {SampleOutput(".x", "x"), SampleOutput(".X", "y")}))));
  EXPECT_TRUE(absl::IsInvalidArgument(
      StatusOfMake(SampleCooked("/Game/a", {SampleOutput(".x", "x"), SampleOutput(".x", "y")}))));
  EXPECT_TRUE(absl::IsInvalidArgument(
      StatusOfMake(SampleCooked("/Game/a", {SampleOutput(".d/../x", "x")}))));
}

TEST_F(DeviceNodeTest, ANodeIsReadBack) {
  std::vector<CookedPackage> packages = {
      SampleCooked("/Game/a.glb", {SampleOutput(".mesh", "m"), SampleOutput(".d/lod1.glb", "1")}),
      SampleCooked("/Game/b", {}),
      SampleCooked("/Game/_gen", {SampleOutput("", "b"), SampleOutput(".x", "b")}),
      SampleCooked("/Game/_gen.level", {SampleOutput(".bin", "b")}),
      SampleCooked("/Game/_gen.level", {}),
      SampleCooked("/Game/town.level", {SampleOutput(".bin", "b")}),
      SampleCooked("/Game/town.level", {}),
      SampleCooked("/Game/.generated", {SampleOutput("", "b")}),
      SampleCooked("/Game/.generated", {SampleOutput("", "b"), SampleOutput(".x", "b")}),
  };
  for (const size_t i : {3u, 4u, 5u, 6u}) packages[i].generated = {"_gen/a", "_gen/b/c"};
  for (const CookedPackage& package : packages) {
    const DeviceNode node = Make(package);
    const auto read = ReadNode(node.key, node.root, store_.Read());
    ASSERT_TRUE(read.ok()) << read.status() << " of " << package.package;
    EXPECT_EQ(*read, node) << package.package;
  }
}

TEST_F(DeviceNodeTest, ANodeWithTwoPossibleListsIsNotRead) {
  CookedPackage cooked = SampleCooked("/Game/_gen", {SampleOutput("", "b")});
  cooked.generated = {"_gen/a"};
  const DeviceNode node = Make(cooked);
  EXPECT_TRUE(absl::IsInvalidArgument(ReadNode(node.key, node.root, store_.Read()).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadNode(node.key, Digest::Of("no"), store_.Read()).status()));
}

TEST(GeneratedListTest, TheFileIsTextThatAPersonCanRead) {
  const NodeKey key = NodeKeyOf("/Game/town.level/_gen/a");
  EXPECT_EQ(EncodeGeneratedList({{"Game/town.level/_gen/a", key}}),
            "galley-generated 1\n" + key.hex() + " Game/town.level/_gen/a\n");
}

TEST(GeneratedListTest, OtherFilesAreRefused) {
  const std::string line = NodeKeyOf("/a").hex() + " a\n";
  const auto status = [](const std::string& text) { return DecodeGeneratedList(text).status(); };
  EXPECT_TRUE(status("galley-generated 1\n").ok());
  EXPECT_TRUE(status("galley-generated 1\n" + line).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(status("galley-generated 2\n" + line)));
  for (const std::string& text :
       {std::string(), line, std::string("galley-generated 1"),
        "galley-generated 1\n" + line + line, "galley-generated 1\n" + line + "a",
        "galley-generated 1\n" + line.substr(1), "galley-generated 1\n" + line.substr(0, 65) + "\n",
        "galley-generated 1\n" + line.substr(0, 65) + "../a\n",
        "galley-generated 1\n" + line.substr(0, 64) + "\ta\n"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status(text))) << text;
  }
}

}  // namespace
}  // namespace galley::devices
