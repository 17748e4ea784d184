#include "director/resident/resident_director.h"

#include <grpcpp/create_channel_posix.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/testing/await.h"
#include "common/record/cooker_description.h"
#include "common/store/local/sessions.h"
#include "common/wire/testing/self_signed.h"
#include "director/host/testing/fake_listener.h"
#include "fmt/format.h"
#include "galley/v1/director.grpc.pb.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

// ResidentDirectorTest: a project in its own folder, with a script as worker that only describes
// itself.
class ResidentDirectorTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "resident").value();
    ASSERT_TRUE(CreateDirectories(JoinPath(folder_, "content")).ok());
    Write("galley.toml",
          "[project]\nname = \"tower\"\n[[mount]]\npath = \"/Game\"\ndir = \"content\"\n"
          "[[platform]]\nname = \"pc\"\n");
    Write("worker", fmt::format("#!/bin/sh\ncat <<'END'\n{}\nEND\n",
                                record::EncodeDescriptions({{.name = "copy", .identity = "1"}})));
    ASSERT_EQ(::chmod(JoinPath(folder_, "worker").c_str(), 0755), 0);
  }
  void TearDown() override { ASSERT_TRUE(RemoveAll(folder_).ok()); }

  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(JoinPath(folder_, name), text).ok());
  }
  absl::StatusOr<project::Project> Load() const {
    return project::LoadProject({.directory = folder_, .environment = {}, .overrides = {}});
  }

  ResidentDirector::Options OptionsOf(std::shared_ptr<const project::Project> project) const {
    return {.director = {.project = std::move(project),
                         .worker_program = JoinPath(folder_, "worker"),
                         .environment = {},
                         .hold = {.check = [](const std::string&) { return absl::OkStatus(); }}},
            .load = [this] { return Load(); },
            .build = {}};
  }

  std::string folder_;
  FakeListener listener_;
  Cancellation stop_;
};

TEST_F(ResidentDirectorTest, AnIdleOneRenewsItsSessionWithTheStore) {
  const auto project = std::make_shared<const project::Project>(Load().value());
  ResidentDirector::Options options = OptionsOf(project);
  options.rests_after = absl::ZeroDuration();
  auto resident = ResidentDirector::Open(std::move(options), listener_, stop_);
  ASSERT_TRUE(resident.ok()) << resident.status();
  std::thread live([&] {
    EXPECT_TRUE((*resident)
                    ->Live(listener_, stop_,
                           {.hands_over = [] { return false; },
                            .why = [] { return std::string("a test"); }})
                    .ok());
  });
  const auto is_renewed = [&] {
    const auto sessions = store::LiveSessions(project->store.directory);
    return sessions.ok() && sessions->size() == 1 &&
           sessions->at(0).begun > sessions->at(0).started;
  };
  AwaitOrFail(is_renewed, "the hold of the store that is renewed");
  (*resident)->Stop("anna, process 7");
  live.join();
  EXPECT_FALSE((*resident)->has_left());
}

// The workers end each second, and come back when somebody asks.
TEST_F(ResidentDirectorTest, AnIdleOneServesDevices) {
  Write("content/none.txt", "n");
  Write("content/none.txt.cook", "cooker = \"nobody\"\n");
  ResidentDirector::Options options =
      OptionsOf(std::make_shared<const project::Project>(Load().value()));
  options.rests_after = absl::ZeroDuration();
  options.serves_devices = true;
  auto resident = ResidentDirector::Open(std::move(options), listener_, stop_);
  ASSERT_TRUE(resident.ok()) << resident.status();
  PresentWorld& world = *(*resident)->present_world();
  AwaitOrFail([&] { return world.Get().ok(); }, "the world of devices");
  std::thread live([&] {
    EXPECT_TRUE((*resident)
                    ->Live(listener_, stop_,
                           {.hands_over = [] { return false; },
                            .why = [] { return std::string("a test"); }})
                    .ok());
  });
  for (int i = 0; i < 2; ++i) {
    const auto failed = std::make_shared<std::atomic<bool>>(false);
    ASSERT_TRUE(world
                    .Ask("/Game/none.txt", "pc",
                         [failed](const AskOutcome& outcome) {
                           *failed = std::holds_alternative<AskFailed>(outcome);
                         })
                    .ok());
    AwaitOrFail([&] { return failed->load(); }, "the outcome of an ask");
    AwaitOrFail([&] { return (*resident)->Status(v1::StatusAsk()).value().workers().empty(); },
                "workers that rest");
  }
  (*resident)->Stop("anna, process 7");
  live.join();
  EXPECT_FALSE(world.Get().ok() && world.Ask("/Game/none.txt", "pc", [](const auto&) {}).ok());
}

