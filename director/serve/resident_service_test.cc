#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "director/serve/client_calls.h"
#include "director/serve/director_client.h"
#include "director/serve/director_door.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;

// FakeResident: a director with one cook, whose events the test puts in.
class FakeResident final : public ClientCalls {
 public:
  absl::StatusOr<v1::HelloAnswer> Hello(const v1::HelloAsk& ask) override {
    v1::HelloAnswer answer;
    *answer.mutable_director() = ask.client();
    answer.set_process(42);
    return answer;
  }
  absl::StatusOr<uint64_t> Cook(const v1::CookAsk& ask) override {
    {
      base::MutexLock lock(mutex_);
      asked_by_ = ask.asked_by();
    }
    if (ask.urgency_class().empty()) return absl::InvalidArgumentError("no class");
    return 7;
  }
  absl::StatusOr<std::unique_ptr<CookReader>> Read(uint64_t cook) override {
    if (cook != 7) return absl::NotFoundError("no such cook");
    return std::make_unique<Reader>(*this);
  }
  absl::Status Cancel(uint64_t cook) override {
    base::MutexLock lock(mutex_);
    cancelled_.push_back(cook);
    changed_.NotifyAll();
    return absl::OkStatus();
  }
  absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk&) override {
    return v1::StatusAnswer();
  }
  absl::StatusOr<v1::DrainAnswer> Drain(const v1::DrainAsk&) override { return v1::DrainAnswer(); }
  absl::StatusOr<v1::CleanAnswer> Clean(const v1::CleanAsk&) override {
    return absl::NotFoundError("in no cook");
  }
  v1::StopAnswer Stop(const std::string& who) override {
    base::MutexLock lock(mutex_);
    stopped_by_ = who;
    return {};
  }
  absl::Status Show(const v1::ShowAsk& ask, Audience& audience) override {
    if (ask.why().package().empty() && !ask.has_logs())
      return absl::InvalidArgumentError("no package");
    v1::Shown shown;
    while (ask.logs().follow() && audience.IsThere()) {
      shown.set_output("more");
      audience.Tell(shown);
    }
    if (!audience.IsThere()) {
      base::MutexLock lock(mutex_);
      has_lost_audience_ = true;
      changed_.NotifyAll();
      return absl::CancelledError("nobody listens");
    }
    shown.set_output("because");
    audience.Tell(shown);
    shown.set_exit_code(1);
    audience.Tell(shown);
    return absl::OkStatus();
  }
  std::string asked_by() {
    base::MutexLock lock(mutex_);
    return asked_by_;
  }
  std::string stopped_by() {
    base::MutexLock lock(mutex_);
    return stopped_by_;
  }
  void AwaitLostAudience() {
    const WaitLimit limit("a command whose audience has left");
    base::MutexLock lock(mutex_);
    while (!has_lost_audience_) changed_.Wait(mutex_);
  }

  void Say(const std::string& text) {
    v1::CookEvent event;
    event.set_said(text);
    Push(std::move(event));
  }
  void End() {
    v1::CookEvent event;
    event.mutable_report();
    Push(std::move(event));
  }
  std::vector<uint64_t> AwaitCancelled() {
    const WaitLimit limit("a cook that is cancelled");
    base::MutexLock lock(mutex_);
    while (cancelled_.empty()) changed_.Wait(mutex_);
    return cancelled_;
  }

 private:
  class Reader final : public CookReader {
   public:
    explicit Reader(FakeResident& from) : from_(from) {}
    Got Next(absl::Duration patience, v1::CookEvent& event) override {
      base::MutexLock lock(from_.mutex_);
      if (is_over_) return Got::kEnd;
      if (next_ == from_.events_.size())
        from_.changed_.WaitFor(from_.mutex_, absl::ToChronoNanoseconds(patience));
      if (next_ == from_.events_.size()) return Got::kNothingYet;
      event = from_.events_[next_++];
      is_over_ = event.has_report();
      return Got::kEvent;
    }

   private:
    FakeResident& from_;
    size_t next_ = 0;
    bool is_over_ = false;
  };

  void Push(v1::CookEvent event) {
    base::MutexLock lock(mutex_);
    events_.push_back(std::move(event));
    changed_.NotifyAll();
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<v1::CookEvent> events_ GALLEY_GUARDED_BY(mutex_);
  std::vector<uint64_t> cancelled_ GALLEY_GUARDED_BY(mutex_);
  std::string asked_by_ GALLEY_GUARDED_BY(mutex_);
  std::string stopped_by_ GALLEY_GUARDED_BY(mutex_);
  bool has_lost_audience_ GALLEY_GUARDED_BY(mutex_) = false;
};

