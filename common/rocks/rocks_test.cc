#include "common/rocks/rocks.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::rocks {
namespace {

using testing::ElementsAre;

absl::Status AsItIs(const rocksdb::Status& status) { return ToReadStatus(status, "reading"); }

class RocksTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = *MakeTemporaryDirectory(testing::TempDir(), "rocks-");
    rocksdb::Options options = SharedOptions();
    options.create_if_missing = true;
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, path(), &opened).ok());
    database_.reset(opened);
    for (const std::string_view key : {"a1", "a2", "a3", "b1"})
      ASSERT_TRUE(database_->Put(rocksdb::WriteOptions(), ToSlice(key), "value of it").ok());
  }
  void TearDown() override {
    database_.reset();
    EXPECT_TRUE(RemoveAll(directory_).ok());
  }
  std::string path() const { return JoinPath(directory_, "database"); }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string directory_;
  std::unique_ptr<rocksdb::DB> database_;
};

TEST_F(RocksTest, AFullDiskIsOfTheMachineAndWrongBytesAreDamage) {
  EXPECT_TRUE(absl::IsResourceExhausted(AsItIs(rocksdb::Status::NoSpace())));
  EXPECT_TRUE(absl::IsResourceExhausted(
      AsItIs(rocksdb::Status::IOError("While open a file: x", "Too many open files"))));
  EXPECT_TRUE(absl::IsUnavailable(
      AsItIs(rocksdb::Status::IOError("While lock file: x", "Resource temporarily unavailable"))));
  for (const int error : {EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT, EFBIG, EROFS, EAGAIN, EINTR}) {
    const std::string text = std::generic_category().message(error);
    EXPECT_FALSE(absl::IsDataLoss(AsItIs(rocksdb::Status::IOError("While pread: x", text))))
        << text;
    EXPECT_TRUE(IsOfMachine(rocksdb::Status::Corruption("while reading x: " + text))) << text;
  }
  EXPECT_TRUE(
      absl::IsDataLoss(AsItIs(rocksdb::Status::IOError("While pread: x", "Input/output error"))));
  EXPECT_TRUE(absl::IsDataLoss(AsItIs(rocksdb::Status::Corruption("checksum mismatch"))));
  EXPECT_TRUE(absl::IsDataLoss(
      AsItIs(rocksdb::Status::IOError("While open a file: x", "No such file or directory"))));
  EXPECT_TRUE(absl::IsDataLoss(
      AsItIs(rocksdb::Status::IOError("While open a file: x", "Permission denied"))));
}

TEST_F(RocksTest, AKeyThatIsAbsentIsNoError) {
  EXPECT_EQ(*Get(*database_, "a1", AsItIs), "value of it");
  EXPECT_EQ(*Get(*database_, "a4", AsItIs), std::nullopt);
}

TEST_F(RocksTest, AScanEndsWithItsPrefixItsLimitOrAnError) {
  PrefixScan scan(*database_, AsItIs);
  std::vector<std::string> keys;
  const auto add = [&](std::string_view key, std::string_view) {
    keys.emplace_back(key);
    return absl::OkStatus();
  };
  EXPECT_TRUE(scan.Each("a", add).ok());
  EXPECT_THAT(keys, ElementsAre("a1", "a2", "a3"));
  keys.clear();
  EXPECT_TRUE(scan.EachFrom("a2", "a", 1, add).ok());
  EXPECT_THAT(keys, ElementsAre("a2"));
  const auto fail = [](std::string_view, std::string_view) { return absl::AbortedError("no"); };
  EXPECT_TRUE(absl::IsAborted(scan.Each("b", fail)));
}

TEST_F(RocksTest, ALookChangesNothing) {
  database_.reset();
  const std::vector<std::string> before = Names();
  {
    std::unique_ptr<rocksdb::DB> looked_at;
    ASSERT_TRUE(OpenForLook(path(), looked_at).ok());
    EXPECT_EQ(*Get(*looked_at, "b1", AsItIs), "value of it");
  }
  EXPECT_EQ(Names(), before);
  std::unique_ptr<rocksdb::DB> none;
  EXPECT_FALSE(OpenForLook(JoinPath(directory_, "none"), none).ok());
  EXPECT_EQ(none, nullptr);
}

}  // namespace
}  // namespace galley::rocks
