#include "common/tree/linked_directory.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/tree/testing/golden.h"
#include "common/tree/testing/reapi_directory.h"
#include "common/tree/tree.h"

namespace galley::tree {
namespace {

namespace reapi = build::bazel::remote::execution::v2;

LinkedDirectory LinkedSample() {
  return {.files = {{"barrel.gltf.json", Digest::Of("json"), false},
                    {"tool.sh", Digest::Of("#!"), true}},
          .directories = {{"barrel.gltf.d", Digest::Of("d")}},
          .links = {{"barrel.gltf.glb", "../../resource/1f/02/barrel.gltf.glb"},
                    {"\xc3\xa9t\xc3\xa9", ".."}}};
}

TEST(LinkedDirectoryTest, EncodingIsTheGolden) {
  ExpectGolden("common/tree/testdata/linked_directory.hex",
               HexLines(EncodeLinkedDirectory(LinkedSample())));
}

TEST(LinkedDirectoryTest, ProtobufReadsAndWritesTheSameBytes) {
  const std::string bytes = EncodeLinkedDirectory(LinkedSample());
  const reapi::Directory message = Parsed(bytes);
  ASSERT_EQ(message.symlinks_size(), 2);
  EXPECT_EQ(message.symlinks(0).name(), "barrel.gltf.glb");
  EXPECT_EQ(message.symlinks(0).target(), "../../resource/1f/02/barrel.gltf.glb");
  EXPECT_EQ(message.symlinks(1).target(), "..");
  EXPECT_EQ(Serialised(message), bytes);
}

TEST(LinkedDirectoryTest, DecodingGivesBackWhatWasEncoded) {
  const absl::StatusOr<LinkedDirectory> decoded =
      DecodeLinkedDirectory(EncodeLinkedDirectory(LinkedSample()));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, LinkedSample());
}

TEST(LinkedDirectoryTest, WithoutLinksTheBytesAreThoseOfADirectory) {
  const Directory cooked{.files = {{"a", Digest::Of("a"), true}},
                         .directories = {{"b", Digest::Of("b")}}};
  const std::string bytes =
      EncodeLinkedDirectory({.files = cooked.files, .directories = cooked.directories});
  EXPECT_EQ(bytes, EncodeDirectory(cooked));
  const absl::StatusOr<LinkedDirectory> decoded = DecodeLinkedDirectory(EncodeDirectory(cooked));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->files, cooked.files);
  EXPECT_EQ(decoded->directories, cooked.directories);
  EXPECT_TRUE(decoded->links.empty());
}

TEST(LinkedDirectoryTest, ACookedTreeGoesOnRefusingLinks) {
  const absl::StatusOr<Directory> decoded = DecodeDirectory(EncodeLinkedDirectory(LinkedSample()));
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(decoded.status().ToString().find("has no field 3"), std::string::npos);
}

TEST(LinkedDirectoryTest, EveryTruncationIsRefusedOrShorter) {
  const std::string bytes = EncodeLinkedDirectory(LinkedSample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = DecodeLinkedDirectory(std::string_view(bytes).substr(0, size));
    if (decoded.ok()) {
      EXPECT_EQ(EncodeLinkedDirectory(*decoded), bytes.substr(0, size));
    }
  }
}

// Checks that a Directory as another encoder might write it is refused, and with which phrase.
void ExpectLinkedRefused(const std::function<void(reapi::Directory&)>& spoil,
                         std::string_view phrase) {
  reapi::Directory message = Parsed(EncodeLinkedDirectory(LinkedSample()));
  spoil(message);
  const auto decoded = DecodeLinkedDirectory(Serialised(message));
  ASSERT_FALSE(decoded.ok()) << phrase;
  EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(decoded.status().ToString().find(phrase), std::string::npos) << decoded.status();
}

