#include "worker/executor/executor_loop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <barrier>
#include <thread>

#include "common/base/testing/await.h"
#include "galley/v1/executor.pb.h"
#include "worker/executor/frame.h"
#include "worker/executor/testing/executor_world.h"

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

// RunningExecutor: an executor on a thread; the test talks to it as a session does.
class RunningExecutor {
 public:
  explicit RunningExecutor(const Cookers& cookers) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_), 0);
    thread_ = std::thread([this, &cookers] { ended_ = RunExecutor(sockets_[1], -1, cookers); });
    EXPECT_EQ(Receive(), v1::FromExecutor::kReady);
  }
  ~RunningExecutor() {
    const WaitLimit limit("the end of the executor");
    ::close(sockets_[0]);
    thread_.join();
    ::close(sockets_[1]);
    EXPECT_TRUE(ended_.ok()) << ended_;
  }

  v1::FromExecutor::WhatCase Receive() { return ReceiveMessage().what_case(); }
  v1::FromExecutor ReceiveMessage() {
    const WaitLimit limit("a message of the executor");
    const auto frame = ReceiveFrame(sockets_[0], reader_);
    v1::FromExecutor message;
    EXPECT_TRUE(frame.ok() && frame->has_value() && message.ParseFromString((*frame)->bytes));
    return message;
  }
  // Whether a message has arrived.
  bool HasSpoken() const {
    pollfd told{.fd = sockets_[0], .events = POLLIN, .revents = 0};
    return ::poll(&told, 1, 0) == 1;
  }
  void Send(const v1::ToExecutor& message) {
    const std::string bytes = message.SerializeAsString();
    const FrameView frame{FrameKind::kMessage, bytes};
    EXPECT_TRUE(SendFrames(sockets_[0], {&frame, 1}).ok());
  }

 private:
  int sockets_[2] = {-1, -1};
  FrameReader reader_;
  absl::Status ended_;
  std::thread thread_;
};

TEST(ExecutorLoopTest, EachCollectionDropsWhatEachCookerKeeps) {
  int trims = 0;
  Cookers cookers;
  for (int i = 0; i < 2; ++i) cookers.push_back(std::make_unique<CountingCooker>(trims));
  {
    RunningExecutor executor(cookers);
    for (const bool is_full : {false, true}) {
      v1::ToExecutor collect;
      collect.mutable_collect()->set_full(is_full);
      executor.Send(collect);
      EXPECT_EQ(executor.Receive(), v1::FromExecutor::kCollected);
    }
  }
  EXPECT_EQ(trims, 4);
}

// A cooker that stops when it begins to cook, until the test lets it go on.
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
    cooks_.arrive_and_wait();  // the cook has begun
    cooks_.arrive_and_wait();
    return absl::OkStatus();
  }

 private:
  std::barrier<>& cooks_;
  const bool has_news_;
  record::CookerDescription description_;
};

class ReportsTest : public ExecutorTestWorld {
 protected:
  // Makes the executor cook /Game/a.script.
  void Start(RunningExecutor& executor, int64_t expected_us = 0, bool is_awaited = false) {
    Write("/Game/a.script", "source");
    Scan();
    EXPECT_TRUE(snapshot_->WriteTable(root_ + "/table").ok());
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
    executor.Send(setup);
    executor.Send(job);
  }
  // Whether the executor told of the load while the job was being cooked.
  bool IsToldAtOnce(int64_t expected_us, bool has_news, bool is_awaited = false) {
    const WaitLimit limit("a job that stops when its cook begins");
    std::barrier<> cooks(2);
    Cookers cookers;
    cookers.push_back(std::make_unique<StoppingCooker>(cooks, has_news));
    RunningExecutor executor(cookers);
    Start(executor, expected_us, is_awaited);
    cooks.arrive_and_wait();
    const bool is_told = executor.HasSpoken();
    cooks.arrive_and_wait();
    EXPECT_EQ(executor.Receive(), v1::FromExecutor::kLoaded);
    EXPECT_EQ(executor.Receive(), v1::FromExecutor::kSaved);
    EXPECT_EQ(executor.Receive(), v1::FromExecutor::kDone);
    return is_told;
  }
};

TEST_F(ReportsTest, TheLoadOfAShortJobGoesWithItsResultUnlessTheCookGoesOnWithIt) {
  EXPECT_TRUE(IsToldAtOnce(1'000'000, false));
  EXPECT_TRUE(IsToldAtOnce(0, false)) << "nobody knows how long it takes";
  EXPECT_TRUE(IsToldAtOnce(100, true)) << "it names a package";
  EXPECT_TRUE(IsToldAtOnce(100, false, /*is_awaited=*/true));
  EXPECT_FALSE(IsToldAtOnce(100, false));
}

// A cooker that touches `bytes` bytes of memory when it cooks.
class HungryCooker final : public Cooker {
 public:
  explicit HungryCooker(size_t& bytes) : bytes_(bytes) {
    description_.name = "script";
    description_.identity = "1";
  }
  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext&) override {
    return std::make_unique<Loaded>();
  }
  absl::Status Cook(CookContext&, Loaded&) override {
    return std::string(bytes_, 'x').find('y') == std::string::npos
               ? absl::OkStatus()
               : absl::InternalError("what is this?");
  }

 private:
  size_t& bytes_;
  record::CookerDescription description_;
};

TEST_F(ReportsTest, WhoTookMoreMemoryThanAllBeforeSaysHowMuch) {
  rusage before{};
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &before), 0);
  const size_t more = static_cast<size_t>(before.ru_maxrss) * 1024 + (64 << 20);
  size_t bytes = 1;
  Cookers cookers;
  cookers.push_back(std::make_unique<HungryCooker>(bytes));
  RunningExecutor executor(cookers);
  for (const size_t next : {size_t{1}, more, size_t{1}}) {
    bytes = next;
    Start(executor);
    EXPECT_EQ(executor.Receive(), v1::FromExecutor::kLoaded);
    const v1::FromExecutor saved = executor.ReceiveMessage();
    ASSERT_TRUE(saved.has_saved());
    if (next == more) {
      EXPECT_GE(saved.saved().memory_peak_bytes(), more);
    } else {
      EXPECT_LT(saved.saved().memory_peak_bytes(), more);
    }
    EXPECT_EQ(executor.Receive(), v1::FromExecutor::kDone);
  }
}

}  // namespace
}  // namespace galley::worker
