#include "director/resident/store_answers.h"

#include <map>
#include <string>

#include "common/record/result.h"
#include "common/tree/tree.h"
#include "director/resident/testing/device_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

class StoreAnswersTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    answers_ = std::make_unique<StoreAnswers>(memory_, *remaker_);
  }
  Digest Put(const std::string& bytes) {
    EXPECT_TRUE(memory_.Put(Digest::Of(bytes), bytes).ok());
    return Digest::Of(bytes);
  }
  Digest PutTree(const std::vector<tree::TreeFile>& files) {
    const tree::BuiltTree built = tree::BuildTree(files, nullptr);
    for (const auto& [digest, bytes] : built.directories)
      EXPECT_TRUE(memory_.Put(digest, bytes).ok());
    return built.root;
  }
  Digest Record(const record::Result& result) {
    const Digest key = Digest::Of("key");
    EXPECT_TRUE(
        memory_.Commit({.results = {{.action_key = key, .result = record::EncodeResult(result)}}})
            .ok());
    return key;
  }
  static RefusalKind KindOfRefusal(const DeviceAnswer& answer) {
    return std::get<DeviceRefusal>(answer).kind;
  }

  std::unique_ptr<StoreAnswers> answers_;
  Cancellation nobody_;
};

TEST_F(StoreAnswersTest, APathOfACookedRootIsItsFileForEver) {
  const Digest root = PutTree({{.path = "Game/a.bin", .digest = Put("a"), .is_executable = true}});
  const auto file = std::get<DeviceFile>(answers_->FindInRoot(root, "Game/a.bin"));
  EXPECT_EQ(file.digest, Digest::Of("a"));
  EXPECT_TRUE(file.is_executable);
  EXPECT_EQ(file.caching, FileCaching::kImmutable);
  EXPECT_EQ(file.tag, Digest::Of("a").hex());
}

TEST_F(StoreAnswersTest, APathThatTheRootDoesNotHaveIsAbsentAndSoIsAFolder) {
  const Digest root = PutTree({{.path = "Game/a.bin", .digest = Put("a")}});
  EXPECT_EQ(KindOfRefusal(answers_->FindInRoot(root, "Game/b.bin")), RefusalKind::kAbsent);
  EXPECT_EQ(KindOfRefusal(answers_->FindInRoot(root, "Game")), RefusalKind::kAbsent);
}

TEST_F(StoreAnswersTest, ARootThatIsNotThereIsGoneAndSoIsALostFile) {
  EXPECT_EQ(KindOfRefusal(answers_->FindInRoot(Digest::Of("none"), "Game/a.bin")),
            RefusalKind::kGone);
  const Digest root = PutTree({{.path = "Game/a.bin", .digest = Put("a")}});
  memory_.Drop(Digest::Of("a"));
  EXPECT_EQ(KindOfRefusal(answers_->FindInRoot(root, "Game/a.bin")), RefusalKind::kGone);
}

TEST_F(StoreAnswersTest, ABlobThatIsNoFolderIsNoRoot) {
  EXPECT_EQ(KindOfRefusal(answers_->FindInRoot(Put("no folder"), "Game/a.bin")),
            RefusalKind::kAbsent);
}

TEST_F(StoreAnswersTest, ABlobIsAnsweredWhereTheStoreHasIt) {
  EXPECT_EQ(std::get<DeviceFile>(answers_->FindBlob(Put("b"))).digest, Digest::Of("b"));
  EXPECT_EQ(KindOfRefusal(answers_->FindBlob(Digest::Of("none"))), RefusalKind::kAbsent);
}

TEST_F(StoreAnswersTest, ARecordHasItsOutputs) {
  const Digest key = Record(Made({{".ktx2", "texture"}}));
  const auto record = std::get<DeviceRecord>(answers_->FindRecord(key));
  ASSERT_EQ(record.outputs.size(), 1u);
  EXPECT_EQ(record.outputs[0].suffix, ".ktx2");
  EXPECT_EQ(record.outputs[0].digest, Digest::Of("texture"));
  EXPECT_EQ(std::get<DeviceRefusal>(answers_->FindRecord(Digest::Of("other"))).kind,
            RefusalKind::kAbsent);
}

TEST_F(StoreAnswersTest, AnOutputOfARecordNamesItsKey) {
  const Digest key = Record(Made({{".ktx2", "texture"}}));
  const auto file = std::get<DeviceFile>(answers_->FindRecordOutput(key, ".ktx2", nobody_));
  EXPECT_EQ(file.tag, FileTag(key, Digest::Of("texture")));
  EXPECT_EQ(KindOfRefusal(answers_->FindRecordOutput(key, ".bin", nobody_)), RefusalKind::kAbsent);
}

TEST(RefusalOfTest, TheCodeSaysWhatACallerCanDo) {
  EXPECT_EQ(RefusalOf(absl::InvalidArgumentError("x")).kind, RefusalKind::kInvalid);
  EXPECT_EQ(RefusalOf(absl::NotFoundError("x")).kind, RefusalKind::kAbsent);
  EXPECT_EQ(RefusalOf(absl::DeadlineExceededError("x")).kind, RefusalKind::kDeadline);
  EXPECT_EQ(RefusalOf(absl::InternalError("x")).kind, RefusalKind::kInfrastructure);
  const DeviceRefusal later = RefusalOf(absl::ResourceExhaustedError("x"));
  EXPECT_EQ(later.kind, RefusalKind::kNotReady);
  EXPECT_TRUE(later.retry_after.has_value());
}

}  // namespace
}  // namespace galley::director
