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

TEST(ForeignSourceTest, APointerOfGitLfsIsNamedAsWhatItIs) {
  const std::string_view pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\n";
  for (const absl::Status& status : {CheckNoLfsPointer(pointer), ForeignSource("JSON", pointer)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_EQ(status.message(), "the file is a Git LFS pointer; run `git lfs pull`");
  }
  EXPECT_TRUE(CheckNoLfsPointer("version 1").ok());
  EXPECT_NE(LfsPointerWarning(MakeBlob(std::string(pointer))), "");
  EXPECT_EQ(LfsPointerWarning(MakeBlob("version 1")), "");
  EXPECT_EQ(LfsPointerWarning(nullptr), "") << "too large for a pointer";
}

}  // namespace
}  // namespace galley::worker
