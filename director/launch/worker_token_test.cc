#include "director/launch/worker_token.h"

#include <sys/stat.h>

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::HasSubstr;

TEST(WorkerTokenTest, ATokenIsMadeOnceForItsOwnerAlone) {
  const std::string folder = *MakeTemporaryDirectory(testing::TempDir(), "token-");
  const std::string file = JoinPath(folder, "farm-token");
  const auto token = KeptToken(file);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->size(), 64u);
  EXPECT_EQ(StatFile(file)->mode & 0777, 0600u);
  EXPECT_EQ(*KeptToken(file), *token);
  EXPECT_NE(NewToken(), *token);
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(KeptToken(file).status()));
  EXPECT_THAT(KeptToken(file).status().message(), HasSubstr("chmod 600"));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_TRUE(WriteFileAtomic(file, "cut").ok());
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_EQ(KeptToken(file)->size(), 64u) << "one that was cut short is made anew";
  EXPECT_TRUE(RemoveAll(folder).ok());
}

}  // namespace
}  // namespace galley::director
