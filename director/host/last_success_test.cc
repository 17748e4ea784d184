#include "director/host/last_success.h"

#include <cstdlib>

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class LastSuccessTest : public testing::Test {
 protected:
  LastSuccessTest() {
    std::string pattern = testing::TempDir() + "/last-success-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  std::string folder_;
};

TEST_F(LastSuccessTest, AnotherDirectorStillKnows) {
  const absl::Time first = absl::FromUnixSeconds(1'700'000'000);
  const absl::Time second = absl::FromUnixSeconds(1'700'000'600);
  {
    LastSuccess times(folder_);
    EXPECT_THAT(times.All(), IsEmpty());
    times.Note({"android", "pc"}, first);
    times.Note({"pc"}, second);
    EXPECT_THAT(LastSuccess(folder_).All(), IsEmpty());
    times.Keep();
  }
  EXPECT_THAT(LastSuccess(folder_).All(), ElementsAre(Pair("android", first), Pair("pc", second)));
}

TEST_F(LastSuccessTest, ADamagedFileIsWrittenAnew) {
  ASSERT_TRUE(WriteFileAtomic(folder_ + "/" + kLastSuccessFile, "galley-last-success 1\n").ok());
  LastSuccess times(folder_);
  EXPECT_THAT(times.All(), IsEmpty());
  times.Note({"pc"}, absl::FromUnixSeconds(5));
  times.Keep();
  EXPECT_THAT(LastSuccess(folder_).All(), ElementsAre(Pair("pc", absl::FromUnixSeconds(5))));
}

}  // namespace
}  // namespace galley::director
