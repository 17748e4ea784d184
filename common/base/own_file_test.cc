#include "common/base/own_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "common/base/file.h"
#include "common/base/repairs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OwnFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(::testing::TempDir(), "own").value();
    file_ = JoinPath(folder_, "file");
    TakeRepairs();
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }
  void Write(const std::string& path, std::string_view bytes) {
    ASSERT_TRUE(WriteFileAtomic(path, bytes).ok());
  }
  std::string Broken(int n) const { return file_ + ".broken-" + std::to_string(n); }

  std::string folder_, file_;
};

TEST_F(OwnFileTest, AFileIsReadAndAnAbsentOneIsAbsent) {
  EXPECT_TRUE(absl::IsNotFound(ReadOwnFile(file_, 10).status()));
  Write(file_, "bytes");
  EXPECT_EQ(ReadOwnFile(file_, 10).value(), "bytes");
  EXPECT_TRUE(absl::IsDataLoss(ReadOwnFile(file_, 4).status())) << "larger than any that we wrote";
  EXPECT_THAT(TakeRepairs(), IsEmpty());
}

TEST_F(OwnFileTest, AFolderInItsPlaceIsPutAsideWithAllThatIsInIt) {
  fs::create_directories(file_);
  Write(file_ + "/mine", "a person's");
  const absl::StatusOr<std::string> bytes = ReadOwnFile(file_, 10);
  ASSERT_TRUE(absl::IsDataLoss(bytes.status())) << bytes.status();
  EXPECT_THAT(bytes.status().ToString(), HasSubstr("it is a folder; it was moved aside to"));
  EXPECT_TRUE(FileExists(Broken(1) + "/mine"));
  Write(file_, "anew");
  EXPECT_EQ(ReadOwnFile(file_, 10).value(), "anew");
}

TEST_F(OwnFileTest, TheNewestFilesThatWerePutAsideStayAndEachFolder) {
  fs::create_directories(file_);
  ASSERT_EQ(PutAside(file_).value(), Broken(1));
  for (int n = 2; n <= 7; ++n) {
    Write(file_, std::to_string(n));
    ASSERT_EQ(PutAside(file_).value(), Broken(n));
  }
  EXPECT_TRUE(FileExists(Broken(1))) << "a folder";
  for (int n = 2; n <= 4; ++n) EXPECT_FALSE(FileExists(Broken(n))) << n;
  for (int n = 5; n <= 7; ++n) EXPECT_TRUE(FileExists(Broken(n))) << n;
}

TEST_F(OwnFileTest, AModeThatForbidsToReadIsPutRight) {
  const bool is_root = ::geteuid() == 0;
  if (is_root) {  // root may read everything, so an ordinary user must try it
    constexpr uid_t kNobody = 65534;
    ASSERT_EQ(::chown(folder_.c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(::setresuid(kNobody, kNobody, 0), 0);
  }
  Write(file_, "bytes");
  ASSERT_EQ(::chmod(file_.c_str(), 0), 0);
  const absl::StatusOr<std::string> bytes = ReadOwnFile(file_, 10);
  if (is_root) {
    ASSERT_EQ(::setresuid(0, 0, 0), 0);
  }
  EXPECT_EQ(bytes.value(), "bytes");
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("its mode 0000 forbade to use it")));
}

TEST_F(OwnFileTest, TheWayOfALogIsCleared) {
  ASSERT_TRUE(EnsureWritableFile(file_).ok());
  Write(file_, "kept");
  ASSERT_TRUE(EnsureWritableFile(file_).ok());
  EXPECT_EQ(ReadFile(file_).value(), "kept");
  fs::remove(file_);
  fs::create_directories(file_);
  ASSERT_TRUE(EnsureWritableFile(file_).ok());
  EXPECT_FALSE(FileExists(file_));
  EXPECT_TRUE(FileExists(Broken(1)));
  EXPECT_THAT(TakeRepairs(), ElementsAre(HasSubstr("it is a folder; it was moved aside to")));
}

}  // namespace
}  // namespace galley