// DeviceDirectorTest: a director whose devices see copied files, which nobody has to cook.
class DeviceDirectorTest : public ResidentDirectorTest {
 protected:
  void SetUp() override {
    ResidentDirectorTest::SetUp();
    Write("galley.toml",
          "[project]\nname = \"tower\"\n[[mount]]\npath = \"/Game\"\ndir = \"content\"\n"
          "[[rule]]\nmatch = \"/Game/**\"\ncooker = \"copy\"\n[[platform]]\nname = \"pc\"\n");
    Write("worker",
          fmt::format("#!/bin/sh\ncat <<'END'\n{}\nEND\n",
                      record::EncodeDescriptions(
                          {{.name = "copy", .identity = "1", .outputs = {{.suffix = ""}}}})));
    ASSERT_EQ(::chmod(JoinPath(folder_, "worker").c_str(), 0755), 0);
    Write("content/a.txt", "one");
  }
  void TearDown() override {
    resident_.reset();
    ResidentDirectorTest::TearDown();
  }

  void Begin() {
    ResidentDirector::Options options =
        OptionsOf(std::make_shared<const project::Project>(Load().value()));
    options.serves_devices = true;
    auto resident = ResidentDirector::Open(std::move(options), listener_, stop_);
    ASSERT_TRUE(resident.ok()) << resident.status();
    resident_ = *std::move(resident);
  }
  DeviceCalls& devices() { return *resident_->devices(); }

  // Waits for the answer of a call.
  template <typename Answer, typename Call>
  static Answer Await(const Call& call) {
    absl::Notification is_there;
    std::optional<Answer> answer;
    const DeviceCallPtr waiting = call([&](const Answer& given) {
      answer = given;
      is_there.Notify();
    });
    EXPECT_TRUE(is_there.WaitForNotificationWithTimeout(kPatience));
    waiting->Cancel();
    return *answer;
  }
  DeviceSessionState OpenSession() {
    SessionAnswer answer;
    AwaitOrFail(
        [&] {
          answer = Await<SessionAnswer>([&](DeviceCalls::OnSession taker) {
            return devices().OpenSession({.platform = "pc"}, kPatience, std::move(taker));
          });
          return std::holds_alternative<DeviceSessionState>(answer);
        },
        "a session");
    return std::get<DeviceSessionState>(answer);
  }
  DeviceAnswer Read(const std::string& session, const std::string& path) {
    return Await<DeviceAnswer>([&](DeviceCalls::OnFile taker) {
      return devices().ReadInSession({.session = session, .path = path}, std::move(taker));
    });
  }
  Digest ReadDigest(const std::string& session, const std::string& path) {
    const DeviceAnswer answer = Read(session, path);
    const auto* const file = std::get_if<DeviceFile>(&answer);
    return file == nullptr ? Digest() : file->digest;
  }
  DeviceSessionState StateOf(const std::string& session) {
    return std::get<DeviceSessionState>(devices().RenewSession(session));
  }

  std::unique_ptr<ResidentDirector> resident_;
};

TEST_F(DeviceDirectorTest, ASessionSeesTheFilesOfItsOwnWorld) {
  Begin();
  const DeviceSessionState session = OpenSession();
  EXPECT_EQ(ReadDigest(session.id, "Game/a.txt"), Digest::Of("one"));
  Write("content/a.txt", "two");
  AwaitOrFail([&] { return StateOf(session.id).newest_root != session.root; }, "a newer world");
  EXPECT_EQ(ReadDigest(session.id, "Game/a.txt"), Digest::Of("one"));
  const DeviceSessionState newer = OpenSession();
  EXPECT_EQ(ReadDigest(newer.id, "Game/a.txt"), Digest::Of("two"));
}

TEST_F(DeviceDirectorTest, ASessionOutlivesItsDirector) {
  Begin();
  const DeviceSessionState session = OpenSession();
  resident_.reset();
  Begin();
  AwaitOrFail(
      [&] {
        return std::holds_alternative<DeviceSessionState>(devices().RenewSession(session.id)) &&
               StateOf(session.id).newest_root.has_value();
      },
      "the session");
  EXPECT_EQ(ReadDigest(session.id, "Game/a.txt"), Digest::Of("one"));
  EXPECT_FALSE(StateOf(session.id).is_frozen) << "the world is the same";
  EXPECT_EQ(StateOf(session.id).newest_root, session.root);
}

