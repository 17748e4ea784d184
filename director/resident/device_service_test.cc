#include "director/resident/device_service.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "common/base/testing/await.h"
#include "director/resident/testing/device_service_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(DeviceServiceTest, AMissIsCookedAndThenAHit) {
  Begin();
  const HeldAnswer<DeviceAnswer> held = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png");
  EXPECT_FALSE(held.is_there());
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile file = FileOf(held.Await());
  EXPECT_EQ(file.digest, Digest::Of("texture"));
  EXPECT_EQ(file.caching, FileCaching::kNoCache);
  EXPECT_FALSE(file.root.has_value());
  EXPECT_EQ(file.tag.size(), 129u) << "key and digest: " << file.tag;
  const HeldAnswer<DeviceAnswer> again = Ask("Game/a.png.ktx2");
  EXPECT_TRUE(again.is_there()) << "on the thread that asks";
  EXPECT_EQ(FileOf(again.Await()), file);
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 1);
}

TEST_F(DeviceServiceTest, AKnownTagIsSaidToBeKnown) {
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  const DeviceFile file = FileOf(Get("Game/a.png.ktx2"));
  EXPECT_FALSE(file.is_known);
  EXPECT_TRUE(FileOf(Ask("Game/a.png.ktx2", {"other", file.tag}).Await()).is_known);
}

TEST_F(DeviceServiceTest, PathsThatNobodyHasAndOddPathsCookNothing) {
  Begin();
  EXPECT_EQ(RefusalIn(Get("Game/none.png.ktx2")).kind, RefusalKind::kAbsent);
  EXPECT_EQ(RefusalIn(Get("Game/a.png.other")).kind, RefusalKind::kAbsent);
  EXPECT_EQ(RefusalIn(Get("Game/../a")).kind, RefusalKind::kInvalid);
  HeldAnswer<DeviceAnswer> held;
  call_ = service_->ReadPresent({.platform = "amiga", .path = "Game/a.png.ktx2"}, held.Taker());
  EXPECT_EQ(RefusalIn(held.Await()).kind, RefusalKind::kAbsent);
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 0);
}

TEST_F(DeviceServiceTest, APackageThatFailsIsRefusedAndTriedAgainByTheNext) {
  Begin();
  fake_.Fails("/Game/a.png", "no image data");
  const DeviceRefusal refusal = RefusalIn(Get("Game/a.png.ktx2"));
  EXPECT_EQ(refusal.kind, RefusalKind::kFailed);
  EXPECT_EQ(refusal.package, "/Game/a.png");
  EXPECT_EQ(refusal.text, "no image data");
  EXPECT_EQ(refusal.cause, "verdict");
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  EXPECT_EQ(FileOf(Get("Game/a.png.ktx2")).digest, Digest::Of("texture"));
}

TEST_F(DeviceServiceTest, AFaultOfMachinesIsNotTheProjects) {
  Begin();
  fake_.Fails("/Game/a.png", "no worker could do it", FailureCause::kMachine);
  EXPECT_EQ(RefusalIn(Get("Game/a.png.ktx2")).kind, RefusalKind::kInfrastructure);
}

TEST_F(DeviceServiceTest, WithoutAWorldTheAnswerIsLaterAndSaysWhy) {
  Serve();
  const DeviceRefusal refusal = RefusalIn(Get("Game/a.png.ktx2"));
  EXPECT_EQ(refusal.kind, RefusalKind::kNotReady);
  EXPECT_THAT(refusal.text, HasSubstr("looked at"));
  EXPECT_TRUE(refusal.retry_after.has_value());
}

TEST_F(DeviceServiceTest, ADeadlineEndsTheAsk) {
  Begin();
  const HeldAnswer<DeviceAnswer> held = Ask("Game/a.png.ktx2", {}, absl::Milliseconds(20));
  EXPECT_EQ(RefusalIn(held.Await()).kind, RefusalKind::kDeadline);
  EXPECT_THAT(fake_.Waiting(), IsEmpty());
}

TEST_F(DeviceServiceTest, AClientThatLeavesEndsItsAskAlone) {
  Begin();
  const HeldAnswer<DeviceAnswer> left = Ask("Game/a.png.ktx2");
  const DeviceCallPtr leaving = call_;
  const HeldAnswer<DeviceAnswer> stays = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png", 2);
  leaving->Cancel();
  AwaitWaiting("/Game/a.png", 1);
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  EXPECT_EQ(FileOf(stays.Await()).digest, Digest::Of("texture"));
  EXPECT_FALSE(left.is_there());
}

TEST_F(DeviceServiceTest, TwoPackagesThatHaveThePathAreInConflict) {
  AddRule("/**/*.ktx2", {.cooker = "copy"});
  Write("content/a.png.ktx2", "copied");
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  fake_.Cooks("/Game/a.png.ktx2", Made({{"", "copied"}}));
  const DeviceRefusal refusal = RefusalIn(Get("Game/a.png.ktx2"));
  EXPECT_EQ(refusal.kind, RefusalKind::kFailed);
  EXPECT_THAT(refusal.text, HasSubstr("/Game/a.png, /Game/a.png.ktx2"));
}

TEST_F(DeviceServiceTest, AGeneratedPackageIsCookedAfterItsGenerator) {
  Write("content/town.level", "t");
  Begin();
  fake_.Cooks("/Game/town.level", MadeWith({{".bin", "town"}}, {"_gen/cell.level"}));
  fake_.Cooks("/Game/town.level/_gen/cell.level", Made({{".bin", "cell"}}));
  const std::string folder = "Game/town.level/_gen/";
  EXPECT_EQ(FileOf(Get(folder + "cell.level.bin")).digest, Digest::Of("cell"));
  EXPECT_EQ(RefusalIn(Get(folder + "other.level.bin")).kind, RefusalKind::kAbsent);
  EXPECT_EQ(fake_.AskedFor("/Game/town.level/_gen/other.level"), 0);
}

