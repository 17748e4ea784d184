// Tests of the report of `galley doctor` on a store in which several things are damaged at once.
#include "common/store/local/look.h"

#include <filesystem>
#include <memory>

#include "common/base/file.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "gmock/gmock.h"
#include "rocksdb/db.h"

namespace galley::store {
namespace {

using testing::Contains;
using testing::Field;
using testing::IsEmpty;

class LookTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = *MakeTemporaryDirectory(testing::TempDir(), "look-");
    const auto store = *OpenLocalStore(directory_);
    const std::string large(kSmallBlobBytesMax + 1, 'x'), small = "small";
    file_ = BlobFilePath(directory_, Digest::Of(large));
    ASSERT_TRUE(store->Put(Digest::Of(large), large).ok());
    ASSERT_TRUE(store->Put(Digest::Of(small), small).ok());
    ASSERT_TRUE(store->Commit({}).ok());
    segment_ = SegmentPath(directory_, (*store->Locate({{Digest::Of(small)}}))[0]->segment);
  }
  void TearDown() override { EXPECT_TRUE(RemoveAll(directory_).ok()); }

  std::string index() const { return JoinPath(directory_, "index"); }
  void PutIntoIndex(const std::string& key) const {
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(rocksdb::Options(), index(), &opened).ok());
    const std::unique_ptr<rocksdb::DB> database(opened);
    ASSERT_TRUE(database->Put(rocksdb::WriteOptions(), key, "malformed").ok());
  }

  std::string directory_, file_, segment_;
};

TEST_F(LookTest, OfAWholeStoreNothingIsSaid) {
  EXPECT_THAT(LookAtStore(directory_)->findings, IsEmpty());
}

TEST_F(LookTest, DamageOfTheIndexDoesNotHideWhatIsMissing) {
  std::filesystem::remove(file_);
  std::filesystem::resize_file(segment_, std::filesystem::file_size(segment_) - 1);
  for (const char* kind : {"b", "s"}) {
    PutIntoIndex(kind + std::string(100, '\xff'));  // sorts last of its kind
    const StoreLook look = *LookAtStore(directory_);
    for (const std::string& path : {file_, segment_, index()})
      EXPECT_THAT(look.findings, Contains(Field(&Finding::path, path))) << kind;
  }
}

}  // namespace
}  // namespace galley::store