TEST_F(ResidentDirectorTest, ACookOfWhatAStoreLostIsForTheCommandThatHostsItsDirector) {
  auto resident = ResidentDirector::Open(
      OptionsOf(std::make_shared<const project::Project>(Load().value())), listener_, stop_);
  ASSERT_TRUE(resident.ok()) << resident.status();
  v1::CookAsk ask;
  ask.set_urgency_class("now");
  ask.set_repair(true);
  const auto reader = (*resident)->Read((*resident)->Cook(ask).value()).value();
  v1::CookEvent event;
  ASSERT_TRUE(AwaitOrFail(
      [&] {
        reader->Next(absl::Seconds(1), event);
        return event.has_report();
      },
      "the report of the cook"));
  EXPECT_EQ(event.report().end_code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
}

// Connects to the socket as soon as somebody listens there, and asks. Returns the answer's status;
// nothing if `is_over` is set before that.
std::optional<grpc::Status> AskEarly(const std::string& socket, bool for_status,
                                     const std::atomic<bool>& is_over) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  socket.copy(address.sun_path, sizeof(address.sun_path) - 1);
  FileDescriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  while (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address),
                   sizeof(address)) != 0) {
    if (is_over) return std::nullopt;
  }
  const auto channel = grpc::CreateInsecureChannelFromFd("early", connection.Release());
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  v1::StatusAnswer status;
  v1::HelloAnswer hello;
  const auto stub = v1::Resident::NewStub(channel);
  return for_status ? stub->Status(&context, v1::StatusAsk(), &status)
                    : stub->Hello(&context, v1::HelloAsk(), &hello);
}

TEST_F(ResidentDirectorTest, ClientsDoNotHoldUpADirectorThatCannotOpen) {
  // Many certificates take their time, and the last one is damaged: meanwhile the clients ask.
  const wire::SelfSigned own = wire::MakeSelfSigned("IP:127.0.0.1");
  std::string chain;
  while (chain.size() < 900'000) chain += own.certificate;
  Write("cert.pem", own.certificate);
  Write("key.pem", own.key);
  Write("ca.pem", chain + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  auto with_tls = Load().value();
  with_tls.farm.tls_cert = JoinPath(folder_, "cert.pem");
  with_tls.farm.tls_key = JoinPath(folder_, "key.pem");
  with_tls.farm.tls_ca = JoinPath(folder_, "ca.pem");
  const auto project = std::make_shared<const project::Project>(std::move(with_tls));
  std::atomic<bool> is_over = false;
  std::atomic<uint32_t> asked = 0;
  std::vector<std::thread> clients;
  for (const bool for_status : {true, false}) {
    clients.emplace_back([&, for_status] {
      while (const auto answer = AskEarly(SocketOf(*project), for_status, is_over)) {
        ++asked;
        EXPECT_NE(answer->error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
        EXPECT_TRUE(for_status || !answer->ok()) << "a director said that it is there";
      }
    });
  }
  {
    const WaitLimit limit("directors that cannot open");
    for (uint32_t i = 0; i < 5; ++i) {
      ResidentDirector::Options options = OptionsOf(project);
      options.listen = "127.0.0.1:0";
      EXPECT_FALSE(ResidentDirector::Open(std::move(options), listener_, stop_).ok());
    }
  }
  is_over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_GT(asked, 0u);
}

// PatientAudience: hears everything.
class PatientAudience final : public Audience {
 public:
  bool Tell(const v1::Shown&) override { return true; }
  bool IsThere() const override { return true; }
};

TEST_F(ResidentDirectorTest, EightCommandsRunForOthersAtATime) {
  std::atomic<uint32_t> running = 0;
  absl::Notification may_end;
  ResidentDirector::Options options =
      OptionsOf(std::make_shared<const project::Project>(Load().value()));
  options.show = [&](const v1::ShowAsk&, Audience&) {
    if (++running > ShownCommands::kRunningMax) return absl::OkStatus();
    may_end.WaitForNotification();
    return absl::OkStatus();
  };
  auto resident = ResidentDirector::Open(std::move(options), listener_, stop_);
  ASSERT_TRUE(resident.ok()) << resident.status();
  PatientAudience audience;
  std::vector<std::thread> askers;
  for (uint32_t i = 0; i < ShownCommands::kRunningMax; ++i)
    askers.emplace_back([&] { EXPECT_TRUE((*resident)->Show(v1::ShowAsk(), audience).ok()); });
  AwaitOrFail([&] { return running >= ShownCommands::kRunningMax; }, "eight commands that run");
  EXPECT_EQ(running, 8u);
  const absl::Status refused = (*resident)->Show(v1::ShowAsk(), audience);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(refused.message(),
            "8 commands run for others at this director now, and it runs no more at a time: ask "
            "again when one has ended");
  may_end.Notify();
  for (std::thread& asker : askers) asker.join();
  EXPECT_TRUE((*resident)->Show(v1::ShowAsk(), audience).ok()) << "all have ended";
}

}  // namespace
}  // namespace galley::director
