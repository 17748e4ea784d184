#include <gtest/gtest.h>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/tree/plain_name.h"
#include "common/tree/testing/golden.h"
#include "common/tree/testing/reapi_directory.h"
#include "common/tree/tree.h"
#include "common/tree/wire_fields.h"

namespace galley::tree {
namespace {

namespace reapi = build::bazel::remote::execution::v2;

Directory Sample() {
  return {
      .files = {{"barrel.gltf.glb", Digest::Of("glb"), false},
                {"empty", Digest(), false},
                {"tool.sh", Digest::Of("#!"), true}},
      .directories = {{"barrel.gltf.d", Digest::Of("d")}, {"\xc3\xa9t\xc3\xa9", Digest::Of("e")}}};
}

TEST(DirectoryTest, EncodingIsTheGolden) {
  ExpectGolden("common/tree/testdata/directory.hex", HexLines(EncodeDirectory(Sample())));
}

TEST(DirectoryTest, ProtobufReadsAndWritesTheSameBytes) {
  const std::string bytes = EncodeDirectory(Sample());
  const reapi::Directory message = Parsed(bytes);
  ASSERT_EQ(message.files_size(), 3);
  EXPECT_EQ(message.files(2).name(), "tool.sh");
  EXPECT_TRUE(message.files(2).is_executable());
  EXPECT_EQ(message.files(1).digest().hash(), Digest().hex());
  EXPECT_EQ(message.directories(0).digest().size_bytes(), 1);
  EXPECT_EQ(Serialised(message), bytes);
}

TEST(DirectoryTest, DecodingGivesBackWhatWasEncoded) {
  const absl::StatusOr<Directory> decoded = DecodeDirectory(EncodeDirectory(Sample()));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, Sample());
}

TEST(DirectoryTest, AnEmptyDirectoryIsNoBytes) {
  EXPECT_EQ(EncodeDirectory({}), "");
  EXPECT_EQ(*DecodeDirectory(""), Directory());
}

TEST(DirectoryTest, EveryTruncationIsRefusedOrShorter) {
  const std::string bytes = EncodeDirectory(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = DecodeDirectory(std::string_view(bytes).substr(0, size));
    if (decoded.ok()) {
      EXPECT_EQ(EncodeDirectory(*decoded), bytes.substr(0, size));
    }
  }
}

// Checks that a Directory as another encoder might write it is refused, and with which phrase.
void ExpectRefused(const std::function<void(reapi::Directory&)>& spoil, std::string_view phrase) {
  reapi::Directory message = Parsed(EncodeDirectory(Sample()));
  spoil(message);
  const auto decoded = DecodeDirectory(Serialised(message));
  ASSERT_FALSE(decoded.ok()) << phrase;
  EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(decoded.status().ToString().find(phrase), std::string::npos) << decoded.status();
}

TEST(DirectoryTest, WhatIsNotCanonicalIsRefused) {
  ExpectRefused([](auto& m) { m.mutable_files()->SwapElements(0, 1); }, "is not after");
  ExpectRefused([](auto& m) { *m.add_files() = m.files(2); }, "is not after");
  ExpectRefused([](auto& m) { m.mutable_directories(0)->set_name("empty"); },
                "empty is not after empty");
  ExpectRefused([](auto& m) { m.add_symlinks()->set_name("z"); }, "has no field 3");
  ExpectRefused([](auto& m) { m.mutable_node_properties(); }, "has no field 5");
  ExpectRefused([](auto& m) { m.mutable_files(0)->mutable_node_properties(); }, "has no field 6");
  ExpectRefused([](auto& m) { m.mutable_files(0)->clear_digest(); }, "has no digest");
  ExpectRefused([](auto& m) { m.mutable_files(0)->mutable_digest()->set_size_bytes(-1); },
                "negative");
  ExpectRefused([](auto& m) { m.mutable_files(0)->mutable_digest()->set_hash("AB"); }, "digest");
  ExpectRefused(
      [](auto& m) {
        m.mutable_directories(0)->mutable_digest()->set_hash(Digest().hex());
        m.mutable_directories(0)->mutable_digest()->clear_size_bytes();
      },
      "empty folder");
}

TEST(DirectoryTest, NamesThatLeaveTheFolderAreRefused) {
  for (const char* name : {"", ".", "..", "a/b", "/", "a\\b", "a\nb", "\x7f"}) {
    ExpectRefused([&](auto& m) { m.mutable_files(0)->set_name(name); }, "single plain segment");
  }
  EXPECT_FALSE(DecodeDirectory(EncodeDirectory({.files = {{"\xff", Digest(), false}}})).ok());
  EXPECT_FALSE(
      DecodeDirectory(EncodeDirectory({.files = {{std::string("a\0b", 3), Digest(), false}}}))
          .ok());
}

TEST(DirectoryTest, FieldsInAnotherOrderOrFormAreRefused) {
  const Directory only_file{.files = {{"a", Digest::Of("a"), false}}};
  const Directory only_folder{.directories = {{"b", Digest::Of("b")}}};
  EXPECT_FALSE(DecodeDirectory(EncodeDirectory(only_folder) + EncodeDirectory(only_file)).ok());
  WireWriter node;
  node.Bytes(1, "a");
  node.Element(2, EncodeDigest(Digest::Of("a")));
  WireWriter directory;
  directory.Element(
      1, node.bytes() + std::string("\x20\x00", 2));  // is_executable = false, written out
  EXPECT_FALSE(DecodeDirectory(directory.bytes()).ok());
}

TEST(PlainNameTest, APathHasPlainSegmentsOnly) {
  EXPECT_TRUE(IsPlainPath("a"));
  EXPECT_TRUE(IsPlainPath("a/b.c/d e"));
  for (const char* bad : {"", "/a", "a/", "a//b", "../a", "a/..", "a/./b"})
    EXPECT_FALSE(IsPlainPath(bad)) << bad;
}

}  // namespace
}  // namespace galley::tree
