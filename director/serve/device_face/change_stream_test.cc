#include "director/serve/device_face/change_stream.h"

#include <atomic>
#include <string>

#include "director/serve/device_face/testing/fake_devices.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

devices::ChangeEvent Event(uint64_t number) {
  return {.id = {.term = 3, .number = number}, .world = 7, .stale = {"Game/a"}};
}

class ChangeStreamTest : public testing::Test {
 protected:
  void Push(devices::ChangeEvent event) { devices_.Push(std::move(event)); }
  void End() {
    const base::MutexLock lock(devices_.events->mutex);
    devices_.events->is_over = true;
  }

  FakeDevices devices_;
  ChangeStream stream_{std::make_unique<FakeEvents>(devices_.events)};
};

TEST_F(ChangeStreamTest, EachEventHasItsNumberKindAndData) {
  Push(Event(17));
  devices::ChangeEvent snapshot = Event(18);
  snapshot.is_snapshot = true;
  Push(snapshot);
  EXPECT_EQ(stream_.TakeEvents(1'000),
            "retry: 1000\n\n"
            "id: 3-17\nevent: change\ndata: {\"stale\":[\"Game/a\"],\"world\":7}\n\n"
            "id: 3-18\nevent: snapshot\ndata: {\"stale\":[\"Game/a\"],\"world\":7}\n\n");
  EXPECT_EQ(stream_.TakeEvents(1'000), "");
}

TEST_F(ChangeStreamTest, TheTimeToComeBackIsSaidOnceAndAtOnce) {
  EXPECT_EQ(stream_.TakeEvents(1'000), "retry: 1000\n\n");
  Push(Event(1));
  EXPECT_THAT(stream_.TakeEvents(1'000).value_or(""), StartsWith("id: 3-1\n"));
}

TEST_F(ChangeStreamTest, AClientThatTakesLittleGetsTheRestLater) {
  for (uint64_t i = 1; i <= 3; ++i) Push(Event(i));
  EXPECT_EQ(stream_.TakeEvents(1), "retry: 1000\n\n");
  EXPECT_THAT(stream_.TakeEvents(1).value_or(""), StartsWith("id: 3-1\n"));
  EXPECT_THAT(stream_.TakeEvents(100).value_or(""),
              testing::AllOf(HasSubstr("id: 3-2\n"), HasSubstr("id: 3-3\n")));
}

TEST_F(ChangeStreamTest, TheEndComesAfterTheLastEvent) {
  Push(Event(1));
  End();
  EXPECT_THAT(stream_.TakeEvents(10'000).value_or(""), HasSubstr("id: 3-1\n"));
  EXPECT_EQ(stream_.TakeEvents(10'000), std::nullopt);
  EXPECT_EQ(stream_.TakeEvents(10'000), std::nullopt);
}

TEST_F(ChangeStreamTest, WhoeverPushesWakesTheDoor) {
  std::atomic<int> woken = 0;
  stream_.SetWake([&] { ++woken; });
  Push(Event(1));
  EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace galley::director
