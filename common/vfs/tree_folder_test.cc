#include <string>

#include "common/tree/linked_directory.h"
#include "common/vfs/testing/tree_folder.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

TEST(TreeFolderTest, HasTheBytesThatGalleyWrites) {
  const std::string large(70'000, 'x');
  const tree::LinkedDirectory galleys = {
      .files = {{.name = "a.glb", .digest = Digest::Of(large)},
                {.name = "empty", .digest = Digest::Of("")}},
      .directories = {{.name = std::string(200, 'd'), .digest = Digest::Of("folder")}},
      .links = {{.name = "link", .target = "../../resource/00/a"}}};
  const TreeFolder ours = {
      .files = {{.name = "a.glb", .blob = BlobId::Of(large)},
                {.name = "empty", .blob = BlobId::Of("")}},
      .directories = {{.name = std::string(200, 'd'), .blob = BlobId::Of("folder")}},
      .links = {{.name = "link", .target = "../../resource/00/a"}}};
  EXPECT_EQ(ours.Encode(), tree::EncodeLinkedDirectory(galleys));
  EXPECT_EQ(TreeFolder{}.Encode(), tree::EncodeLinkedDirectory({}));
}

}  // namespace
}  // namespace galley::vfs
