#include "director/serve/worker_service.h"

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>

#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "common/wire/channel.h"
#include "common/wire/worker_protocol.h"
#include "director/serve/farm_door.h"
#include "fmt/format.h"
#include "galley/v1/worker.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// FakeStream: one stream, as a worker opens it.
class FakeStream {
 public:
  explicit FakeStream(const std::string& address)
      : stub_(v1::Director::NewStub(wire::OpenChannel(address))),  // a connection of its own
        stream_(stub_->Attach(&context_)) {}
  ~FakeStream() { context_.TryCancel(); }

  bool Write(const v1::FromWorker& message) { return stream_->Write(message); }
  bool Read(v1::ToWorker& message) {
    const WaitLimit limit("a message to the worker, or the end of its stream");
    return stream_->Read(&message);
  }
  // Sends nothing more, and returns how the stream ended.
  grpc::Status Finish() {
    const WaitLimit limit("the end of a worker's stream");
    stream_->WritesDone();
    v1::ToWorker message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }

  // Returns a trailer of the stream; nullopt: no trailer has that name.
  std::optional<std::string> Trailer(const std::string& name) const {
    const auto& trailers = context_.GetServerTrailingMetadata();
    const auto found = trailers.find(name);
    if (found == trailers.end()) return std::nullopt;
    return std::string(found->second.data(), found->second.size());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Director::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FromWorker, v1::ToWorker>> stream_;
};

v1::FromWorker Hello(const std::string& worker, const std::string& token,
                     uint32_t protocol = wire::kWorkerProtocol) {
  v1::FromWorker message;
  message.mutable_hello()->set_worker_id(worker);
  message.mutable_hello()->set_token(token);
  message.mutable_hello()->set_protocol(protocol);
  return message;
}

// WorkerServiceTest: notes what the service tells: "hello local-1", "message local-1 sequence 2",
// "detach local-1".
class WorkerServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "serve").value();
    StartAt(JoinPath(folder_, "s"));
  }
  void TearDown() override {
    service_.reset();
    ASSERT_TRUE(RemoveAll(folder_).ok());
  }
  void StartAt(const std::string& path, const AttachLimits::Options& limits = {}) {
    service_.reset();
    auto service = WorkerService::Start(
        path,
        {.on_attach = [this](const std::string& worker,
                             const v1::FromWorker&) -> absl::StatusOr<v1::ToWorker> {
           Note("attach " + worker);
           if (on_attach_) on_attach_(worker);
           base::MutexLock lock(mutex_);
           if (!attach_error_.ok()) return attach_error_;
           v1::ToWorker welcome;
           welcome.mutable_welcome()->set_protocol(wire::kWorkerProtocol);
           return welcome;
         },
         .on_message =
             [this](const std::string& worker, const v1::FromWorker& message,
                    absl::FunctionRef<bool()> is_present) {
               if (on_message_) on_message_(message);
               if (is_present())
                 Note((message.has_hello() ? "hello " : "message ") + worker + " " +
                      std::to_string(message.sequence()));
             },
         .on_detach = [this](const std::string& worker) { Note("detach " + worker); }},
        {}, limits);
    ASSERT_TRUE(service.ok()) << service.status();
    service_ = std::move(*service);
  }
  void Note(std::string text) {
    {
      base::MutexLock lock(mutex_);
      notes_.push_back(std::move(text));
    }
    noted_.NotifyAll();
  }
  // Blocks until `count` things were noted.
  std::vector<std::string> Notes(size_t count) {
    const WaitLimit limit(fmt::format("{} notes", count));
    base::MutexLock lock(mutex_);
    while (notes_.size() < count) noted_.Wait(mutex_);
    return notes_;
  }
  void RefuseAttach(absl::Status error) {
    base::MutexLock lock(mutex_);
    attach_error_ = std::move(error);
  }
  grpc::Status EndOf(const v1::FromWorker& first) {
    FakeStream stream(service_->address());
    stream.Write(first);
    return stream.Finish();
  }

  std::string folder_;
  base::Mutex mutex_;
  base::CondVar noted_;
  std::vector<std::string> notes_ GALLEY_GUARDED_BY(mutex_);
  absl::Status attach_error_ GALLEY_GUARDED_BY(mutex_);
  std::function<void(const std::string& worker)> on_attach_;
  std::function<void(const v1::FromWorker& message)> on_message_;
  std::atomic<bool> is_over_ = false;
  std::unique_ptr<WorkerService> service_;
};

