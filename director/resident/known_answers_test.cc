#include "director/resident/known_answers.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "director/resident/testing/device_test.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;

PackageFilesPtr FilesOfTexture(const std::string& bytes) {
  auto files = std::make_shared<PackageFiles>();
  files->key = Digest::Of("key of " + bytes);
  files->outputs.push_back({".ktx2", Digest::Of(bytes)});
  return files;
}

// KnownAnswersTest: a world with a texture and a small copied file, in which nothing is cooked yet.
class KnownAnswersTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    Write("content/a.png", "a");
    Write("content/read.txt", "me");
    shown_ = ShowWorld(1, MakeNow(), Digest());
    shared_.BeginWorld(shown_, now_);
  }

  void Cook(const std::string& bytes) {
    cooked_.TableOf("linux")->Put("/Game/a.png", FilesOfTexture(bytes));
  }
  // A session "s" of a tree with these bytes as the texture.
  void OpenSession(const std::string& bytes) {
    devices::DeviceTree tree(
        DeviceWorldOf(shared_.project(), *shown_, {.platform = "linux", .cultures = {}}), Digest());
    std::vector<devices::NamedBlob> blobs;
    ASSERT_TRUE(tree.Add({.package = "/Game/a.png",
                          .stage_path = "Game/a.png",
                          .outputs = {{".ktx2", Digest::Of(bytes)}}},
                         FoldOfNames(), blobs)
                    .ok());
    const devices::DeviceViewPtr view = tree.Grow(now_, true, blobs);
    for (const devices::NamedBlob& blob : blobs)
      ASSERT_TRUE(memory_.Put(blob.digest, blob.bytes).ok());
    shared_.SetNewest(shown_, view, std::nullopt, now_);
    ASSERT_TRUE(shared_
                    .With([&](devices::DeviceSessions& sessions) {
                      return sessions.Open({.id = "s", .audience = audience_}, now_).status();
                    })
                    .ok());
    ASSERT_TRUE(shared_.FlushLeases().ok());
  }

  std::optional<DeviceFile> ReadPresent(std::vector<std::string> known_tags = {}) {
    return FileIn(known_.Present(
        shown_,
        {.platform = "linux", .path = "Game/a.png.ktx2", .known_tags = std::move(known_tags)}));
  }
  std::optional<DeviceFile> ReadInSession(const std::string& path) {
    const SharedSessions::Seen seen = shared_.Renew("s", now_).value();
    return FileIn(known_.InSession(seen, {.platform = "linux", .path = path, .session = "s"},
                                   seen.session.view));
  }
  static std::optional<DeviceFile> FileIn(const std::optional<DeviceAnswer>& answer) {
    if (!answer) return std::nullopt;
    const auto* const file = std::get_if<DeviceFile>(&*answer);
    EXPECT_NE(file, nullptr);
    return file == nullptr ? std::nullopt : std::optional(*file);
  }

  const absl::Time now_ = absl::UnixEpoch();
  const devices::Audience audience_{.platform = "linux", .cultures = {}};
  ShownWorldPtr shown_;
  CookedTables cooked_;
  SharedSessions shared_{{.project = std::string(32, 'a'), .changes = {.term = 1}}, memory_};
  std::vector<std::string> asked_;  // what KnownAnswers told
  KnownAnswers known_{shared_, cooked_,
                      [this](const std::string& platform, const std::string& package) {
                        asked_.push_back(platform + " " + package);
                      }};
};

TEST_F(KnownAnswersTest, NothingIsKnownOfAFileThatIsNotCooked) {
  EXPECT_EQ(ReadPresent(), std::nullopt);
}

