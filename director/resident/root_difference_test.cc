// CompareRoots, in the roots that a DeviceService makes.
#include "director/resident/root_difference.h"

#include <atomic>
#include <string>
#include <variant>
#include <vector>

#include "director/resident/root_differences.h"
#include "director/resident/testing/device_service_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RootDifferenceTest : public DeviceServiceTest {
 protected:
  DifferenceAnswer Ask(const Digest& older, const Digest& newer) {
    HeldAnswer<DifferenceAnswer> held;
    call_ = service_->CompareRoots(older, newer, held.Taker());
    return held.Await();
  }
  RootDifference Between(const Digest& older, const Digest& newer) {
    const DifferenceAnswer answer = Ask(older, newer);
    const auto* const refusal = std::get_if<DeviceRefusal>(&answer);
    EXPECT_EQ(refusal, nullptr) << refusal->text;
    return refusal == nullptr ? std::get<RootDifference>(answer) : RootDifference{};
  }
  RefusalKind RefusalBetween(const Digest& older, const Digest& newer) {
    const DifferenceAnswer answer = Ask(older, newer);
    EXPECT_TRUE(std::holds_alternative<DeviceRefusal>(answer));
    return std::get<DeviceRefusal>(answer).kind;
  }
  // "path" or "path -> <digest>" of each.
  static std::vector<std::string> Shown(const std::vector<devices::ChangedPath>& changed) {
    std::vector<std::string> shown;
    for (const devices::ChangedPath& one : changed)
      shown.push_back(one.path + (one.after ? " -> " + one.after->ToString() : ""));
    return shown;
  }
  static std::string To(const std::string& path, const std::string& bytes) {
    return path + " -> " + Digest::Of(bytes).ToString();
  }
};

TEST_F(RootDifferenceTest, EachKindOfPath) {
  Write("content/c.txt", "stays");
  Begin();
  fake_.Cooks("/Game/a.png", Made({{".ktx2", "a1"}}));
  fake_.Cooks("/Game/b.png", Made({{".ktx2", "b1"}}));
  const DeviceSessionState before = Open();
  FileOf(GetIn(before.id, "Game/a.png.ktx2"));
  const Digest older = *FileOf(GetIn(before.id, "Game/b.png.ktx2")).root;
  EXPECT_EQ(Between(older, older), RootDifference{});

  fake_.Cooks("/Game/a.png", Made({{".ktx2", "a2"}}));
  ASSERT_TRUE(service_->CloseSession(before.id) == std::nullopt);  // so that b is not cooked anew
  Write("content/a.png", "edited");
  Write("content/b.png", "edited");
  Write("content/new.txt", "new");
  Write("content/new.png", "new");
  ASSERT_TRUE(RemoveAll(Host("content/read.txt")).ok());
  fake_.SetWorld(MakeNow());
  service_->NoteWorld();
  const DeviceSessionState after = Open();
  const Digest newer = *FileOf(GetIn(after.id, "Game/a.png.ktx2")).root;
  const RootDifference difference = Between(older, newer);
  EXPECT_THAT(Shown(difference.added), ElementsAre("Game/new.png.ktx2", To("Game/new.txt", "new")));
  EXPECT_THAT(Shown(difference.modified), ElementsAre(To("Game/a.png.ktx2", "a2")));
  EXPECT_THAT(difference.removed, ElementsAre("Game/read.txt"));
  EXPECT_THAT(difference.stale, ElementsAre("Game/b.png.ktx2"));
  EXPECT_FALSE(difference.is_cut);
}

TEST_F(RootDifferenceTest, WithTooManyPathsItIsCut) {
  Begin();
  const Digest older = Open().root;
  Edit("content/read.txt", "edited");
  const Digest newer = Open().root;
  const auto with_max = [&](size_t paths_max) {
    return std::get<RootDifference>(CompareRoots(
        older, newer, [this](const Digest& digest) { return memory_.Get(digest); }, Cancellation(),
        paths_max));
  };
  EXPECT_THAT(with_max(1).modified, testing::SizeIs(1));
  EXPECT_FALSE(with_max(1).is_cut);
  EXPECT_TRUE(with_max(0).is_cut);
  EXPECT_THAT(with_max(0).modified, IsEmpty());
}

TEST_F(RootDifferenceTest, DevicesThatAskForTheSameRootsCostOneComparison) {
  Begin();
  const Digest older = Open().root;
  Edit("content/read.txt", "edited");
  const Digest newer = Open().root;
  std::atomic<int> reads = 0;
  RootDifferences differences(
      [&](const Digest& digest) {
        ++reads;
        return memory_.Get(digest);
      },
      OwnDeviceThreads().MakePool(RootDifferences::kAtATime));
  const auto ask = [&](const Digest& from, const Digest& to) {
    HeldAnswer<DifferenceAnswer> held;
    const DeviceCallPtr call = differences.Compare(from, to, held.Taker());
    return held.Await();
  };
  const DifferenceAnswer first = ask(older, newer);
  const int once = reads;
  EXPECT_GT(once, 0);
  EXPECT_EQ(ask(older, newer), first);
  EXPECT_EQ(reads, once);
  EXPECT_NE(ask(newer, older), first);
  EXPECT_TRUE(std::holds_alternative<DeviceRefusal>(ask(Digest::Of("gone"), newer)));
  differences.End(DeviceRefusal{.kind = RefusalKind::kNotReady});
  EXPECT_TRUE(std::holds_alternative<DeviceRefusal>(ask(older, older)));
}

TEST_F(RootDifferenceTest, WhatIsNoRootOfASessionIsRefused) {
  Begin();
  const Digest root = Open().root, gone = Digest::Of("gone"), blob = Digest::Of("a text");
  ASSERT_TRUE(memory_.Put(blob, "a text").ok());
  ASSERT_TRUE(memory_.Put(Digest::Of(""), "").ok());
  EXPECT_EQ(RefusalBetween(gone, root), RefusalKind::kGone);
  EXPECT_EQ(RefusalBetween(root, gone), RefusalKind::kGone);
  EXPECT_EQ(RefusalBetween(blob, root), RefusalKind::kAbsent);
  EXPECT_EQ(RefusalBetween(root, Digest::Of("")), RefusalKind::kAbsent) << "an empty folder";
}

}  // namespace
}  // namespace galley::director