TEST_F(WorkerServiceTest, AWorkerThatCameByItselfShowsTheCommonToken) {
  EXPECT_EQ(EndOf(Hello("node-7", "common")).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  service_->ExpectForeign("common", [](std::string_view id) { return id.starts_with("local-"); });
  service_->Expect("local-1", "secret");
  EXPECT_TRUE(EndOf(Hello("node-7", "common")).ok());
  for (const auto& [worker, token] :
       std::vector<std::pair<std::string, std::string>>{{"node-7", "secret"},
                                                        {"node-7", ""},
                                                        {"local-1", "common"},
                                                        {"local-2", "common"},
                                                        {"", "common"},
                                                        {std::string(300, 'n'), "common"}})
    EXPECT_EQ(EndOf(Hello(worker, token)).error_code(), grpc::StatusCode::UNAUTHENTICATED)
        << worker << " " << token;
}

// Nothing is made for the refused worker: no log, no place in the status.
TEST_F(WorkerServiceTest, OneOfAFloodIsToldWhenToComeAgainAndIsNotTakenIn) {
  StartAt(JoinPath(folder_, "few"), {.burst = 2, .per_second = 0.001});
  service_->ExpectForeign("common", [](std::string_view id) { return id.starts_with("local-"); });
  service_->Expect("local-1", "secret");
  EXPECT_TRUE(EndOf(Hello("node-1", "common")).ok());
  EXPECT_TRUE(EndOf(Hello("node-2", "common")).ok());
  FakeStream third(service_->address());
  third.Write(Hello("node-3", "common"));
  const grpc::Status refused = third.Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(),
              testing::HasSubstr("too many workers attach from this machine: come again in "));
  const auto wait = third.Trailer(wire::kComeAgainMs);
  ASSERT_TRUE(wait.has_value());
  EXPECT_GT(std::stoi(*wait), 0);
  EXPECT_FALSE(service_->IsAttached("node-3"));
  {
    base::MutexLock lock(mutex_);
    EXPECT_THAT(notes_, testing::Not(testing::Contains(testing::HasSubstr("node-3"))));
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(EndOf(Hello("local-1", "secret")).ok()) << "a launcher was asked for it";
}

TEST_F(WorkerServiceTest, ANameThatIsTakenIsFreeWhenItsWorkerIsGone) {
  service_->ExpectForeign("common", [](std::string_view id) { return id.starts_with("local-"); });
  v1::FromWorker first = Hello("node-7", "common"), second = first;
  first.mutable_hello()->set_session(1);
  first.mutable_hello()->set_machine("here");
  second.mutable_hello()->set_session(2);
  {
    FakeStream stream(service_->address());
    stream.Write(first);
    Notes(2);  // attach, hello
    EXPECT_TRUE(service_->IsAttached("node-7"));
    const grpc::Status refused = EndOf(second);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE) << "it is to come again";
    EXPECT_THAT(refused.error_message(), testing::HasSubstr("attached from here"));
  }
  Notes(3);  // detach
  EXPECT_FALSE(service_->IsAttached("node-7"));
  EXPECT_TRUE(EndOf(second).ok());
}

TEST_F(WorkerServiceTest, AProcessThatWasStartedAgainElsewhereHasTheNameForGood) {
  service_->Expect("slurm-1", "secret");
  v1::FromWorker first = Hello("slurm-1", "secret"), second = first;
  first.mutable_hello()->set_session(1);
  second.mutable_hello()->set_session(2);
  v1::ToWorker welcome;
  FakeStream cut_off(service_->address());
  cut_off.Write(first);
  ASSERT_TRUE(cut_off.Read(welcome));
  FakeStream present(service_->address());
  present.Write(second);
  ASSERT_TRUE(present.Read(welcome));
  EXPECT_FALSE(cut_off.Finish().ok());
  const grpc::Status refused = EndOf(first);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << "it is not to come";
  EXPECT_THAT(refused.error_message(), testing::HasSubstr("another process"));
  EXPECT_TRUE(service_->IsAttached("slurm-1"));
  EXPECT_TRUE(present.Finish().ok());
}

