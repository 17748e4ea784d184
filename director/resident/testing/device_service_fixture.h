// DeviceServiceTest: for tests of DeviceService: a project with two textures and a text, which is
// cooked by what the test says (FakeProject).
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/testing/await.h"
#include "common/tree/find_path.h"
#include "director/resident/device_service.h"
#include "director/resident/testing/device_test.h"
#include "director/resident/testing/fake_project.h"
#include "gtest/gtest.h"

namespace galley::director {

// HeldAnswer: an answer that comes on another thread.
template <typename Answer>
class HeldAnswer {
 public:
  std::function<void(const Answer&)> Taker() {
    return [state = state_](const Answer& answer) {
      base::MutexLock lock(state->mutex);
      EXPECT_FALSE(state->answer.has_value()) << "a second answer";
      state->answer = answer;
    };
  }
  bool is_there() const {
    base::MutexLock lock(state_->mutex);
    return state_->answer.has_value();
  }
  Answer Await() const {
    AwaitOrFail([&] { return is_there(); }, "an answer");
    base::MutexLock lock(state_->mutex);
    return state_->answer.value();
  }

 private:
  struct State {
    base::Mutex mutex;
    std::optional<Answer> answer GALLEY_GUARDED_BY(mutex);
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

inline const DeviceFile& FileOf(const DeviceAnswer& answer) {
  const auto* refusal = std::get_if<DeviceRefusal>(&answer);
  EXPECT_EQ(refusal, nullptr) << refusal->text;
  return std::get<DeviceFile>(answer);
}

inline const DeviceRefusal& RefusalIn(const DeviceAnswer& answer) {
  EXPECT_TRUE(std::holds_alternative<DeviceRefusal>(answer));
  return std::get<DeviceRefusal>(answer);
}

class DeviceServiceTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    Write("content/a.png", "a");
    Write("content/b.png", "b");
    Write("content/read.txt", "me");
  }
  void TearDown() override {
    service_.reset();
    DeviceTest::TearDown();
  }

  void Begin() {
    fake_.SetWorld(MakeNow());
    Serve();
  }
  void Serve() {
    service_ = std::make_unique<DeviceService>(
        DeviceService::Deps{.present = fake_,
                            .store = memory_,
                            .journal = *journal_,
                            .remaker = *remaker_,
                            .threads = threads_,
                            .trust_domain = "main",
                            .sessions = {.project = std::string(32, 'a'), .changes = {.term = 1}}});
  }
  // The files as they are now are the present world.
  void Edit(const std::string& path, const std::string& bytes) {
    Write(path, bytes);
    fake_.SetWorld(MakeNow());
    service_->NoteWorld();
  }

  HeldAnswer<DeviceAnswer> Ask(const std::string& path, std::vector<std::string> tags = {},
                               absl::Duration wait_max = kWaitMax) {
    HeldAnswer<DeviceAnswer> held;
    call_ = service_->ReadPresent(
        {.platform = "linux", .path = path, .known_tags = std::move(tags), .wait_max = wait_max},
        held.Taker());
    return held;
  }
  DeviceAnswer Get(const std::string& path) { return Ask(path).Await(); }
  HeldAnswer<DeviceAnswer> AskIn(const std::string& session, const std::string& path) {
    HeldAnswer<DeviceAnswer> held;
    call_ = service_->ReadInSession({.session = session, .path = path}, held.Taker());
    return held;
  }
  DeviceAnswer GetIn(const std::string& session, const std::string& path) {
    return AskIn(session, path).Await();
  }
  SessionAnswer TryOpen(SessionAsk ask) {
    HeldAnswer<SessionAnswer> held;
    call_ = service_->OpenSession(std::move(ask), kWaitMax, held.Taker());
    return held.Await();
  }
  DeviceSessionState Open(bool last_good = false) {
    return AwaitOpen({.platform = "linux", .last_good = last_good});
  }
  DeviceSessionState OpenFor(std::vector<std::string> cultures) {
    return AwaitOpen({.platform = "linux", .cultures = std::move(cultures)});
  }
  DeviceSessionState AwaitOpen(const SessionAsk& ask) {
    SessionAnswer answer;
    AwaitOrFail(
        [&] {
          answer = TryOpen(ask);
          return std::holds_alternative<DeviceSessionState>(answer);
        },
        "a session");
    return std::get<DeviceSessionState>(answer);
  }
  DeviceSessionState StateOf(const std::string& session) {
    return std::get<DeviceSessionState>(service_->RenewSession(session));
  }
  // A cook's result of the package in the present world.
  std::shared_ptr<StoredResult> ResultOfACook(const std::string& package) {
    auto stored = std::make_shared<StoredResult>();
    stored->package = package;
    stored->platform_name = "linux";
    stored->result = Made({{".ktx2", "of a cook"}});
    stored->action_key = Digest::Of("key of " + package);
    stored->holds_in = number_;
    return stored;
  }
  // Waits until the next director knows which sessions there were.
  void AwaitRestored(const std::string& session) {
    AwaitOrFail(
        [&] { return std::holds_alternative<DeviceSessionState>(service_->RenewSession(session)); },
        "the session of the director before");
  }
  // Waits until the present world of the session's audience has another root.
  void AwaitNewest(const std::string& session, const Digest& other_than) {
    AwaitOrFail(
        [&] {
          const auto newest = StateOf(session).newest_root;
          return newest.has_value() && *newest != other_than;
        },
        "a newer root");
  }
  // The file at a path of a session's root, as a client finds it that follows the links.
  std::optional<Digest> InTree(const Digest& root, const std::string& path) {
    const auto found = tree::FollowLinks(
        root, "static/" + path, [this](const Digest& digest) { return memory_.Get(digest); });
    EXPECT_TRUE(found.ok()) << found.status();
    const auto* file = std::get_if<tree::TreeFile>(&*found);
    return file == nullptr ? std::nullopt : std::optional(file->digest);
  }
  void AwaitUnleased(const Digest& root) {
    AwaitOrFail(
        [&] {
          const std::vector<store::RootLease> leases = memory_.Leases().value();
          return std::ranges::find(leases, root, &store::RootLease::root) == leases.end();
        },
        "the end of a lease");
  }
  void AwaitWaiting(const std::string& package, size_t askers = 1) {
    AwaitOrFail([&] { return fake_.Waiting().count(package) == askers; }, "an ask");
  }

  FakeProject fake_;
  OwnDeviceThreads threads_;
  std::unique_ptr<DeviceService> service_;
  DeviceCallPtr call_;
};

}  // namespace galley::director