TEST_F(DeviceServiceTest, ARequestThatWaitsGoesOnInTheNewerWorld) {
  Begin();
  const HeldAnswer<DeviceAnswer> held = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png");
  Edit("content/a.png", "edited");
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "of the edit"}}));
  EXPECT_EQ(FileOf(held.Await()).digest, Digest::Of("of the edit"));
}

TEST_F(DeviceServiceTest, ARequestMovesThreeTimesAtMost) {
  Begin();
  const HeldAnswer<DeviceAnswer> held = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png");
  for (int i = 0; i < 4; ++i) {
    Edit("content/a.png", "edit " + std::to_string(i));
    // The world is begun before the next one comes.
    const DeviceAnswer other = Get("Game/none");
    EXPECT_EQ(RefusalIn(other).kind, RefusalKind::kAbsent);
    HeldAnswer<SessionAnswer> turn;
    call_ = service_->OpenSession({.platform = "amiga"}, kWaitMax, turn.Taker());
    turn.Await();
  }
  const DeviceRefusal refusal = RefusalIn(held.Await());
  EXPECT_EQ(refusal.kind, RefusalKind::kNotReady);
  EXPECT_TRUE(refusal.retry_after.has_value());
}

TEST_F(DeviceServiceTest, AnEditForgetsWhatItMakesOtherwise) {
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "old"}}));
  fake_.Cooks("/Game/b.png", Made({{".ktx2", "same"}}));
  Get("Game/a.png.ktx2");
  Get("Game/b.png.ktx2");
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "new"}}));
  Edit("content/a.png", "edited");
  AwaitOrFail([&] { return FileOf(Get("Game/a.png.ktx2")).digest == Digest::Of("new"); },
              "the new file");
  EXPECT_EQ(FileOf(Get("Game/b.png.ktx2")).digest, Digest::Of("same"));
  EXPECT_EQ(fake_.AskedFor("/Game/b.png"), 1);
}

TEST_F(DeviceServiceTest, BytesThatTheStoreLostAreMadeAgain) {
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "texture"}}));
  Get("Game/a.png.ktx2");
  memory_.Drop(Digest::Of("texture"));
  service_->NoteLost(Digest::Of("texture"));
  Get("Game/a.png.ktx2");
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 2);
  EXPECT_TRUE(Ask("Game/a.png.ktx2").is_there()) << "known again";
}

TEST_F(DeviceServiceTest, ResultsOfCooksAreKnown) {
  Begin();
  Get("Game/none");
  const StoredResultPtr stored = ResultOfACook("/Game/a.png");
  AwaitOrFail(
      [&] {
        service_->NoteCooked(stored);
        const HeldAnswer<DeviceAnswer> held = Ask("Game/a.png.ktx2", {}, absl::Milliseconds(1));
        return std::holds_alternative<DeviceFile>(held.Await());
      },
      "the result of a cook");
}

TEST_F(DeviceServiceTest, AResultThatACookByTheBookLeavesOutIsNoFile) {
  Begin();
  Get("Game/none");
  const auto cooked = [&](const std::string& package, std::vector<record::Reference> references) {
    const std::shared_ptr<StoredResult> stored = ResultOfACook(package);
    stored->result.details.references = std::move(references);
    return stored;
  };
  AwaitOrFail(
      [&] {
        service_->NoteCooked(cooked("/Game/b.png", {}));
        const HeldAnswer<DeviceAnswer> held = Ask("Game/b.png.ktx2", {}, absl::Milliseconds(1));
        return std::holds_alternative<DeviceFile>(held.Await());
      },
      "the result of a cook");
  service_->NoteCooked(cooked("/Game/a.png", {{"/Game/gone.png", record::ReferenceKind::kHard}}));
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "asked for"}}));
  EXPECT_EQ(FileOf(Get("Game/a.png.ktx2")).digest, Digest::Of("asked for"));
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 1);
}

TEST_F(DeviceServiceTest, TheEndAnswersAllWhoWait) {
  Begin();
  const HeldAnswer<DeviceAnswer> held = Ask("Game/a.png.ktx2");
  AwaitWaiting("/Game/a.png");
  service_->Stop();
  EXPECT_EQ(RefusalIn(held.Await()).kind, RefusalKind::kNotReady);
  EXPECT_THAT(fake_.Waiting(), IsEmpty());
  EXPECT_EQ(RefusalIn(Get("Game/b.png.ktx2")).kind, RefusalKind::kNotReady);
  EXPECT_EQ(std::get<DeviceRefusal>(TryOpen({.platform = "linux"})).kind, RefusalKind::kNotReady);
}

TEST_F(DeviceServiceTest, APathInARootIsFinal) {
  Begin();
  const DeviceSessionState session = Open();
  HeldAnswer<DeviceAnswer> held;
  call_ = service_->ReadInRoot(session.root, "static/Game/read.txt", held.Taker());
  EXPECT_EQ(FileOf(held.Await()).caching, FileCaching::kImmutable);
  HeldAnswer<DeviceAnswer> blob;
  call_ = service_->ReadBlob(Digest::Of("me"), blob.Taker());
  EXPECT_EQ(FileOf(blob.Await()).digest, Digest::Of("me"));
}

}  // namespace
}  // namespace galley::director
