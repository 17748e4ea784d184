#include "common/store/layers/limited.h"

#include <algorithm>
#include <future>
#include <thread>

#include "common/base/testing/manual_clock.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

// A store that holds each Get until it is let go, and counts simultaneous calls.
class GateStore final : public BlobStore {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest>) override {
    return std::vector<Digest>();
  }
  absl::StatusOr<Blob> Get(const Digest&) override {
    base::MutexLock lock(mutex_);
    most_ = std::max(most_, ++inside_);
    changed_.NotifyAll();
    while (!is_open_) changed_.Wait(mutex_);
    --inside_;
    return MakeBlob("");
  }
  absl::Status Put(const Digest&, std::string_view) override { return absl::OkStatus(); }
  void WaitForInside(int count) {
    base::MutexLock lock(mutex_);
    while (inside_ < count) changed_.Wait(mutex_);
  }
  void Open() {
    base::MutexLock lock(mutex_);
    is_open_ = true;
    changed_.NotifyAll();
  }
  int most() {
    base::MutexLock lock(mutex_);
    return most_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  int inside_ = 0;
  int most_ = 0;
  bool is_open_ = false;
};

TEST(LimitedBlobStoreTest, SoManyCallsAtATimeAndNoMoreThanThatWait) {
  const auto gate = std::make_shared<GateStore>();
  LimitedBlobStore store(gate, std::make_shared<SystemClock>(), {.calls_max = 2, .waiting_max = 1});
  const auto get = [&] { return store.Get(Digest::Of("x")).status(); };
  std::vector<std::future<absl::Status>> inside;
  for (int i = 0; i < 2; ++i) inside.push_back(std::async(std::launch::async, get));
  gate->WaitForInside(2);
  // Two more calls come: one of them waits and the other is refused, in either order.
  std::vector<std::future<absl::Status>> more;
  for (int i = 0; i < 2; ++i) more.push_back(std::async(std::launch::async, get));
  while (more[0].wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
         more[1].wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    std::this_thread::yield();
  gate->Open();
  std::vector<absl::StatusCode> codes = {more[0].get().code(), more[1].get().code()};
  std::sort(codes.begin(), codes.end());
  EXPECT_THAT(codes,
              testing::ElementsAre(absl::StatusCode::kOk, absl::StatusCode::kResourceExhausted));
  for (auto& one : inside) EXPECT_TRUE(one.get().ok());
  EXPECT_EQ(gate->most(), 2);
}

TEST(LimitedBlobStoreTest, BytesPassAtTheirRate) {
  const auto clock = std::make_shared<ManualClock>();
  absl::Duration waited;
  LimitedBlobStore store(std::make_shared<MemoryStore>(), clock,
                         {.bytes_per_second = 1000, .pause = [&](absl::Duration time) {
                            waited += time;
                            clock->Advance(time);
                          }});
  const std::string bytes(500, 'x');
  const Digest digest = Digest::Of(bytes);
  EXPECT_TRUE(store.Put(digest, bytes).ok());
  EXPECT_TRUE(store.Get(digest).ok());
  EXPECT_EQ(waited, absl::ZeroDuration()) << "a second's share may be spent at once";
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(store.Get(digest).ok());
  EXPECT_TRUE(store.FindMissing(std::span(&digest, 1)).ok());
  EXPECT_EQ(waited, absl::Seconds(2)) << "then each waits for its own";
  clock->Advance(absl::Hours(1));
  waited = absl::ZeroDuration();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(store.Get(digest).ok());
  EXPECT_EQ(waited, absl::ZeroDuration()) << "an hour of quiet is worth a second, not an hour";
  EXPECT_TRUE(store.Get(digest).ok());
  EXPECT_EQ(waited, absl::Milliseconds(500));
}

}  // namespace
}  // namespace galley::store
