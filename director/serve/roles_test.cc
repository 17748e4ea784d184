// Who may do what where TLS is spoken: each kind of caller at each call of the farm's door.
#include <grpcpp/grpcpp.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/base/certificates.h"
#include "common/base/file.h"
#include "common/base/manual_clock_for_test.h"
#include "common/wire/certificate_authority.h"
#include "common/wire/channel.h"
#include "common/wire/worker_protocol.h"
#include "director/serve/farm_door.h"
#include "director/serve/worker_service.h"
#include "fmt/format.h"
#include "galley/v1/worker.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using grpc::StatusCode;

constexpr const char* kProject = "the project's token";
constexpr const char* kLaunch = "the token of a launch";
constexpr size_t kDescriptors = 128;  // as if the process had few when the door is opened

class RolesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new std::string(MakeTemporaryDirectory(testing::TempDir(), "roles").value());
    const std::string command =
        fmt::format("{}/deploy/dev-certs {} 127.0.0.1 2>/dev/null", GALLEY_SOURCE_DIR, *folder_);
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  static void TearDownTestSuite() {
    RemoveAll(*folder_).IgnoreError();
    delete folder_;
  }

  void SetUp() override {
    clock_.Advance(absl::Now() - clock_.Now());  // (OpenSSL has the true time)
    service_ =
        WorkerService::Start(
            JoinPath(*folder_, "s"),
            {.on_attach = [](const std::string&, const v1::FromWorker&) { return v1::ToWorker(); },
             .on_message = [](const std::string&, const v1::FromWorker&) {},
             .on_detach = [](const std::string&) {},
             .on_question = [](const v1::PackageQuestion&) { return v1::PackageAnswer(); },
             .on_fetch = [](const std::string&, const v1::FetchRequest&,
                            const auto&) { return absl::OkStatus(); },
             .on_find_missing =
                 [](const v1::FindMissingRequest&) { return v1::FindMissingAnswer(); },
             .on_upload = [](const std::string&, const auto& next) -> absl::StatusOr<uint64_t> {
               v1::UploadPiece piece;
               while (next(piece)) {
               }
               return 0;
             },
             .may_renew = [this](const std::string&) { return may_renew_; }},
            {})
            .value();
    service_->ExpectForeign(kProject, [](std::string_view id) { return id.starts_with("slurm-"); });
    service_->Expect("slurm-1", kLaunch);
    service_->Expect("slurm-2", kLaunch);
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    rlimit few = limit;
    few.rlim_cur = kDescriptors;
    ::setrlimit(RLIMIT_NOFILE, &few);
    door_ = FarmDoor::Open({.address = "127.0.0.1:0",
                            .tls = {.certificate = Path("director.pem"),
                                    .key = Path("director.key"),
                                    .ca = Path("ca.pem")},
                            .certificate_lifetime = kLifetime,
                            .clock = &clock_},
                           service_->calls())
                .value();
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  void TearDown() override {
    service_->Stop();
    door_.reset();
    service_.reset();
  }

  static std::string Path(const std::string& name) { return JoinPath(*folder_, name); }

  // As whom a caller comes.
  struct Caller {
    wire::ClientTls tls;
    std::string name, token;
  };
  static Caller Anonymous(std::string name, std::string token) {
    return {{.ca = ReadFile(Path("ca.pem")).value()}, std::move(name), std::move(token)};
  }
  static Caller OfTheStudio(std::string name, std::string token) {
    return {{.ca = ReadFile(Path("ca.pem")).value(),
             .certificate = ReadFile(Path("worker.pem")).value(),
             .key = ReadFile(Path("worker.key")).value()},
            std::move(name),
            std::move(token)};
  }
  // Launched as `enrolled`, with its certificate.
  Caller Launched(const std::string& enrolled, std::string name, std::string token) {
    const wire::KeyAndRequest made = wire::NewKeyAndRequest().value();
    std::string certificate;
    EXPECT_TRUE(Enroll(Anonymous(enrolled, kLaunch), made.request, &certificate).ok());
    return {{.ca = ReadFile(Path("ca.pem")).value(), .certificate = certificate, .key = made.key},
            std::move(name),
            std::move(token)};
  }

  std::unique_ptr<v1::Director::Stub> StubOf(const Caller& caller) const {
    return v1::Director::NewStub(wire::OpenChannel(door_->address(), caller.tls));
  }
  static void Limit(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  }

  grpc::Status Renew(const Caller& caller, Caller* next) {
    grpc::ClientContext context;
    Limit(context);
    const wire::KeyAndRequest made = wire::NewKeyAndRequest().value();
    v1::EnrollRequest ask;
    ask.mutable_caller()->set_worker_id(caller.name);
    ask.mutable_caller()->set_token(caller.token);
    ask.set_certificate_request(made.request);
    v1::EnrollAnswer answer;
    const grpc::Status status = StubOf(caller)->Renew(&context, ask, &answer);
    *next = caller;
    next->tls.certificate = answer.certificate();
    next->tls.key = made.key;
    return status;
  }
  grpc::Status Enroll(const Caller& caller, const std::string& request, std::string* certificate) {
    grpc::ClientContext context;
    Limit(context);
    v1::EnrollRequest ask;
    ask.mutable_caller()->set_worker_id(caller.name);
    ask.mutable_caller()->set_token(caller.token);
    ask.set_certificate_request(request);
    v1::EnrollAnswer answer;
    const grpc::Status status = StubOf(caller)->Enroll(&context, ask, &answer);
    *certificate = answer.certificate();
    return status;
  }

  // OK: it is let in. `also` is run while it is attached.
  StatusCode Attach(
      const Caller& caller, const std::function<void()>& also = [] {}) {
    const auto stub = StubOf(caller);
    grpc::ClientContext context;
    Limit(context);
    const auto stream = stub->Attach(&context);
    v1::FromWorker hello;
    hello.mutable_hello()->set_worker_id(caller.name);
    hello.mutable_hello()->set_token(caller.token);
    hello.mutable_hello()->set_protocol(wire::kWorkerProtocol);
    stream->Write(hello);
    v1::ToWorker welcome;
    if (stream->Read(&welcome)) {
      also();
      stream->WritesDone();
      while (stream->Read(&welcome)) {
      }
      stream->Finish();
      return StatusCode::OK;
    }
    return stream->Finish().error_code();
  }
  StatusCode Fetch(const Caller& caller) {
    const auto stub = StubOf(caller);
    grpc::ClientContext context;
    Limit(context);
    v1::FetchRequest request;
    request.mutable_caller()->set_worker_id(caller.name);
    request.mutable_caller()->set_token(caller.token);
    const auto stream = stub->Fetch(&context, request);
    v1::FetchPiece piece;
    while (stream->Read(&piece)) {
    }
    return stream->Finish().error_code();
  }
  StatusCode FindMissing(const Caller& caller) {
    const auto stub = StubOf(caller);
    grpc::ClientContext context;
    Limit(context);
    v1::FindMissingRequest request;
    request.mutable_caller()->set_worker_id(caller.name);
    request.mutable_caller()->set_token(caller.token);
    v1::FindMissingAnswer answer;
    return stub->FindMissing(&context, request, &answer).error_code();
  }
  StatusCode Upload(const Caller& caller) {
    const auto stub = StubOf(caller);
    grpc::ClientContext context;
    Limit(context);
    v1::UploadAnswer answer;
    const auto stream = stub->Upload(&context, &answer);
    v1::UploadPiece first;
    first.mutable_caller()->set_worker_id(caller.name);
    first.mutable_caller()->set_token(caller.token);
    stream->Write(first);
    stream->WritesDone();
    return stream->Finish().error_code();
  }

  static constexpr absl::Duration kLifetime = absl::Hours(100);

  static std::string* folder_;
  ManualClock clock_;
  absl::Status may_renew_;
  std::unique_ptr<WorkerService> service_;
  std::unique_ptr<FarmDoor> door_;
};
std::string* RolesTest::folder_ = nullptr;

