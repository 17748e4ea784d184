#include "worker/executor/executor_loop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <barrier>
#include <thread>

#include "galley/v1/executor.pb.h"
#include "worker/executor/executor_test_world.h"
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

// A cooker that stops when it begins to cook, until it is let go on.
class StoppingCooker final : public Cooker {
 public:
  StoppingCooker(std::barrier<>& cooks, bool has_news) : cooks_(cooks), has_news_(has_news) {
    description_.name = "script";
    description_.identity = "1";
  }
  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) override {
    if (has_news_) context.AddReference(record::ReferenceKind::kSoft, "other.script");
    return std::make_unique<Loaded>();
  }
  absl::Status Cook(CookContext&, Loaded&) override {
    cooks_.arrive_and_wait();  // it has begun
    cooks_.arrive_and_wait();
    return absl::OkStatus();
  }

 private:
  std::barrier<>& cooks_;
  const bool has_news_;
  record::CookerDescription description_;
};

class LoadReportTest : public ExecutorTestWorld {
 protected:
  // Whether the load was told of while the job was being cooked.
  bool IsToldAtOnce(int64_t expected_us, bool has_news, bool is_awaited = false) {
    Write("/Game/a.script", "source");
    Scan();
    EXPECT_TRUE(snapshot_->WriteTable(root_ + "/table").ok());
    int sockets[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    std::barrier<> cooks(2);
    Cookers cookers;
    cookers.push_back(std::make_unique<StoppingCooker>(cooks, has_news));
    std::thread executor([&] { EXPECT_TRUE(RunExecutor(sockets[1], -1, cookers).ok()); });
    FrameReader reader;
    const auto receive = [&] {
      const auto frame = ReceiveFrame(sockets[0], reader);
      v1::FromExecutor message;
      EXPECT_TRUE(frame.ok() && frame->has_value() && message.ParseFromString((*frame)->bytes));
      return message.what_case();
    };
    EXPECT_EQ(receive(), v1::FromExecutor::kReady);
    v1::ToExecutor setup, job;
    setup.mutable_setup()->set_scratch_directory(root_);
    setup.mutable_setup()->set_project_root(root_);
    job.mutable_job()->set_snapshot_file(root_ + "/table");
    job.mutable_job()->add_platforms()->set_name("linux");
    v1::Job& what = *job.mutable_job()->mutable_job();
    what.set_attempt(1);
    what.set_package("/Game/a.script");
    what.set_expected_us(expected_us);
    what.set_is_awaited(is_awaited);
    what.add_targets()->set_recipe(record::EncodeRecipe(RecipeOf()));
    for (const v1::ToExecutor& message : {setup, job}) {
      const std::string bytes = message.SerializeAsString();
      const FrameView frame{FrameKind::kMessage, bytes};
      EXPECT_TRUE(SendFrames(sockets[0], {&frame, 1}).ok());
    }
    cooks.arrive_and_wait();
    pollfd told{.fd = sockets[0], .events = POLLIN, .revents = 0};
    const bool is_told = ::poll(&told, 1, 0) == 1;
    cooks.arrive_and_wait();
    EXPECT_EQ(receive(), v1::FromExecutor::kLoaded);
    EXPECT_EQ(receive(), v1::FromExecutor::kSaved);
    EXPECT_EQ(receive(), v1::FromExecutor::kDone);
    ::close(sockets[0]);
    executor.join();
    ::close(sockets[1]);
    return is_told;
  }
};

TEST_F(LoadReportTest, OfAShortJobGoesWithItsResultUnlessTheCookGoesOnWithIt) {
  EXPECT_TRUE(IsToldAtOnce(1'000'000, false));
  EXPECT_TRUE(IsToldAtOnce(100, true)) << "it names a package";
  EXPECT_TRUE(IsToldAtOnce(100, false, /*is_awaited=*/true));
  EXPECT_FALSE(IsToldAtOnce(100, false));
}

}  // namespace
}  // namespace galley::worker