// FakeHosted: a cook that a command hosts.
class FakeHosted final : public StatusCalls {
 public:
  absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask) override {
    v1::StatusAnswer answer;
    answer.set_is_hosted(true);
    answer.set_project(ask.worker());
    return answer;
  }
};

v1::BuildIdentity Build() {
  v1::BuildIdentity build;
  build.set_build("b1");
  return build;
}

v1::CookAsk Ask() {
  v1::CookAsk ask;
  ask.set_urgency_class("nightly");
  return ask;
}

class ResidentServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "resident").value();
    path_ = JoinPath(folder_, "s");
    door_ = DirectorDoor::Open(path_, &resident_).value();
    client_ = DirectorClient::Find(path_, Build()).value();
    ASSERT_NE(client_, nullptr);
  }
  void TearDown() override {
    client_.reset();
    door_.reset();
    ASSERT_TRUE(RemoveAll(folder_).ok());
  }
  std::string folder_, path_;
  FakeResident resident_;
  std::unique_ptr<DirectorDoor> door_;
  std::unique_ptr<DirectorClient> client_;
};

TEST_F(ResidentServiceTest, ACookTellsItsEventsUntilItsReport) {
  EXPECT_EQ(client_->director().process(), 42u);
  EXPECT_EQ(client_->director().director().build(), "b1");
  const auto stream = client_->Cook(Ask());
  resident_.Say("one");
  resident_.Say("two");
  resident_.End();
  std::vector<std::string> said;
  v1::CookEvent event;
  while (stream->Next(event)) said.push_back(event.said());
  EXPECT_THAT(said, ElementsAre("one", "two", ""));
  EXPECT_TRUE(stream->End().ok());
}

TEST_F(ResidentServiceTest, ARefusalArrivesWithItsText) {
  const auto stream = client_->Cook(v1::CookAsk());
  v1::CookEvent event;
  EXPECT_FALSE(stream->Next(event));
  EXPECT_EQ(stream->End(), absl::InvalidArgumentError("no class"));
  EXPECT_TRUE(absl::IsNotFound(client_->Clean(v1::CleanAsk()).status()));
}

TEST_F(ResidentServiceTest, AClientThatGoesAwayEndsItsCookAndAFollowerDoesNot) {
  {
    const auto follower = client_->Follow(7);
    resident_.Say("one");
    v1::CookEvent event;
    ASSERT_TRUE(follower->Next(event));
  }
  {
    const auto stream = client_->Cook(Ask());
    resident_.Say("two");
    v1::CookEvent event;
    ASSERT_TRUE(stream->Next(event));
  }
  EXPECT_THAT(resident_.AwaitCancelled(), ElementsAre(7u));
}

TEST_F(ResidentServiceTest, AReaderOfADirectorThatEndsHearsThatItIsGone) {
  const auto stream = client_->Cook(Ask());
  resident_.Say("one");
  v1::CookEvent event;
  ASSERT_TRUE(stream->Next(event));
  door_.reset();
  EXPECT_FALSE(stream->Next(event));
}