TEST(LinkedDirectoryTest, WhatIsNotCanonicalIsRefused) {
  ExpectLinkedRefused([](auto& m) { m.mutable_symlinks()->SwapElements(0, 1); }, "is not after");
  ExpectLinkedRefused([](auto& m) { *m.add_symlinks() = m.symlinks(1); }, "is not after");
  ExpectLinkedRefused([](auto& m) { m.mutable_symlinks(0)->set_name("barrel.gltf.json"); },
                      "barrel.gltf.json is not after barrel.gltf.json");
  ExpectLinkedRefused([](auto& m) { m.mutable_symlinks(0)->set_name("barrel.gltf.d"); },
                      "barrel.gltf.d is not after barrel.gltf.d");
  ExpectLinkedRefused([](auto& m) { m.mutable_symlinks(0)->mutable_node_properties(); },
                      "has no field 4");
  ExpectLinkedRefused([](auto& m) { m.mutable_node_properties(); }, "has no field 5");
  ExpectLinkedRefused([](auto& m) { m.mutable_files(0)->clear_digest(); }, "has no digest");
  ExpectLinkedRefused(
      [](auto& m) {
        m.mutable_directories(0)->mutable_digest()->set_hash(Digest().hex());
        m.mutable_directories(0)->mutable_digest()->clear_size_bytes();
      },
      "empty folder");
}

TEST(LinkedDirectoryTest, NamesThatLeaveTheFolderAreRefused) {
  for (const char* name : {"", ".", "..", "a/b", "/", "a\\b", "a\nb", "\x7f"}) {
    ExpectLinkedRefused([&](auto& m) { m.mutable_symlinks(0)->set_name(name); },
                        "single plain segment");
  }
}

TEST(LinkedDirectoryTest, TargetsThatAreNotPlainAndRelativeAreRefused) {
  for (const char* target : {"", "/", "/a", "a/", "a//b", ".", "./a", "a/.", "a/./b", "a/..",
                             "a/../b", "../", "../.", "..//a", "../a/..", "a\\b", "a\nb"}) {
    ExpectLinkedRefused([&](auto& m) { m.mutable_symlinks(0)->set_target(target); },
                        "not a plain relative path");
  }
}

TEST(LinkedDirectoryTest, ATargetMayGoUpAtItsBeginning) {
  for (const char* target : {"a", "a/b c", "..", "../..", "../../a/b", "..a", "../..b"}) {
    EXPECT_TRUE(IsLinkTarget(target)) << target;
    const LinkedDirectory one{.links = {{"l", target}}};
    const auto decoded = DecodeLinkedDirectory(EncodeLinkedDirectory(one));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, one);
  }
}

TEST(LinkedDirectoryTest, ATargetHasAtMost4096Bytes) {
  EXPECT_TRUE(IsLinkTarget(std::string(4096, 'a')));
  EXPECT_FALSE(IsLinkTarget(std::string(4097, 'a')));
  ExpectLinkedRefused([](auto& m) { m.mutable_symlinks(0)->set_target(std::string(4097, 'a')); },
                      "not a plain relative path");
}

TEST(LinkedDirectoryTest, FieldsInAnotherOrderAreRefused) {
  const LinkedDirectory only_link{.links = {{"b", "x"}}};
  const LinkedDirectory only_file{.files = {{"a", Digest::Of("a"), false}}};
  EXPECT_FALSE(
      DecodeLinkedDirectory(EncodeLinkedDirectory(only_link) + EncodeLinkedDirectory(only_file))
          .ok());
}

// Model: a set of names, each a file, a folder or a link at random. In order they are canonical;
// with two neighbours of one list swapped they are not.
TEST(LinkedDirectoryTest, RandomDirectoriesAreGivenBackAndDisorderIsRefused) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 300; ++turn) {
    std::set<std::string> names;
    for (size_t i = 0; i < 1 + random() % 12; ++i) names.insert(std::to_string(random() % 40));
    LinkedDirectory directory;
    for (const std::string& name : names) {
      const size_t kind = random() % 3;
      if (kind == 0) directory.files.push_back({name, Digest::Of(name), random() % 2 == 0});
      if (kind == 1) directory.directories.push_back({name, Digest::Of(name)});
      if (kind == 2) directory.links.push_back({name, "../" + name});
    }
    const auto decoded = DecodeLinkedDirectory(EncodeLinkedDirectory(directory));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, directory);
    if (directory.links.size() < 2) continue;
    std::swap(directory.links[0], directory.links[1]);
    EXPECT_FALSE(DecodeLinkedDirectory(EncodeLinkedDirectory(directory)).ok());
  }
}

}  // namespace
}  // namespace galley::tree
