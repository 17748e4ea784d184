#include "common/store/reapi/server/resource_name.h"

#include <string>

#include "common/store/reapi/server/testing/resource_names.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::store {
namespace {

using testing::HasSubstr;

const std::string kHash(64, 'a');
const std::string kBlob = "blobs/" + kHash + "/7";
const Digest kDigest = *Digest::FromHex(kHash, 7);

ResourceName Read(std::string_view text) {
  const auto name = ParseReadName(text);
  EXPECT_TRUE(name.ok()) << text << ": " << name.status();
  return name.value_or(ResourceName{});
}

ResourceName Write(std::string_view text) {
  const auto name = ParseWriteName(text);
  EXPECT_TRUE(name.ok()) << text << ": " << name.status();
  return name.value_or(ResourceName{});
}

TEST(ResourceNameTest, OfAReadNamesInstanceCompressorAndDigest) {
  EXPECT_EQ(Read(kBlob), (ResourceName{.digest = kDigest}));
  EXPECT_EQ(Read("main/" + kBlob), (ResourceName{.instance = "main", .digest = kDigest}));
  EXPECT_EQ(
      Read("team/a/compressed-blobs/zstd/" + kHash + "/7"),
      (ResourceName{.instance = "team/a", .compressor = Compressor::kZstd, .digest = kDigest}));
}

TEST(ResourceNameTest, OfAWriteHasAnIdAndMayGoOnBehindTheSize) {
  const ResourceName plain{.upload_id = "8-4", .digest = kDigest};
  EXPECT_EQ(Write("uploads/8-4/" + kBlob), plain);
  EXPECT_EQ(Write("uploads/8-4/" + kBlob + "/any//thing\x01"), plain);
  EXPECT_EQ(Write("team/a/uploads/8-4/compressed-blobs/zstd/" + kHash + "/7/x"),
            (ResourceName{.instance = "team/a",
                          .upload_id = "8-4",
                          .compressor = Compressor::kZstd,
                          .digest = kDigest}));
}

TEST(ResourceNameTest, TheFirstKeywordEndsTheInstance) {
  // "blobs" in an instance would be read as another name.
  EXPECT_FALSE(ParseReadName("blobs/" + kBlob).ok());
  EXPECT_FALSE(ParseReadName("actions/" + kBlob).ok());
  // An upload's id is no instance: it may be any word.
  EXPECT_EQ(Write("uploads/blobs/" + kBlob).upload_id, "blobs");
}

TEST(ResourceNameTest, IsFormattedAsItIsRead) {
  for (const std::string& text : {kBlob, "a/b/" + kBlob, "i/compressed-blobs/zstd/" + kHash + "/7"})
    EXPECT_EQ(FormatResourceName(Read(text)), text);
  for (const std::string& text :
       {"uploads/u/" + kBlob, "a/b/uploads/u/compressed-blobs/zstd/" + kHash + "/7"})
    EXPECT_EQ(FormatResourceName(Write(text)), text);
}

TEST(ResourceNameTest, TheEmptyBlobHasItsHashAndNoOther) {
  EXPECT_EQ(Read("blobs/" + Digest().hex() + "/0").digest, Digest());
  EXPECT_THAT(ParseReadName("blobs/" + kHash + "/0").status().message(),
              HasSubstr("is not that of no bytes"));
}

TEST(ResourceNameTest, RefusesWhatIsNoName) {
  const std::string reads[] = {
      "",
      "/",
      "blobs",
      "blobs/",
      "blobs/" + kHash,
      "blobs/" + kHash + "/",
      "/" + kBlob,
      "a//" + kBlob,
      "a\n/" + kBlob,
      "\xff/" + kBlob,
      kBlob + "/",
      kBlob + "/x",
      "blobs/" + kHash + "/07",
      "blobs/" + kHash + "/-1",
      "blobs/" + kHash + "/+7",
      "blobs/" + kHash + "/7a",
      "blobs/" + kHash + "/9223372036854775808",
      "blobs/" + kHash.substr(1) + "/7",
      "blobs/" + kHash + "a/7",
      "blobs/" + std::string(64, 'A') + "/7",
      "blobs/" + std::string(64, 'g') + "/7",
      "blobs/sha256/" + kHash + "/7",
      "blobs/blake3/" + kHash + "/7",
      "compressed-blobs/" + kHash + "/7",
      "compressed-blobs/brotli/" + kHash + "/7",
      "compressed-blobs/identity/" + kHash + "/7",
      "uploads/u/" + kBlob,
      "x" + kBlob,
      std::string(257, 'i') + "/" + kBlob,
      std::string(5000, 'i') + "/" + kBlob,
  };
  for (const std::string& text : reads)
    EXPECT_TRUE(absl::IsInvalidArgument(ParseReadName(text).status())) << text;
  const std::string writes[] = {kBlob,
                                "uploads/" + kBlob,
                                "uploads//" + kBlob,
                                "uploads/u",
                                "uploads/u/",
                                "uploads/u\x7f/" + kBlob,
                                "uploads/u/v/" + kBlob,
                                "uploads/u/blobs/" + kHash,
                                "uploads/u/uploads/v/" + kBlob,
                                "uploads/u/" + kBlob + "/" + std::string(5000, 'x')};
  for (const std::string& text : writes)
    EXPECT_TRUE(absl::IsInvalidArgument(ParseWriteName(text).status())) << text;
}

TEST(ResourceNameTest, AnInstanceNameIsPlainSegments) {
  EXPECT_TRUE(CheckInstanceName("").ok());
  EXPECT_TRUE(CheckInstanceName("team/a").ok());
  EXPECT_TRUE(CheckInstanceName(std::string(256, 'a')).ok());
  for (const std::string& name :
       {std::string("a/"), std::string("/a"), std::string("a//b"), std::string("a/uploads"),
        std::string("blobs"), std::string("a\tb"), std::string("\xc3"), std::string(257, 'a')})
    EXPECT_TRUE(absl::IsInvalidArgument(CheckInstanceName(name))) << name;
}

}  // namespace
}  // namespace galley::store
