#include "common/content/lfs_pointer.h"

#include <string>

#include "gtest/gtest.h"

namespace galley::content {
namespace {

const std::string kRest = "oid sha256:" + std::string(64, 'a') + "\nsize 12345\n";

TEST(LfsPointerTest, APointerOfAnyVersionIsOne) {
  for (const char* version : {"https://git-lfs.github.com/spec/v1",
                              "https://hawser.github.com/spec/v1", "http://git-media.io/v/2"})
    EXPECT_TRUE(IsLfsPointerFile("version " + std::string(version) + "\n" + kRest)) << version;
}

TEST(LfsPointerTest, WhatToolsDoToAPointerMakesNoDifference) {
  const std::string line = "version https://git-lfs.github.com/spec/v1";
  EXPECT_TRUE(IsLfsPointerFile(line + "\r\noid sha256:aa\r\nsize 1\r\n"));
  EXPECT_TRUE(IsLfsPointerFile(line + "\next-0-case sha256:bb\n" + kRest));
  EXPECT_TRUE(IsLfsPointerFile("\n" + line + "\n" + kRest));
  EXPECT_TRUE(IsLfsPointerFile("\xEF\xBB\xBF" + line + "\n" + kRest));
  EXPECT_TRUE(IsLfsPointerFile(line)) << "the rest is cut";
  EXPECT_TRUE(IsLfsPointerFile(line + "\n<<<<<<< HEAD\n" + kRest + "=======\n" + kRest));
  EXPECT_TRUE(IsLfsPointerFile("<<<<<<< HEAD\n" + line + "\n" + kRest));
}

TEST(LfsPointerTest, OtherTextIsNone) {
  for (const char* text :
       {"", "version 1\n", "version https://example.com/spec/v1\n",
        "version https://git-lfs.github.com/spec/v1 is how a pointer begins\n",
        "A pointer begins with\nversion https://git-lfs.github.com/spec/v1\n", "<<<<<<< HEAD"})
    EXPECT_FALSE(IsLfsPointerFile(text)) << text;
}

TEST(LfsPointerTest, ALargerFileIsNone) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\n" + kRest;
  EXPECT_TRUE(IsLfsPointerFile(pointer + std::string(1'024 - pointer.size(), '\n')));
  EXPECT_FALSE(IsLfsPointerFile(pointer + std::string(1'025 - pointer.size(), '\n')));
}

}  // namespace
}  // namespace galley::content
