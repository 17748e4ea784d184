#include "common/vfs/tree_path.h"

#include <map>
#include <string>

#include "common/vfs/folder.h"
#include "common/vfs/testing/tree_folder.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

class TreePathTest : public testing::Test {
 protected:
  BlobId Put(const TreeFolder& folder) {
    const std::string bytes = folder.Encode();
    const BlobId blob = BlobId::Of(bytes);
    folders_[blob] = bytes;
    return blob;
  }
  PathEntry Find(const BlobId& root, const std::string& path) {
    const auto entry = FollowPath(root, path, [this](const BlobId& folder) -> Result<FolderBytes> {
      const auto found = folders_.find(folder);
      if (found == folders_.end()) return Fault{GALLEY_VFS_OFFLINE, "no folder"};
      return FolderBytes(found->second);
    });
    code_ = entry.ok() ? GALLEY_VFS_OK : entry.fault().code;
    return entry.ok() ? *entry : PathEntry(NothingAt{});
  }

  std::map<BlobId, std::string> folders_;
  int code_ = GALLEY_VFS_OK;
};

const std::string kNode(64, 'a');

TEST_F(TreePathTest, LinksLeadToNodesAndNowhereWhereNothingIsCooked) {
  const BlobId lods = Put({.files = {{.name = "lod1", .blob = BlobId::Of("lod")}}});
  const BlobId node = Put({.files = {{.name = "a.glb", .blob = BlobId::Of("mesh")}},
                           .directories = {{"a.glb.d", lods}}});
  const BlobId cd = Put({.directories = {{kNode, node}}});
  const BlobId ab = Put({.directories = {{"cd", cd}}});
  const BlobId resource = Put({.directories = {{"ab", ab}}});
  const std::string to_node = "../../resource/ab/cd/" + kNode + "/";
  const std::string nowhere = "../../resource/ab/ff/" + std::string(64, 'f') + "/b.glb";
  const BlobId game = Put({.files = {{.name = "read.txt", .blob = BlobId::Of("me")}},
                           .links = {{.name = "a.glb", .target = to_node + "a.glb"},
                                     {.name = "a.glb.d", .target = to_node + "a.glb.d"},
                                     {.name = "a.glb.x", .target = to_node + "a.glb.x"},
                                     {.name = "b.glb", .target = nowhere}}});
  const BlobId shown = Put({.directories = {{"Game", game}}});
  const BlobId root = Put({.directories = {{"resource", resource}, {"static", shown}}});

  EXPECT_EQ(std::get<FileAt>(Find(root, "static/Game/a.glb")).blob, BlobId::Of("mesh"));
  EXPECT_EQ(std::get<FileAt>(Find(root, "static/Game/read.txt")).blob, BlobId::Of("me"));
  EXPECT_EQ(std::get<FileAt>(Find(root, "static/Game/a.glb.d/lod1")).blob, BlobId::Of("lod"));
  EXPECT_EQ(std::get<FolderAt>(Find(root, "static/Game")).blob, game);
  EXPECT_EQ(std::get<FolderAt>(Find(root, "")).blob, root);
  EXPECT_TRUE(std::holds_alternative<NotCooked>(Find(root, "static/Game/b.glb")));
  EXPECT_TRUE(std::holds_alternative<NothingAt>(Find(root, "static/Game/a.glb.d/lod9")));
  EXPECT_TRUE(std::holds_alternative<NothingAt>(Find(root, "static/Game/a.glb.x")))
      << "a node is whole";
  EXPECT_TRUE(std::holds_alternative<NothingAt>(Find(root, "static/Game/read.txt/x")));
  EXPECT_TRUE(std::holds_alternative<NothingAt>(Find(root, "static/Other")));
  EXPECT_EQ(code_, GALLEY_VFS_OK);
  Find(BlobId::Of("other"), "static");
  EXPECT_EQ(code_, GALLEY_VFS_OFFLINE);
}

TEST_F(TreePathTest, LinksThatLeaveTheTreeOrHaveNoEndAreDamage) {
  const BlobId out = Put({.links = {{.name = "a", .target = "../x"}}});
  Find(out, "a");
  EXPECT_EQ(code_, GALLEY_VFS_DAMAGED);
  const BlobId loop = Put({.links = {{.name = "a", .target = "b"}, {.name = "b", .target = "a"}}});
  Find(loop, "a");
  EXPECT_EQ(code_, GALLEY_VFS_DAMAGED);
}

TEST_F(TreePathTest, BytesThatGalleyDoesNotWriteAreNoFolder) {
  const auto is_folder = [](const std::string& bytes) {
    return ForEachEntry(bytes, [](const FolderEntry&) { return true; });
  };
  const auto file = [](const std::string& name) {
    return TreeFolder{.files = {{.name = name, .blob = BlobId::Of("x")}}}.Encode();
  };
  EXPECT_TRUE(is_folder(""));
  EXPECT_TRUE(is_folder(file("a")));
  for (const std::string& name :
       {std::string(""), std::string(".."), std::string("a/b"), std::string("a\\b"),
        std::string("a\n"), std::string("a\0b", 3), std::string("\xff"),
        std::string("\xed\xa0\x80"), std::string("\xc0\xaf"), std::string(256, 'a')})
    EXPECT_FALSE(is_folder(file(name))) << name;
  EXPECT_FALSE(is_folder(file("b") + file("a"))) << "not sorted";
  EXPECT_FALSE(is_folder(file("a") + file("a")));
  EXPECT_FALSE(is_folder(TreeFolder{.links = {{.name = "a", .target = "/etc"}}}.Encode()));
  EXPECT_FALSE(is_folder(TreeFolder{.links = {{.name = "a", .target = "x/../../y"}}}.Encode()));
  EXPECT_FALSE(is_folder("\x08\x01"));
  EXPECT_FALSE(is_folder("\x0a\xff"));
  EXPECT_FALSE(is_folder("hello"));
}

}  // namespace
}  // namespace galley::vfs