TEST_F(KnownAnswersTest, ACookedFileIsTheSameEachTimeAndItsTagIsKnownToWhoHasIt) {
  Cook("texture");
  const std::optional<DeviceFile> file = ReadPresent();
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->digest, Digest::Of("texture"));
  EXPECT_EQ(ReadPresent(), file);
  EXPECT_TRUE(ReadPresent({"other", file->tag})->is_known);
  EXPECT_FALSE(ReadPresent({"other"})->is_known);
  EXPECT_EQ(asked_, std::vector<std::string>(4, "linux /Game/a.png"));
}

TEST_F(KnownAnswersTest, AnotherResultOfThePackageIsSeen) {
  Cook("old");
  ASSERT_EQ(ReadPresent()->digest, Digest::Of("old"));
  Cook("new");
  EXPECT_EQ(ReadPresent()->digest, Digest::Of("new"));
}

TEST_F(KnownAnswersTest, ADroppedOrLostResultIsNotKnown) {
  Cook("texture");
  ASSERT_TRUE(ReadPresent().has_value());
  cooked_.TableOf("linux")->Drop(std::vector<std::string>{"/Game/a.png"});
  EXPECT_EQ(ReadPresent(), std::nullopt);
  Cook("texture");
  ASSERT_TRUE(ReadPresent().has_value());
  cooked_.NoteLost(Digest::Of("texture"));
  EXPECT_EQ(ReadPresent(), std::nullopt);
}

TEST_F(KnownAnswersTest, AWorldThatIsNotThePresentOneIsNotAnswered) {
  Cook("texture");
  shared_.BeginWorld(ShowWorld(2, MakeNow(), Digest()), now_);
  EXPECT_EQ(ReadPresent(), std::nullopt);
}

TEST_F(KnownAnswersTest, ASessionSeesItsViewEachTimeAndHasReadThePackage) {
  Cook("seen");
  OpenSession("seen");
  Cook("newer");
  for (int i = 0; i < 2; ++i) {
    const std::optional<DeviceFile> file = ReadInSession("Game/a.png.ktx2");
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->digest, Digest::Of("seen"));
    EXPECT_EQ(file->root, shared_.Renew("s", now_)->session.root);
  }
  EXPECT_THAT(shared_.ReadAmong(audience_, {"/Game/a.png"}), ElementsAre("/Game/a.png"));
}

TEST_F(KnownAnswersTest, AFileFromTheTableOfKnownPathsIsReadInEachSession) {
  Cook("seen");
  OpenSession("seen");
  ASSERT_TRUE(ReadInSession("Game/a.png.ktx2").has_value());
  const auto opened = shared_.With([&](devices::DeviceSessions& sessions) {
    sessions.Close("s");
    return sessions.Open({.id = "s", .audience = audience_}, now_).status();
  });
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE(shared_.FlushLeases().ok());
  ASSERT_THAT(shared_.ReadAmong(audience_, {"/Game/a.png"}), testing::IsEmpty());
  ASSERT_TRUE(ReadInSession("Game/a.png.ktx2").has_value());
  EXPECT_THAT(shared_.ReadAmong(audience_, {"/Game/a.png"}), ElementsAre("/Game/a.png"));
}

TEST_F(KnownAnswersTest, TheTagOfAFileInASessionIsThatOfItsKeyAsSoonAsTheKeyIsKnown) {
  OpenSession("seen");
  EXPECT_EQ(ReadInSession("Game/a.png.ktx2")->tag, Digest::Of("seen").hex());
  Cook("seen");
  EXPECT_EQ(ReadInSession("Game/a.png.ktx2")->tag,
            FileTag(Digest::Of("key of seen"), Digest::Of("seen")));
}

TEST_F(KnownAnswersTest, ASessionIsNotAnsweredWithALostFile) {
  Cook("seen");
  OpenSession("seen");
  ASSERT_TRUE(ReadInSession("Game/a.png.ktx2").has_value());
  cooked_.NoteLost(Digest::Of("seen"));
  EXPECT_EQ(ReadInSession("Game/a.png.ktx2"), std::nullopt);
}

}  // namespace
}  // namespace galley::director