TEST_F(ResidentServiceTest, ADirectorOfACommandIsNotFoundAndThatOfAnotherUserIsNamed) {
  const std::string other = JoinPath(folder_, "hosted");
  const auto hosted = DirectorDoor::Open(other);
  ASSERT_TRUE(hosted.ok());
  const auto found = DirectorClient::Find(other, Build());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, nullptr);
  EXPECT_EQ(*DirectorClient::Find(JoinPath(folder_, "none"), Build()), nullptr);
  if (::geteuid() == 0) GTEST_SKIP() << "root may connect to any socket";
  ASSERT_EQ(::chmod(path_.c_str(), 0), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(DirectorClient::Find(path_, Build()).status()));
}

TEST_F(ResidentServiceTest, TheCookOfACommandIsAskedHowItGetsOnAndNothingElse) {
  const std::string other = JoinPath(folder_, "hosted");
  FakeHosted cook;
  const auto hosted = DirectorDoor::Open(other, nullptr, &cook);
  ASSERT_TRUE(hosted.ok());
  EXPECT_EQ(*DirectorClient::Find(other, Build()), nullptr) << "it takes no cooks";
  const auto client = HostedClient::Find(other);
  ASSERT_NE(client, nullptr);
  v1::StatusAsk ask;
  ask.set_worker("local-1");
  const auto status = client->Status(ask);
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_TRUE(status->is_hosted());
  EXPECT_EQ(status->project(), "local-1");
  EXPECT_EQ(HostedClient::Find(JoinPath(folder_, "none")), nullptr);
  EXPECT_TRUE(absl::IsUnimplemented(HostedClient::Find(path_)->Status().status()))
      << "a resident one has its own call";
}

TEST_F(ResidentServiceTest, WhoAsksIsToldToTheDirector) {
  const std::string own = fmt::format(", process {}", ::getpid());
  const auto stream = client_->Cook(v1::CookAsk());
  v1::CookEvent event;
  EXPECT_FALSE(stream->Next(event));
  EXPECT_THAT(resident_.asked_by(), testing::EndsWith(own));
  ASSERT_TRUE(client_->Stop().ok());
  EXPECT_THAT(resident_.stopped_by(), testing::EndsWith(own));
}

TEST_F(ResidentServiceTest, WhatACommandPrintsArrivesWithItsExitCode) {
  v1::ShowAsk ask;
  ask.mutable_why()->set_package("/Game/a.png");
  const auto stream = client_->Show(ask);
  v1::Shown shown;
  ASSERT_TRUE(stream->Next(shown));
  EXPECT_EQ(shown.output(), "because");
  ASSERT_TRUE(stream->Next(shown));
  EXPECT_EQ(shown.exit_code(), 1);
  EXPECT_FALSE(stream->Next(shown));
  EXPECT_TRUE(stream->End().ok());
  const auto refused = client_->Show(v1::ShowAsk());
  EXPECT_FALSE(refused->Next(shown));
  EXPECT_EQ(refused->End(), absl::InvalidArgumentError("no package"));
}

TEST_F(ResidentServiceTest, WhatIsPrintedEndsWithItsClientAndEndsWellWithTheDirector) {
  v1::ShowAsk ask;
  ask.mutable_logs()->set_follow(true);
  v1::Shown shown;
  {
    const auto leaves = client_->Show(ask);
    ASSERT_TRUE(leaves->Next(shown));
  }
  resident_.AwaitLostAudience();
  const auto stays = client_->Show(ask);
  ASSERT_TRUE(stays->Next(shown));
  std::thread reader([&] {
    while (stays->Next(shown)) {
    }
  });
  const WaitLimit limit("the end of what is printed when the director ends");
  door_.reset();
  reader.join();
  EXPECT_EQ(shown.what_case(), v1::Shown::kExitCode);
  EXPECT_EQ(shown.exit_code(), 0);
  EXPECT_TRUE(stays->End().ok());
  EXPECT_TRUE(client_->HasEnded());
}

}  // namespace
}  // namespace galley::director
