#include "worker/executor/executor_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "galley/v1/executor.pb.h"
#include "worker/executor/frame.h"

namespace galley::worker {
namespace {

class CountingCooker final : public Cooker {
 public:
  explicit CountingCooker(int& trims) : trims_(trims) {}
  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext&) override {
    return std::make_unique<Loaded>();
  }
  absl::Status Cook(CookContext&, Loaded&) override { return absl::OkStatus(); }
  void Trim() override { ++trims_; }

 private:
  int& trims_;
  record::CookerDescription description_;
};

TEST(ExecutorLoopTest, EachCollectionDropsWhatEachCookerKeeps) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  int trims = 0;
  Cookers cookers;
  for (int i = 0; i < 2; ++i) cookers.push_back(std::make_unique<CountingCooker>(trims));
  absl::Status ended;
  std::thread executor([&] { ended = RunExecutor(sockets[1], -1, cookers); });
  FrameReader reader;
  const auto receive = [&] {
    const auto frame = ReceiveFrame(sockets[0], reader);
    v1::FromExecutor message;
    EXPECT_TRUE(frame.ok() && frame->has_value() && message.ParseFromString((*frame)->bytes));
    return message.what_case();
  };
  EXPECT_EQ(receive(), v1::FromExecutor::kReady);
  for (const bool is_full : {false, true}) {
    v1::ToExecutor collect;
    collect.mutable_collect()->set_full(is_full);
    const std::string bytes = collect.SerializeAsString();
    const FrameView frame{FrameKind::kMessage, bytes};
    EXPECT_TRUE(SendFrames(sockets[0], {&frame, 1}).ok());
    EXPECT_EQ(receive(), v1::FromExecutor::kCollected);
  }
  ::close(sockets[0]);
  executor.join();
  ::close(sockets[1]);
  EXPECT_TRUE(ended.ok()) << ended;
  EXPECT_EQ(trims, 4);
}

}  // namespace
}  // namespace galley::worker
