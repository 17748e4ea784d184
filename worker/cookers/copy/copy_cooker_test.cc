#include "worker/cookers/copy/copy_cooker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/record/output_names.h"
#include "tests/testing/fake_cook_context.h"

namespace galley::worker {
namespace {

TEST(CopyCookerTest, OutputIsTheSourceByteForByte) {
  const auto cooker = CreateCopyCooker();
  const std::string bytes("a\0\r\n\xFF", 5);
  FakeCookContext context(cooker->description(), "/Game/readme.bin", bytes);
  ASSERT_TRUE(LoadAndCook(*cooker, context).ok());
  EXPECT_EQ(context.output(""), bytes);
  EXPECT_FALSE(context.outputs().at("").is_executable);
  EXPECT_EQ(context.outputs().size(), 1u);
}

TEST(CopyCookerTest, EmptySourceIsCopiedToo) {
  const auto cooker = CreateCopyCooker();
  FakeCookContext context(cooker->description(), "/Game/empty", "");
  ASSERT_TRUE(LoadAndCook(*cooker, context).ok());
  EXPECT_EQ(context.output(""), "");
}

TEST(CopyCookerTest, APointerOfGitLfsIsAFileAsAnyOther) {  // the director judges it
  const auto cooker = CreateCopyCooker();
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n";
  FakeCookContext context(cooker->description(), "/Game/a.bin", pointer);
  ASSERT_TRUE(LoadAndCook(*cooker, context).ok());
  EXPECT_EQ(context.output(""), pointer);
  EXPECT_THAT(context.warnings(), testing::IsEmpty());
}

TEST(CopyCookerTest, LooksAtNothingButTheSource) {
  const auto cooker = CreateCopyCooker();
  FakeCookContext context(cooker->description(), "/Game/a.txt", "x");
  ASSERT_TRUE(LoadAndCook(*cooker, context).ok());
  EXPECT_THAT(context.looks(), testing::IsEmpty());
}

TEST(CopyCookerTest, TheOutputHasThePackagesOwnName) {
  const record::OutputNames names =
      record::OutputNamesOf(CreateCopyCooker()->description(), "{}", {});
  EXPECT_THAT(names.always, testing::ElementsAre(""));
  EXPECT_FALSE(names.has_more || names.may_generate);
}

}  // namespace
}  // namespace galley::worker
