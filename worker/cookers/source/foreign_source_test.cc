#include "worker/cookers/source/foreign_source.h"

#include <gtest/gtest.h>

namespace galley::worker {
namespace {

TEST(ForeignSourceTest, TextIsShownAsTextAndAllElseInHex) {
  EXPECT_EQ(FirstBytes("<!DOCTYPE html>\n<html>"), "`<!DOCTYPE html>`");
  EXPECT_EQ(FirstBytes("0123456789012345678901234"), "`012345678901234567890123...`");
  EXPECT_EQ(FirstBytes("012345678901234567890123"), "`012345678901234567890123`");
  EXPECT_EQ(FirstBytes(std::string_view("\0\1\2\xff", 4)), "the bytes 00 01 02 ff");
  EXPECT_EQ(FirstBytes("abc\x1b[2J is no text"), "the bytes 61 62 63 1b 5b 32 4a 20");
  EXPECT_EQ(FirstBytes("\nabc"), "the bytes 0a 61 62 63");
  EXPECT_EQ(FirstBytes("a`b"), "the bytes 61 60 62");
}

TEST(ForeignSourceTest, ItSaysWhatToDo) {
  const absl::Status status = ForeignSource("png", "<svg>");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(),
            "the file is no png: it begins with `<svg>`; replace or convert it, or for a file of "
            "another kind choose the cooker `copy` or `command`");
}

TEST(ForeignSourceTest, AFileOfAnotherCookerIsNamedWithThatCooker) {
  const auto said = [](std::string_view bytes) {
    return std::string(CheckNoOtherCookers("glTF", bytes).message());
  };
  EXPECT_EQ(said("\x89PNG\r\n\x1a\n and more"),
            "the file is no glTF: it is a PNG image, which the cooker `texture` takes; set that "
            "cooker in its rule, or replace the file");
  EXPECT_NE(said("\xff\xd8\xff\xe0").find("a JPEG image"), std::string::npos);
  EXPECT_NE(said("RIFFxxxxWAVEfmt ").find("a WAV sound, which the cooker `audio`"),
            std::string::npos);
  EXPECT_EQ(said("RIFFxxxxWEBPfmt "), "");
  EXPECT_EQ(said("{\"asset\": {}}"), "");
  EXPECT_NE(ForeignSource("png", "OggS....").message().find("an Ogg sound"), std::string::npos);
}

TEST(ForeignSourceTest, APointerOfGitLfsIsNamedAsWhatItIs) {
  const std::string_view pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\n";
  for (const absl::Status& status : {CheckNoLfsPointer(pointer), ForeignSource("JSON", pointer)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_EQ(status.message(), "the file is a Git LFS pointer; run `git lfs pull`");
  }
  EXPECT_TRUE(CheckNoLfsPointer("version 1").ok());
  EXPECT_FALSE(CheckNoLfsPointer("version https://hawser.github.com/spec/v1\r\n").ok());
}

}  // namespace
}  // namespace galley::worker