TEST_F(WorkerServiceTest, OneWhoseStreamIsEndedMayAttachAgain) {
  service_->Expect("slurm-1", "secret");
  v1::ToWorker welcome;
  FakeStream silent(service_->address());
  silent.Write(Hello("slurm-1", "secret"));
  ASSERT_TRUE(silent.Read(welcome));
  service_->HangUp("slurm-1");
  service_->HangUp("slurm-2");
  EXPECT_FALSE(silent.Finish().ok());
  EXPECT_TRUE(EndOf(Hello("slurm-1", "secret")).ok());
}

TEST_F(WorkerServiceTest, BytesAreForWorkersThatAreAttached) {
  service_->ExpectForeign("common", [](std::string_view id) { return id.starts_with("local-"); });
  const auto fetch = [&](const std::string& token) {
    grpc::ClientContext context;
    v1::FetchRequest request;
    request.mutable_caller()->set_worker_id("node-7");
    request.mutable_caller()->set_token(token);
    const auto stub = v1::Director::NewStub(
        grpc::CreateChannel(service_->address(), grpc::InsecureChannelCredentials()));
    const auto reader = stub->Fetch(&context, request);
    v1::FetchPiece piece;
    while (reader->Read(&piece)) {
    }
    return reader->Finish().error_code();
  };
  EXPECT_EQ(fetch("common"), grpc::StatusCode::UNAVAILABLE);
  FakeStream stream(service_->address());
  stream.Write(Hello("node-7", "common"));
  Notes(2);  // attach, hello
  EXPECT_EQ(fetch("wrong"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(fetch("common"), grpc::StatusCode::UNIMPLEMENTED) << "this service has no bytes";
}

TEST_F(WorkerServiceTest, AtTheFarmsDoorWorkersAttachAndNobodyAsksQuestions) {
  service_->ExpectForeign("common", [](std::string_view id) { return id.starts_with("local-"); });
  auto door = OpenFarmDoor({.address = "127.0.0.1:0", .tls = {}}, service_->calls());
  ASSERT_TRUE(door.ok()) << door.status();
  FakeStream stream((*door)->address());
  stream.Write(Hello("node-7", "common"));
  v1::ToWorker welcome;
  EXPECT_TRUE(stream.Read(welcome));
  EXPECT_TRUE(welcome.has_welcome());
  const auto stub = v1::Director::NewStub(
      grpc::CreateChannel((*door)->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::PackageAnswer answer;
  EXPECT_EQ(stub->Ask(&context, v1::PackageQuestion(), &answer).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  service_->Stop();
  door->reset();
}

TEST_F(WorkerServiceTest, TheFarmsDoorIsOpenedOnThisMachineAlone) {
  for (const char* address : {"0.0.0.0:0", "10.1.2.3:0", "cook.studio:9010", "unix:/tmp/x"})
    EXPECT_TRUE(absl::IsFailedPrecondition(
        OpenFarmDoor({.address = address, .tls = {}}, service_->calls()).status()))
        << address;
}

// A snapshot that is made while the worker's welcome is written.
TEST_F(WorkerServiceTest, WhatIsSentToAWorkerThatAttachesFollowsItsWelcome) {
  on_attach_ = [this](const std::string& worker) {
    v1::ToWorker message;
    message.mutable_snapshot()->set_number(2);
    service_->Send(worker, std::move(message));
  };
  service_->Expect("local-1", "secret");
  FakeStream stream(service_->address());
  ASSERT_TRUE(stream.Write(Hello("local-1", "secret")));
  v1::ToWorker message;
  ASSERT_TRUE(stream.Read(message));
  EXPECT_TRUE(message.has_welcome());
  EXPECT_EQ(message.sequence(), 1u);
  v1::ToWorker last;
  last.add_persisted(10);
  service_->Send("local-1", std::move(last));
  ASSERT_TRUE(stream.Read(message));
  EXPECT_EQ(message.snapshot().number(), 2u);
  EXPECT_EQ(message.sequence(), 2u);
}

TEST_F(WorkerServiceTest, AWorkerIsWelcomedAndMessagesGoBothWaysInOrder) {
  service_->Expect("local-1", "secret");
  FakeStream stream(service_->address());
  ASSERT_TRUE(stream.Write(Hello("local-1", "secret")));
  v1::ToWorker message;
  ASSERT_TRUE(stream.Read(message));
  EXPECT_TRUE(message.has_welcome());
  EXPECT_EQ(message.sequence(), 1u);
  for (uint64_t i = 1; i <= 3; ++i) {
    v1::FromWorker out;
    out.set_sequence(i);
    ASSERT_TRUE(stream.Write(out));
  }
  EXPECT_THAT(Notes(5), ElementsAre("attach local-1", "hello local-1 0", "message local-1 1",
                                    "message local-1 2", "message local-1 3"));
  for (uint64_t report = 10; report < 13; ++report) {
    v1::ToWorker out;
    out.add_persisted(report);
    service_->Send("local-1", std::move(out));
  }
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(stream.Read(message));
    EXPECT_EQ(message.sequence(), 2 + i);
    EXPECT_THAT(message.persisted(), ElementsAre(10 + i));
  }
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_EQ(Notes(6).back(), "detach local-1");
}

TEST_F(WorkerServiceTest, AWrongTokenAndAnUnknownWorkerAreRefused) {
  service_->Expect("local-1", "secret");
  service_->Expect("local-2", "");
  for (const v1::FromWorker& hello : {Hello("local-1", "guess"), Hello("local-1", ""),
                                      Hello("local-3", "secret"), Hello("local-2", "")}) {
    EXPECT_EQ(EndOf(hello).error_code(), grpc::StatusCode::UNAUTHENTICATED)
        << hello.hello().worker_id();
  }
  EXPECT_THAT(Notes(0), IsEmpty());
}

TEST_F(WorkerServiceTest, AnotherProtocolIsRefusedWithBothNumbers) {
  service_->Expect("local-1", "secret");
  const grpc::Status status = EndOf(Hello("local-1", "secret", wire::kWorkerProtocol + 1));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(),
              testing::AllOf(testing::HasSubstr(std::to_string(wire::kWorkerProtocol)),
                             testing::HasSubstr(std::to_string(wire::kWorkerProtocol + 1))));
}

TEST_F(WorkerServiceTest, AStreamThatDoesNotBeginWithHelloIsRefused) {
  v1::FromWorker message;
  message.set_sequence(1);
  EXPECT_EQ(EndOf(message).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(WorkerServiceTest, WhatAttachAnswersEndsTheStreamWithItsReason) {
  service_->Expect("local-1", "secret");
  RefuseAttach(absl::FailedPreconditionError("another build of galley-worker"));
  const grpc::Status status = EndOf(Hello("local-1", "secret"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "another build of galley-worker");
  EXPECT_THAT(Notes(1), ElementsAre("attach local-1"))
      << "it was never there, so it does not leave";
}

TEST_F(WorkerServiceTest, ASecondStreamOfOneWorkerReplacesTheFirstWithoutADetach) {
  service_->Expect("local-1", "secret");
  FakeStream first(service_->address());
  ASSERT_TRUE(first.Write(Hello("local-1", "secret")));
  v1::ToWorker message;
  ASSERT_TRUE(first.Read(message));
  Notes(2);  // the hello is told while its welcome is on the way
  FakeStream second(service_->address());
  ASSERT_TRUE(second.Write(Hello("local-1", "secret")));
  ASSERT_TRUE(second.Read(message));
  EXPECT_FALSE(first.Finish().ok());
  Notes(4);  // both attached
  v1::ToWorker out;
  out.add_cancel(5);
  service_->Send("local-1", out);
  ASSERT_TRUE(second.Read(message));
  EXPECT_THAT(message.cancel(), ElementsAre(5));
  EXPECT_TRUE(second.Finish().ok());
  EXPECT_THAT(Notes(5), ElementsAre("attach local-1", "hello local-1 0", "attach local-1",
                                    "hello local-1 0", "detach local-1"));
}

// The loop of the director is busy.
TEST_F(WorkerServiceTest, WordsOfAReplacedStreamThatWaitForTheirTurnCountNoMore) {
  base::Mutex mutex;
  base::CondVar changed;
  bool is_waiting = false, may_go_on = false;
  on_message_ = [&](const v1::FromWorker& message) {
    if (message.sequence() != 1) return;
    const WaitLimit limit("a test that lets the first message go on");
    base::MutexLock lock(mutex);
    is_waiting = true;
    changed.NotifyAll();
    while (!may_go_on) changed.Wait(mutex);
  };
  service_->Expect("local-1", "secret");
  FakeStream first(service_->address());
  ASSERT_TRUE(first.Write(Hello("local-1", "secret")));
  v1::ToWorker message;
  ASSERT_TRUE(first.Read(message));
  v1::FromWorker word;
  word.set_sequence(1);
  ASSERT_TRUE(first.Write(word));
  {
    const WaitLimit limit("the first message");
    base::MutexLock lock(mutex);
    while (!is_waiting) changed.Wait(mutex);
  }
  FakeStream second(service_->address());
  ASSERT_TRUE(second.Write(Hello("local-1", "secret")));
  EXPECT_FALSE(first.Read(message)) << "it is replaced";
  EXPECT_EQ(Notes(2).size(), 2u) << "the second is told of when the first has had its say";
  {
    base::MutexLock lock(mutex);
    may_go_on = true;
  }
  changed.NotifyAll();
  ASSERT_TRUE(second.Read(message));
  EXPECT_THAT(Notes(4), ElementsAre("attach local-1", "hello local-1 0", "attach local-1",
                                    "hello local-1 0"));
  EXPECT_TRUE(second.Finish().ok());
  EXPECT_EQ(Notes(5).back(), "detach local-1");
}

// There are more streams than threads of the service, and each message takes time.
TEST_F(WorkerServiceTest, AMessageThatWaitsForAThreadIsKnownToBeThere) {
  constexpr size_t kStreams = 40;
  base::Mutex mutex;
  base::CondVar changed;
  bool may_go_on = false;
  on_message_ = [&](const v1::FromWorker& message) {
    const WaitLimit limit("a test that lets the messages go on");
    base::MutexLock lock(mutex);
    while (message.sequence() == 1 && !may_go_on) changed.Wait(mutex);
  };
  service_->ExpectForeign("common", [](std::string_view) { return false; });
  std::vector<std::unique_ptr<FakeStream>> streams;
  v1::ToWorker welcome;
  for (size_t i = 0; i < kStreams; ++i) {
    streams.push_back(std::make_unique<FakeStream>(service_->address()));
    ASSERT_TRUE(streams[i]->Write(Hello("node-" + std::to_string(i), "common")));
    ASSERT_TRUE(streams[i]->Read(welcome));
  }
  Notes(2 * kStreams);
  v1::FromWorker word;
  word.set_sequence(1);
  for (const auto& stream : streams) ASSERT_TRUE(stream->Write(word));
  AwaitOrFail([&] { return service_->WorkersWithUnreadMessages().size() >= kStreams; },
              "streams that are not heard out");
  {
    base::MutexLock lock(mutex);
    may_go_on = true;
  }
  changed.NotifyAll();
  AwaitOrFail([&] { return service_->WorkersWithUnreadMessages().empty(); },
              "streams that are heard out");
  EXPECT_EQ(Notes(3 * kStreams).size(), 3 * kStreams);
}

TEST_F(WorkerServiceTest, ADisconnectedWorkerIsOutAndItsTokenIsForgotten) {
  service_->Expect("local-1", "secret");
  FakeStream stream(service_->address());
  ASSERT_TRUE(stream.Write(Hello("local-1", "secret")));
  v1::ToWorker message;
  ASSERT_TRUE(stream.Read(message));
  service_->Disconnect("local-1");
  EXPECT_FALSE(stream.Finish().ok());
  EXPECT_EQ(Notes(3).back(), "detach local-1");
  EXPECT_EQ(EndOf(Hello("local-1", "secret")).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(WorkerServiceTest, AMessageForAWorkerThatIsNotThereIsDropped) {
  service_->Send("local-9", v1::ToWorker());
  service_->Disconnect("local-9");
  EXPECT_THAT(Notes(0), IsEmpty());
}

TEST_F(WorkerServiceTest, TheServiceEndsWhileWorkersAreAttached) {
  service_->Expect("local-1", "secret");
  FakeStream stream(service_->address());
  ASSERT_TRUE(stream.Write(Hello("local-1", "secret")));
  v1::ToWorker message;
  ASSERT_TRUE(stream.Read(message));
  service_.reset();
  EXPECT_FALSE(stream.Finish().ok());
}

TEST_F(WorkerServiceTest, TheServiceEndsWhileAStreamHasSaidNothing) {
  FakeStream stream(service_->address());
  v1::PackageAnswer answer;
  // The call is there before this one is answered.
  grpc::ClientContext context;
  v1::Director::NewStub(wire::OpenChannel(service_->address()))
      ->Ask(&context, v1::PackageQuestion(), &answer);
  service_.reset();
  EXPECT_FALSE(stream.Finish().ok());
}

size_t Threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_F(WorkerServiceTest, StreamsHoldNoThreads) {
  constexpr size_t kStreams = 100;
  std::vector<std::unique_ptr<FakeStream>> streams;
  size_t before = 0;
  for (size_t i = 0; i < kStreams; ++i) {
    if (i == 10) before = Threads();  // gRPC's own threads are there
    const std::string worker = "local-" + std::to_string(i + 1);
    service_->Expect(worker, "secret");
    streams.push_back(std::make_unique<FakeStream>(service_->address()));
    v1::ToWorker welcome;
    ASSERT_TRUE(streams.back()->Write(Hello(worker, "secret")));
    ASSERT_TRUE(streams.back()->Read(welcome));
  }
  EXPECT_LT(Threads(), before + kStreams / 2);
  for (size_t i = 0; i < kStreams; ++i) {
    v1::ToWorker message;
    message.add_persisted(i);
    service_->Send("local-" + std::to_string(i + 1), message);
    ASSERT_TRUE(streams[i]->Read(message));
    EXPECT_THAT(message.persisted(), ElementsAre(i));
  }
}

TEST_F(WorkerServiceTest, APathTooLongForASocketIsServedUnderAShortOne) {
  const std::string path = JoinPath(folder_, std::string(120, 'p'));
  StartAt(path);
  const std::string address = service_->address();
  ASSERT_TRUE(address.starts_with("unix:/"));
  EXPECT_LE(address.size(), 5 + 107u);
  const std::string socket = address.substr(5);
  EXPECT_NE(socket, path);
  struct stat seen {};
  ASSERT_EQ(::stat(socket.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0600u) << "nobody else's";
  EXPECT_EQ(std::filesystem::read_symlink(path), socket) << "found where people look for it";
  service_->Expect("local-1", "secret");
  EXPECT_TRUE(EndOf(Hello("local-1", "secret")).ok());
  service_.reset();
  EXPECT_FALSE(FileExists(socket));
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  EXPECT_FALSE(FileExists(socket.substr(0, socket.rfind('/')))) << "its folder goes with it";
}

TEST_F(WorkerServiceTest, AQuestionIsAnsweredOrRefusedAsTheDirectorSays) {
  service_.reset();
  const auto service = WorkerService::Start(
      JoinPath(folder_, "asked"),
      {.on_question = [](const v1::PackageQuestion& question) -> absl::StatusOr<v1::PackageAnswer> {
        if (question.package() != "/Game/a") return absl::NotFoundError("not in this cook");
        v1::PackageAnswer answer;
        answer.set_state("Save");
        return answer;
      }});
  ASSERT_TRUE(service.ok());
  const auto stub = v1::Director::NewStub(
      grpc::CreateChannel((*service)->address(), grpc::InsecureChannelCredentials()));
  v1::PackageQuestion question;
  v1::PackageAnswer answer;
  question.set_package("/Game/a");
  grpc::ClientContext first, second;
  EXPECT_TRUE(stub->Ask(&first, question, &answer).ok());
  EXPECT_EQ(answer.state(), "Save");
  question.set_package("/Game/b");
  const grpc::Status refused = stub->Ask(&second, question, &answer);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refused.error_message(), "not in this cook");
}

TEST_F(WorkerServiceTest, ASocketLeftByADeadDirectorIsReplacedAndAFolderThatIsNotThereIsAnError) {
  const std::string path = JoinPath(folder_, "left");
  ASSERT_TRUE(WriteFileAtomic(path, "").ok());
  StartAt(path);
  EXPECT_EQ(service_->address(), "unix:" + path);
  const auto service = WorkerService::Start(JoinPath(folder_, "none/s"), {});
  EXPECT_TRUE(absl::IsUnavailable(service.status())) << service.status();
}

TEST_F(WorkerServiceTest, AWorkerThatIsExpectedFromTheBeginningIsNeverRefused) {
  service_.reset();
  const auto service = WorkerService::Start(
      JoinPath(folder_, "early"),
      {.on_attach = [](const std::string&, const v1::FromWorker&) { return v1::ToWorker(); },
       .on_message = [](const std::string&, const v1::FromWorker&, auto) {},
       .on_detach = [](const std::string&) {}},
      {{"local-3", "old token"}});
  ASSERT_TRUE(service.ok()) << service.status();
  FakeStream stream((*service)->address());
  ASSERT_TRUE(stream.Write(Hello("local-3", "old token")));
  v1::ToWorker message;
  EXPECT_TRUE(stream.Read(message));
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_F(WorkerServiceTest, ADoorOutlivesTheServicesBehindIt) {
  auto door = DirectorDoor::Open(JoinPath(folder_, "door"));
  ASSERT_TRUE(door.ok()) << door.status();
  const auto stub = v1::Director::NewStub(
      grpc::CreateChannel((*door)->address(), grpc::InsecureChannelCredentials()));
  const auto ask = [&] {
    grpc::ClientContext context;
    v1::PackageAnswer answer;
    const grpc::Status status = stub->Ask(&context, v1::PackageQuestion(), &answer);
    return status.ok() ? answer.state() : std::to_string(status.error_code());
  };
  const std::string nobody = std::to_string(grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ask(), nobody);
  for (const std::string state : {"Load", "Save"}) {
    const auto service = WorkerService::StartBehind(**door,
                                                    {.on_question =
                                                         [&](const v1::PackageQuestion&) {
                                                           v1::PackageAnswer answer;
                                                           answer.set_state(state);
                                                           return answer;
                                                         }},
                                                    {});
    EXPECT_EQ(service->address(), (*door)->address());
    EXPECT_EQ(ask(), state);
  }
  EXPECT_EQ(ask(), nobody);
}

TEST_F(WorkerServiceTest, AServiceThatIsDestroyedLateLeavesTheDoorToTheNext) {
  auto door = DirectorDoor::Open(JoinPath(folder_, "door"));
  ASSERT_TRUE(door.ok()) << door.status();
  const auto answer = [](const v1::PackageQuestion&) { return v1::PackageAnswer(); };
  auto first = WorkerService::StartBehind(**door, {.on_question = answer}, {});
  first->Stop();
  const auto second = WorkerService::StartBehind(**door, {.on_question = answer}, {});
  first.reset();
  const auto stub = v1::Director::NewStub(
      grpc::CreateChannel((*door)->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::PackageAnswer found;
  EXPECT_TRUE(stub->Ask(&context, v1::PackageQuestion(), &found).ok());
}

TEST_F(WorkerServiceTest, AStreamThatNeverSaysWhoseItIsIsEnded) {
  service_->ExpectForeign("common", [](std::string_view) { return false; });
  FakeStream silent(service_->address());
  FakeStream attached(service_->address());
  ASSERT_TRUE(attached.Write(Hello("node-7", "common")));
  v1::ToWorker message;
  ASSERT_TRUE(attached.Read(message));
  SystemClock clock;
  service_->EndSilent(clock.Monotonic());
  // The director may take a while until it has heard of the worker at all.
  std::thread ender([&] {
    while (!is_over_) {
      service_->EndSilent(clock.Monotonic() + absl::Seconds(21));
      absl::SleepFor(absl::Milliseconds(10));
    }
  });
  EXPECT_FALSE(silent.Read(message)) << "until then this would wait for ever";
  is_over_ = true;
  ender.join();
  EXPECT_TRUE(service_->IsAttached("node-7"));
}

TEST_F(WorkerServiceTest, OneThatDoesNotReadWhatItIsToldIsToComeAgain) {
  service_->ExpectForeign("common", [](std::string_view) { return false; });
  FakeStream stream(service_->address());
  ASSERT_TRUE(stream.Write(Hello("node-7", "common")));
  Notes(2);  // attach, hello
  v1::ToWorker told;
  told.mutable_snapshot()->set_table_file(std::string(200, 'x'));
  // The transport takes some more messages.
  for (int i = 0; i < 100'000 && service_->IsAttached("node-7"); ++i)
    service_->Send("node-7", told);
  EXPECT_THAT(Notes(3), testing::Contains("detach node-7"));
  EXPECT_TRUE(EndOf(Hello("node-7", "common")).ok());
}

TEST_F(WorkerServiceTest, AWorkerMakesOnlySoManyCallsAtATime) {
  base::Mutex mutex;
  base::CondVar changed;
  int under_way = 0;
  bool may_end = false;
  service_.reset();
  const auto service = WorkerService::Start(
      JoinPath(folder_, "calls"),
      {.on_attach = [](const std::string&, const v1::FromWorker&) { return v1::ToWorker(); },
       .on_message = [](const std::string&, const v1::FromWorker&, auto) {},
       .on_detach = [](const std::string&) {},
       .on_find_missing =
           [&](const v1::FindMissingRequest&) {
             const WaitLimit limit("a test that lets the calls end");
             base::MutexLock lock(mutex);
             ++under_way;
             changed.NotifyAll();
             while (!may_end) changed.Wait(mutex);
             return v1::FindMissingAnswer();
           }},
      {});
  ASSERT_TRUE(service.ok()) << service.status();
  (*service)->ExpectForeign("common", [](std::string_view) { return false; });
  const auto find = [&](const std::string& worker) {
    const auto stub = v1::Director::NewStub(wire::OpenChannel((*service)->address()));
    grpc::ClientContext context;
    v1::FindMissingRequest request;
    request.mutable_caller()->set_worker_id(worker);
    request.mutable_caller()->set_token("common");
    v1::FindMissingAnswer answer;
    return stub->FindMissing(&context, request, &answer);
  };
  FakeStream flood((*service)->address()), other((*service)->address());
  v1::ToWorker welcome;
  ASSERT_TRUE(flood.Write(Hello("flood", "common")) && flood.Read(welcome));
  ASSERT_TRUE(other.Write(Hello("other", "common")) && other.Read(welcome));
  std::vector<std::thread> calls;
  for (int i = 0; i < 64; ++i) {
    calls.emplace_back([&] { EXPECT_TRUE(find("flood").ok()); });
    const WaitLimit limit(fmt::format("call {} of the flood", i + 1));
    base::MutexLock lock(mutex);  // a connection has 32 calls at most: each worker has its own
    while (under_way <= i) changed.Wait(mutex);
  }
  const grpc::Status over = find("flood");
  EXPECT_EQ(over.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(over.error_message(), "flood makes 64 calls at a time already");
  calls.emplace_back([&] { EXPECT_TRUE(find("other").ok()) << "others are not concerned"; });
  {
    const WaitLimit limit("the call of the other worker");
    base::MutexLock lock(mutex);
    while (under_way < 65) changed.Wait(mutex);
    may_end = true;
  }
  changed.NotifyAll();
  {
    const WaitLimit limit("the answers to all calls");
    for (std::thread& call : calls) call.join();
  }
  EXPECT_TRUE(find("flood").ok());
}

}  // namespace
}  // namespace galley::director
