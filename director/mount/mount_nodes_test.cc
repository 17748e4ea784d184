#include "director/mount/mount_nodes.h"

#include "gtest/gtest.h"

namespace galley::mount {
namespace {

vfs::FileAt FileOf(const std::string& bytes) { return {.blob = vfs::BlobId::Of(bytes)}; }

TEST(MountNodesTest, APathKeepsItsNumberUntilItShowsOtherBytes) {
  MountNodes nodes(1);
  const MountNode not_cooked = nodes.Learn("a.bin", false, std::nullopt, 2);
  EXPECT_FALSE(not_cooked.content.has_value());
  const MountNode cooked = nodes.Learn("a.bin", false, FileOf("one"), 3);
  EXPECT_EQ(cooked.id, not_cooked.id) << "it is the same version, which was cooked meanwhile";
  EXPECT_EQ(cooked.made_s, 2);
  EXPECT_EQ(nodes.Learn("a.bin", false, FileOf("one"), 4).id, cooked.id);
  const MountNode edited = nodes.Learn("a.bin", false, FileOf("two"), 5);
  EXPECT_NE(edited.id, cooked.id);
  EXPECT_EQ(nodes.Find(cooked.id)->content->blob, vfs::BlobId::Of("one")) << "it may be open";
  EXPECT_EQ(edited.made_s, 5);
  const MountNode waits = nodes.Learn("a.bin", false, std::nullopt, 6);
  EXPECT_NE(waits.id, edited.id) << "nobody knows whether it is what it was";
  vfs::FileAt program = FileOf("two");
  program.is_executable = true;
  EXPECT_NE(nodes.Learn("a.bin", false, program, 7).id, edited.id);
}

TEST(MountNodesTest, AFileThatBecomesAFolderIsAnotherNode) {
  MountNodes nodes(1);
  const MountNode file = nodes.Learn("a", false, FileOf("one"), 2);
  const MountNode folder = nodes.Learn("a", true, std::nullopt, 3);
  EXPECT_NE(folder.id, file.id);
  EXPECT_EQ(nodes.Learn("a", true, std::nullopt, 4).id, folder.id);
  EXPECT_FALSE(nodes.KnowsFile("a")) << "the kernel would lose whoever works in the folder";
  EXPECT_EQ(nodes.IdOf("a"), folder.id);
}

TEST(MountNodesTest, WhatTheKernelForgetsIsForgotten) {
  MountNodes nodes(1);
  const uint64_t id = nodes.Learn("a", false, FileOf("one"), 2).id;
  nodes.Learn("a", false, FileOf("one"), 2);
  nodes.Forget(id, 1);
  EXPECT_TRUE(nodes.Find(id).has_value());
  nodes.Forget(id, 1);
  EXPECT_FALSE(nodes.Find(id).has_value());
  EXPECT_FALSE(nodes.IdOf("a").has_value());
  nodes.Forget(id, 1);
  nodes.Forget(kTopNode, 100);
  EXPECT_EQ(nodes.IdOf(""), kTopNode);
  EXPECT_EQ(nodes.size(), 1u);
}

TEST(MountNodesTest, AForgottenOlderVersionLeavesTheNewer) {
  MountNodes nodes(1);
  const uint64_t older = nodes.Learn("a", false, FileOf("one"), 2).id;
  const uint64_t newer = nodes.Learn("a", false, FileOf("two"), 3).id;
  nodes.Forget(older, 1);
  EXPECT_EQ(nodes.IdOf("a"), newer);
  EXPECT_TRUE(nodes.KnowsFile("a"));
  EXPECT_EQ(nodes.Learn("a", false, FileOf("two"), 4).id, newer) << "it shows the same bytes";
  EXPECT_FALSE(nodes.KnowsFile("b"));
}

TEST(MountNodesTest, TheFirstContentOfANodeStays) {
  MountNodes nodes(1);
  const uint64_t id = nodes.Learn("a", false, std::nullopt, 2).id;
  EXPECT_EQ(nodes.Cooked(id, FileOf("one"))->blob, vfs::BlobId::Of("one"));
  EXPECT_EQ(nodes.Cooked(id, FileOf("two"))->blob, vfs::BlobId::Of("one"));
  EXPECT_EQ(nodes.Cooked(id + 1, FileOf("one")), std::nullopt);
  EXPECT_EQ(nodes.Files().size(), 1u);
}

}  // namespace
}  // namespace galley::mount
