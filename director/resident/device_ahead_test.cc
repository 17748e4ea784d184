// Tests that the reads, sessions and worlds of a DeviceService reach its CookAhead.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "director/resident/device_service.h"
#include "director/resident/testing/device_test.h"
#include "director/resident/testing/fake_project.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

// Taken: an answer that comes on another thread.
template <typename Answer>
struct Taken {
  base::Mutex mutex;
  std::optional<Answer> answer GALLEY_GUARDED_BY(mutex);

  std::optional<Answer> Look() {
    base::MutexLock lock(mutex);
    return answer;
  }
};

class DeviceAheadTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    Write("content/town.level", "town");
    for (const char* name : {"a", "b"}) {
      Write(std::string("content/") + name + ".png", name);
      fake_.Cooks(std::string("/Game/") + name + ".png", Made({{".ktx2", name}}));
    }
    record::Result town = Made({{".bin", "town"}});
    town.details.references = {{.path = "/Game/a.png"}, {.path = "/Game/b.png"}};
    fake_.Cooks("/Game/town.level", town);
    fake_.LetCookAhead(absl::Seconds(1));
  }
  void TearDown() override {
    service_.reset();
    DeviceTest::TearDown();
  }

  void Serve(bool is_on = true) {
    fake_.SetWorld(MakeNow());
    service_ = std::make_unique<DeviceService>(
        DeviceService::Deps{.present = fake_,
                            .store = memory_,
                            .journal = *journal_,
                            .remaker = *remaker_,
                            .threads = threads_,
                            .trust_domain = "main",
                            .sessions = {.project = std::string(32, 'a'), .changes = {.term = 1}},
                            .ahead = {.is_on = is_on}});
  }
  DeviceAnswer Get(const std::string& path) {
    const auto taken = std::make_shared<Taken<DeviceAnswer>>();
    const DeviceCallPtr call = service_->ReadPresent(
        {.platform = "linux", .path = path, .wait_max = absl::Minutes(1)}, TakerOf(taken));
    AwaitOrFail([&] { return taken->Look().has_value(); }, "an answer");
    return taken->Look().value();
  }
  DeviceAnswer GetIn(const std::string& session, const std::string& path) {
    const auto taken = std::make_shared<Taken<DeviceAnswer>>();
    const DeviceCallPtr call =
        service_->ReadInSession({.session = session, .path = path}, TakerOf(taken));
    AwaitOrFail([&] { return taken->Look().has_value(); }, "an answer");
    return taken->Look().value();
  }
  std::string OpenSession() {
    std::string session;
    AwaitOrFail(
        [&] {
          const auto taken = std::make_shared<Taken<SessionAnswer>>();
          const DeviceCallPtr call =
              service_->OpenSession({.platform = "linux"}, absl::Minutes(1), TakerOf(taken));
          AwaitOrFail([&] { return taken->Look().has_value(); }, "an answer");
          const SessionAnswer answer = taken->Look().value();
          const auto* const state = std::get_if<DeviceSessionState>(&answer);
          if (state != nullptr) session = state->id;
          return state != nullptr;
        },
        "a session");
    return session;
  }
  // Waits until nothing more is to be cooked ahead.
  void AwaitRest(uint64_t made) {
    AwaitOrFail(
        [&] {
          const AheadFigures figures = service_->ahead().value();
          return figures.counts.made == made && figures.waiting + figures.open == 0;
        },
        "all that is cooked ahead");
  }
  void AwaitHits(uint64_t hits) {
    AwaitOrFail([&] { return service_->ahead()->counts.hits == hits; }, "hits");
  }

  FakeProject fake_;
  OwnDeviceThreads threads_;
  std::unique_ptr<DeviceService> service_;

 private:
  template <typename Answer>
  static std::function<void(const Answer&)> TakerOf(const std::shared_ptr<Taken<Answer>>& taken) {
    return [taken](const Answer& answer) {
      base::MutexLock lock(taken->mutex);
      taken->answer = answer;
    };
  }
};

TEST_F(DeviceAheadTest, TheReferencesOfAMapAreHitsThatAskNobody) {
  Serve();
  Get("Game/town.level.bin");
  AwaitRest(4);  // two references; the map on two other platforms
  EXPECT_TRUE(std::holds_alternative<DeviceFile>(Get("Game/a.png.ktx2")));
  EXPECT_TRUE(std::holds_alternative<DeviceFile>(Get("Game/b.png.ktx2")));
  EXPECT_EQ(fake_.AskedFor("/Game/a.png") + fake_.AskedFor("/Game/b.png"), 0);
  AwaitHits(2);
}

TEST_F(DeviceAheadTest, AHitOfASessionCountsToo) {
  Serve();
  const std::string session = OpenSession();
  GetIn(session, "Game/town.level.bin");
  AwaitRest(4);
  EXPECT_TRUE(std::holds_alternative<DeviceFile>(GetIn(session, "Game/a.png.ktx2")));
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 0);
  AwaitHits(1);
}

TEST_F(DeviceAheadTest, SwitchedOffNothingIsCookedAhead) {
  Serve(/*is_on=*/false);
  Get("Game/town.level.bin");
  Get("Game/town.level.bin");
  EXPECT_TRUE(std::holds_alternative<DeviceFile>(Get("Game/a.png.ktx2")));
  EXPECT_EQ(fake_.AskedFor("/Game/a.png"), 1);
  EXPECT_THAT(fake_.AskedAhead(), IsEmpty());
  EXPECT_FALSE(service_->ahead().has_value());
}

TEST_F(DeviceAheadTest, AnEditOfWhatASessionHasReadIsNotAheadsTheRestOfItIs) {
  Serve();
  Get("Game/town.level.bin");
  AwaitRest(4);
  const std::string session = OpenSession();
  GetIn(session, "Game/a.png.ktx2");
  AwaitHits(1);
  AwaitRest(6);  // a.png on two other platforms
  Write("content/a.png", "edited");
  Write("content/b.png", "edited, too");
  const size_t before = fake_.AskedAhead().size();
  fake_.SetWorld(MakeNow());
  service_->NoteWorld();
  AwaitOrFail([&] { return fake_.AskedFor("/Game/a.png") == 1; }, "the renewal");
  AwaitOrFail([&] { return fake_.AskedAhead().size() == before + 3; }, "what is stale");
  const std::vector<std::string> all = fake_.AskedAhead();
  const std::vector<std::string> stale(all.begin() + static_cast<ptrdiff_t>(before), all.end());
  EXPECT_THAT(stale,
              IsSupersetOf({"/Game/a.png android", "/Game/a.png windows", "/Game/b.png linux"}));
  EXPECT_THAT(stale, Not(Contains("/Game/a.png linux")));
}

}  // namespace
}  // namespace galley::director