TEST_F(RolesTest, WhoeverIsLetInMayAttachFetchAndUpload) {
  const Caller callers[] = {OfTheStudio("node7", kProject),
                            Launched("slurm-1", "slurm-1", kLaunch)};
  for (const Caller& caller : callers) {
    SCOPED_TRACE(caller.name);
    EXPECT_EQ(Fetch(caller), StatusCode::UNAVAILABLE) << "it is not attached";
    EXPECT_EQ(FindMissing(caller), StatusCode::UNAVAILABLE);
    EXPECT_EQ(Upload(caller), StatusCode::UNAVAILABLE);
    EXPECT_EQ(Attach(caller,
                     [&] {
                       EXPECT_EQ(Fetch(caller), StatusCode::OK);
                       EXPECT_EQ(FindMissing(caller), StatusCode::OK);
                       EXPECT_EQ(Upload(caller), StatusCode::OK);
                     }),
              StatusCode::OK);
  }
}

TEST_F(RolesTest, NobodyElseMayDoAnyOfIt) {
  const Caller launched = Launched("slurm-1", "slurm-1", kLaunch);
  Caller of_another = launched;
  of_another.name = "slurm-2";
  Caller by_itself = launched;
  by_itself.name = "node7";
  by_itself.token = kProject;
  const Caller callers[] = {
      Anonymous("node7", kProject),   // no certificate, though it has the token
      Anonymous("slurm-1", kLaunch),  // likewise
      OfTheStudio("node7", "another token"),
      OfTheStudio("node7", ""),
      OfTheStudio("", kProject),
      OfTheStudio("slurm-1", kProject),  // a name that launchers give
      OfTheStudio("slurm-1", kLaunch),   // a certificate that is not its own
      of_another,                        // of another name of its launch
      by_itself,                         // a launched one under a name of its own
  };
  for (const Caller& caller : callers) {
    SCOPED_TRACE(caller.name + ", " + caller.token);
    EXPECT_EQ(Attach(caller), StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(Fetch(caller), StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(FindMissing(caller), StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(Upload(caller), StatusCode::UNAUTHENTICATED);
  }
}

TEST_F(RolesTest, OnlyTheTokenOfALaunchIsExchanged) {
  const std::string request = wire::NewKeyAndRequest()->request;
  std::string certificate;
  for (const Caller& caller :
       {Anonymous("slurm-1", kProject), Anonymous("slurm-9", kLaunch), Anonymous("node7", kProject),
        Anonymous("slurm-1", ""), OfTheStudio("node7", kProject)}) {
    SCOPED_TRACE(caller.name + ", " + caller.token);
    EXPECT_EQ(Enroll(caller, request, &certificate).error_code(), StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(certificate, "");
  }
  EXPECT_EQ(Enroll(Anonymous("slurm-1", kLaunch), "no request", &certificate).error_code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(RolesTest, AnotherExchangeVoidsTheCertificateAndEndsItsStream) {
  const Caller first = Launched("slurm-1", "slurm-1", kLaunch);
  EXPECT_EQ(Attach(first,
                   [&] {
                     Launched("slurm-1", "slurm-1", kLaunch);
                     EXPECT_EQ(Fetch(first), StatusCode::UNAUTHENTICATED);
                   }),
            StatusCode::OK);
  EXPECT_EQ(Attach(first), StatusCode::UNAUTHENTICATED);
}

TEST_F(RolesTest, OneThatEndedIsNobodyAnyMore) {
  const Caller launched = Launched("slurm-1", "slurm-1", kLaunch);
  service_->Disconnect("slurm-1");
  EXPECT_EQ(Attach(launched), StatusCode::UNAUTHENTICATED);
  std::string certificate;
  EXPECT_EQ(Enroll(Anonymous("slurm-1", kLaunch), wire::NewKeyAndRequest()->request, &certificate)
                .error_code(),
            StatusCode::UNAUTHENTICATED);
}

TEST_F(RolesTest, AStreamOfNobodyEndsBeforeItSaysAnything) {
  const Caller nobody = Anonymous("node7", kProject);
  const auto stub = StubOf(nobody);
  grpc::ClientContext context;
  Limit(context);
  const auto stream = stub->Attach(&context);
  v1::ToWorker message;
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::UNAUTHENTICATED);
}

// A handshake that is over is not counted among those that are not, of which few are allowed.
TEST_F(RolesTest, ManyWorkersOfOneAddressMayStay) {
  constexpr size_t kWorkers = kDescriptors / 4 + 8;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReaderWriter<v1::FromWorker, v1::ToWorker>>> streams;
  for (size_t i = 0; i < kWorkers; ++i) {
    const Caller caller = OfTheStudio("node" + std::to_string(i), kProject);
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    Limit(*contexts.back());
    streams.push_back(StubOf(caller)->Attach(contexts.back().get()));
    v1::FromWorker hello;
    hello.mutable_hello()->set_worker_id(caller.name);
    hello.mutable_hello()->set_token(caller.token);
    hello.mutable_hello()->set_protocol(wire::kWorkerProtocol);
    streams.back()->Write(hello);
    v1::ToWorker welcome;
    ASSERT_TRUE(streams.back()->Read(&welcome)) << i;
  }
  for (const auto& context : contexts) context->TryCancel();
}

TEST_F(RolesTest, QuestionsAreNotAskedHere) {
  for (const Caller& caller :
       {OfTheStudio("node7", kProject), Launched("slurm-1", "slurm-1", kLaunch)}) {
    grpc::ClientContext context;
    Limit(context);
    v1::PackageAnswer answer;
    EXPECT_EQ(StubOf(caller)->Ask(&context, v1::PackageQuestion(), &answer).error_code(),
              StatusCode::UNIMPLEMENTED);
  }
}

// ---------------- certificates that are renewed

TEST_F(RolesTest, ACertificateIsRenewedByTheOneBeforeWhichStaysGoodUntilTheNext) {
  const Caller first = Launched("slurm-1", "slurm-1", kLaunch);
  Caller second, third;
  EXPECT_EQ(Renew(first, &second).error_code(), StatusCode::UNAVAILABLE) << "it is not attached";
  EXPECT_EQ(Attach(first,
                   [&] {
                     clock_.Advance(absl::Minutes(30));
                     ASSERT_TRUE(Renew(first, &second).ok());
                     EXPECT_EQ(CheckCertificates({"c", second.tls.certificate}).value(),
                               clock_.Now() + kLifetime);
                     EXPECT_EQ(Fetch(second), StatusCode::OK);
                     EXPECT_EQ(Fetch(first), StatusCode::OK) << "what is under way goes on";
                     ASSERT_TRUE(Renew(second, &third).ok());
                     EXPECT_EQ(Fetch(third), StatusCode::OK);
                     EXPECT_EQ(Fetch(second), StatusCode::OK);
                     EXPECT_EQ(Fetch(first), StatusCode::UNAUTHENTICATED);
                     Caller fourth;
                     EXPECT_EQ(Renew(first, &fourth).error_code(), StatusCode::UNAUTHENTICATED);
                   }),
            StatusCode::OK);
  EXPECT_EQ(Attach(third), StatusCode::OK) << "it comes back with the newest";
}

TEST_F(RolesTest, OneWhoseAnswerWasLostAsksAgain) {
  const Caller first = Launched("slurm-1", "slurm-1", kLaunch);
  Caller lost, second;
  EXPECT_EQ(Attach(first,
                   [&] {
                     ASSERT_TRUE(Renew(first, &lost).ok());
                     ASSERT_TRUE(Renew(first, &second).ok());
                     EXPECT_EQ(Fetch(second), StatusCode::OK);
                     EXPECT_EQ(Fetch(lost), StatusCode::UNAUTHENTICATED);
                   }),
            StatusCode::OK);
}

TEST_F(RolesTest, NobodyRenewsForAnotherOrAfterItsEnd) {
  const Caller first = Launched("slurm-1", "slurm-1", kLaunch);
  const Caller other = Launched("slurm-2", "slurm-2", kLaunch);
  const Caller by_itself = OfTheStudio("node7", kProject);
  Caller in_its_name = other;
  in_its_name.name = "slurm-1";
  Caller next;
  EXPECT_EQ(
      Attach(by_itself,
             [&] {
               EXPECT_EQ(Renew(by_itself, &next).error_code(), StatusCode::FAILED_PRECONDITION)
                   << "the studio renews its own";
             }),
      StatusCode::OK);
  EXPECT_EQ(Attach(first,
                   [&] {
                     EXPECT_EQ(Renew(in_its_name, &next).error_code(), StatusCode::UNAUTHENTICATED);
                     may_renew_ = absl::FailedPreconditionError("slurm-1 is drained");
                     const grpc::Status drained = Renew(first, &next);
                     EXPECT_EQ(drained.error_code(), StatusCode::FAILED_PRECONDITION);
                     EXPECT_EQ(drained.error_message(), "slurm-1 is drained");
                     may_renew_ = absl::OkStatus();
                     service_->Disconnect("slurm-1");
                     EXPECT_EQ(Renew(first, &next).error_code(), StatusCode::UNAUTHENTICATED);
                   }),
            StatusCode::OK);
}

TEST_F(RolesTest, AnotherExchangeOfTheTokenVoidsWhatWasRenewed) {
  const Caller first = Launched("slurm-1", "slurm-1", kLaunch);
  Caller second;
  Attach(first, [&] { ASSERT_TRUE(Renew(first, &second).ok()); });
  Launched("slurm-1", "slurm-1", kLaunch);
  EXPECT_EQ(Attach(first), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Attach(second), StatusCode::UNAUTHENTICATED);
}

}  // namespace
}  // namespace galley::director
