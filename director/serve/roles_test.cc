// RolesTest: checks each call for each kind of caller, by each way in.
#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/certificates.h"
#include "common/base/file.h"
#include "common/base/testing/manual_clock.h"
#include "common/wire/certificate_authority.h"
#include "common/wire/channel.h"
#include "common/wire/worker_protocol.h"
#include "director/serve/client_calls.h"
#include "director/serve/client_door.h"
#include "director/serve/director_door.h"
#include "director/serve/farm_door.h"
#include "director/serve/peer.h"
#include "director/serve/roles.h"
#include "director/serve/worker_service.h"
#include "fmt/format.h"
#include "galley/v1/director.grpc.pb.h"
#include "galley/v1/worker.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using grpc::StatusCode;

// Returns the calls of each role, as people are told (docs/farm.md), to compare with the product's
// table.
const std::map<std::string, std::vector<std::string>>& WhoMay() {
  static const std::vector<std::string> worker = {"worker"};
  static const std::vector<std::string> reader = {"reader", "client", "administrator"};
  static const std::vector<std::string> client = {"client", "administrator"};
  static const std::vector<std::string> administrator = {"administrator"};
  static const std::map<std::string, std::vector<std::string>> table = {
      {"/galley.v1.Director/Ask", reader},
      {"/galley.v1.Director/Attach", worker},
      {"/galley.v1.Director/Enroll",
       {"nobody", "none", "worker", "reader", "client", "administrator"}},
      {"/galley.v1.Director/Fetch", worker},
      {"/galley.v1.Director/FindMissing", worker},
      {"/galley.v1.Director/Renew", worker},
      {"/galley.v1.Director/Upload", worker},
      {"/galley.v1.Hosted/Status", reader},
      {"/galley.v1.Resident/Cancel", administrator},
      {"/galley.v1.Resident/Clean", administrator},
      {"/galley.v1.Resident/Cook", client},
      {"/galley.v1.Resident/Drain", administrator},
      {"/galley.v1.Resident/Follow", reader},
      {"/galley.v1.Resident/Hello", reader},
      {"/galley.v1.Resident/Show", reader},
      {"/galley.v1.Resident/Status", reader},
      {"/galley.v1.Resident/Stop", administrator},
  };
  return table;
}

// Returns the calls of the protocol files.
std::vector<std::string> CallsOfTheWire() {
  std::vector<std::string> calls;
  for (const google::protobuf::FileDescriptor* file :
       {v1::FromWorker::descriptor()->file(), v1::CookAsk::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j)
        calls.push_back("/" + file->service(i)->full_name() + "/" +
                        file->service(i)->method(j)->name());
    }
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

// Returns the status of a call with an empty message.
grpc::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& path) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool is_ok = false;
  const auto call = stub.PrepareCall(&context, path, &queue);
  call->StartCall(nullptr);
  queue.Next(&tag, &is_ok);
  if (is_ok) {
    call->WriteLast(grpc::ByteBuffer(nullptr, 0), grpc::WriteOptions(), nullptr);
    queue.Next(&tag, &is_ok);
  }
  is_ok = true;
  while (is_ok) {
    grpc::ByteBuffer answer;
    call->Read(&answer, nullptr);
    queue.Next(&tag, &is_ok);
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &is_ok);
  return status;
}

class TableResident final : public ClientCalls {
 public:
  absl::StatusOr<v1::HelloAnswer> Hello(const v1::HelloAsk&) override { return v1::HelloAnswer(); }
  absl::StatusOr<uint64_t> Cook(const v1::CookAsk& ask) override {
    asked = ask;
    return absl::InvalidArgumentError("nothing is cooked here");
  }
  absl::StatusOr<std::unique_ptr<CookReader>> Read(uint64_t) override {
    return absl::NotFoundError("no such cook");
  }
  absl::Status Cancel(uint64_t) override { return absl::OkStatus(); }
  absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk&) override {
    return v1::StatusAnswer();
  }
  absl::StatusOr<v1::DrainAnswer> Drain(const v1::DrainAsk&) override { return v1::DrainAnswer(); }
  absl::StatusOr<v1::CleanAnswer> Clean(const v1::CleanAsk&) override { return v1::CleanAnswer(); }
  v1::StopAnswer Stop(const std::string& who) override {
    stopped_by = who;
    return {};
  }
  absl::Status Show(const v1::ShowAsk&, Audience&) override { return absl::OkStatus(); }

  v1::CookAsk asked;       // last ask
  std::string stopped_by;  // last caller
};

constexpr const char* kProject = "the project's token";
constexpr const char* kLaunch = "the token of a launch";
constexpr size_t kDescriptors = 128;  // as if the process had few when the door is opened

class RolesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new std::string(MakeTemporaryDirectory(testing::TempDir(), "roles").value());
    const std::string command = fmt::format(
        "{}/deploy/dev-certs {} 127.0.0.1 worker=node8 reader=wall client=anna "
        "administrator=olga 2>/dev/null",
        GALLEY_SOURCE_DIR, *folder_);
    ASSERT_EQ(std::system(command.c_str()), 0);
    ASSERT_EQ(std::system(fmt::format("{}/deploy/dev-certs {}/other administrator=eve 2>/dev/null",
                                      GALLEY_SOURCE_DIR, *folder_)
                              .c_str()),
              0);
  }
  static void TearDownTestSuite() {
    RemoveAll(*folder_).IgnoreError();
    delete folder_;
  }

  void SetUp() override {
    clock_.Advance(absl::Now() - clock_.Now());  // OpenSSL has the true time
    service_ =
        WorkerService::Start(
            JoinPath(*folder_, "s"),
            {.on_attach = [](const std::string&, const v1::FromWorker&) { return v1::ToWorker(); },
             .on_message = [](const std::string&, const v1::FromWorker&, auto) {},
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
    door_ = OpenFarmDoor({.address = "127.0.0.1:0",
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

  // Caller: as whom a caller comes.
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
  // Returns a caller that was launched as `enrolled`, with its certificate.
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

  // OK: the worker is let in. Runs `also` while it is attached.
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
  std::unique_ptr<TcpDoor> door_;
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
      Anonymous("slurm-1", kLaunch),  // no certificate, though it has the token
      OfTheStudio("node7", "another token"),
      OfTheStudio("node7", ""),
      OfTheStudio("", kProject),
      OfTheStudio("slurm-1", kProject),  // a name that launchers give
      OfTheStudio("slurm-1", kLaunch),   // a certificate that is not its own
      of_another,                        // of another name of its launch
      by_itself,                         // a launched worker under a name of its own
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

// A finished handshake does not count as one of the few open handshakes that are allowed.
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

// TableTest: the whole table, by each way in.
class TableTest : public RolesTest {
 protected:
  void SetUp() override {
    RolesTest::SetUp();
    socket_ = DirectorDoor::Open(JoinPath(*folder_, "d"), &resident_).value();
    socket_->SetWorkerCalls(&service_->calls());
    clients_ =
        OpenClientDoor({.address = "127.0.0.1:0", .tls = TlsOfDoor()}, resident_, *socket_).value();
    plain_ = OpenFarmDoor({.address = "127.0.0.1:0"}, service_->calls()).value();
  }
  void TearDown() override {
    clients_.reset();
    socket_->RemoveWorkerCalls(&service_->calls());
    socket_.reset();
    plain_.reset();
    RolesTest::TearDown();
  }

  static wire::TlsFiles TlsOfDoor() {
    return {.certificate = Path("director.pem"), .key = Path("director.key"), .ca = Path("ca.pem")};
  }
  static wire::ClientTls With(const std::string& name) {
    wire::ClientTls tls{.ca = ReadFile(Path("ca.pem")).value()};
    if (name.empty()) return tls;
    tls.certificate = ReadFile(Path(name + ".pem")).value();
    tls.key = ReadFile(Path(name + ".key")).value();
    return tls;
  }

  // Checks that a caller with this role there may make the calls of WhoMay, and no others.
  static void CheckRow(const std::shared_ptr<grpc::Channel>& channel, const std::string& role) {
    for (const auto& [path, roles] : WhoMay()) {
      SCOPED_TRACE(role + " " + path);
      const bool may = role == "all" || std::find(roles.begin(), roles.end(), role) != roles.end();
      const grpc::Status status = CallRaw(channel, path);
      const bool is_refused =
          status.error_message().find("needs the role ") != std::string::npos ||
          status.error_message().find("a certificate is needed here") != std::string::npos;
      EXPECT_EQ(is_refused, !may) << status.error_message();
      if (may) continue;
      EXPECT_EQ(status.error_code(),
                role == "nobody" ? StatusCode::UNAUTHENTICATED : StatusCode::PERMISSION_DENIED);
      EXPECT_THAT(status.error_message(),
                  testing::AnyOf(testing::HasSubstr(fmt::format("{}=NAME", roles.front())),
                                 testing::HasSubstr("worker=NAME")))
          << "it says how to get the role";
    }
  }

  TableResident resident_;
  std::unique_ptr<DirectorDoor> socket_;
  std::unique_ptr<TcpDoor> clients_;
  std::unique_ptr<TcpDoor> plain_;
};

TEST_F(TableTest, EveryCallOfTheWireHasOneRow) {
  std::vector<std::string> rows, expected;
  for (const CallRule& rule : CallRules()) rows.emplace_back(rule.path);
  for (const auto& [path, roles] : WhoMay()) expected.push_back(path);
  EXPECT_EQ(rows, CallsOfTheWire()) << "a new call needs a row in roles.cc";
  EXPECT_EQ(expected, CallsOfTheWire()) << "and one in docs/farm.md, and here";
}

TEST_F(TableTest, WhoeverOpensTheSocketMayAll) {
  CheckRow(wire::OpenChannel(socket_->address()), "all");
}

TEST_F(TableTest, AtTheFarmsDoorTheCertificateSaysTheRole) {
  for (const auto& [name, role] : std::map<std::string, std::string>{{"", "nobody"},
                                                                     {"worker", "worker"},
                                                                     {"node8", "worker"},
                                                                     {"wall", "reader"},
                                                                     {"anna", "client"},
                                                                     {"olga", "administrator"}})
    CheckRow(wire::OpenChannel(door_->address(), With(name)), role);
  CheckRow(wire::OpenChannel(door_->address(), Launched("slurm-1", "slurm-1", kLaunch).tls),
           "worker");
  CheckRow(wire::OpenChannel(plain_->address()), "worker");
}

TEST_F(TableTest, AtTheClientsDoorTheCertificateSaysTheRoleAndWorkersHaveNone) {
  for (const auto& [name, role] : std::map<std::string, std::string>{{"worker", "none"},
                                                                     {"node8", "none"},
                                                                     {"wall", "reader"},
                                                                     {"anna", "client"},
                                                                     {"olga", "administrator"}})
    CheckRow(wire::OpenChannel(clients_->address(), With(name)), role);
}

TEST_F(TableTest, AtTheClientsDoorStrangersGetNoFurtherThanTheHandshake) {
  EXPECT_EQ(CallRaw(wire::OpenChannel(clients_->address(), With("")), "/galley.v1.Resident/Hello")
                .error_code(),
            StatusCode::UNAVAILABLE);
  wire::ClientTls other = With("other/eve");
  EXPECT_EQ(CallRaw(wire::OpenChannel(clients_->address(), other), "/galley.v1.Resident/Hello")
                .error_code(),
            StatusCode::UNAVAILABLE);
  EXPECT_EQ(
      CallRaw(wire::OpenChannel(clients_->address()), "/galley.v1.Resident/Hello").error_code(),
      StatusCode::UNAVAILABLE);
}

TEST_F(TableTest, ACallThatNobodyKnowsIsNoneByEachWayIn) {
  for (const auto& channel :
       {wire::OpenChannel(socket_->address()), wire::OpenChannel(door_->address(), With("olga")),
        wire::OpenChannel(clients_->address(), With("olga"))}) {
    for (const char* path : {"/galley.v1.Resident/Erase", "/galley.v1.Resident/", "/x", "/"})
      EXPECT_EQ(CallRaw(channel, path).error_code(), StatusCode::UNIMPLEMENTED) << path;
  }
}

TEST_F(TableTest, AClientOfAnotherMachineSaysNothingOfOursFiles) {
  const auto cook = [&](const v1::CookAsk& ask) {
    const auto stub = v1::Resident::NewStub(wire::OpenChannel(clients_->address(), With("olga")));
    grpc::ClientContext context;
    Limit(context);
    const auto events = stub->Cook(&context, ask);
    v1::CookEvent event;
    while (events->Read(&event)) {
    }
    return events->Finish();
  };
  v1::CookAsk out, adopt, exact, plain;
  out.set_output_directory("/etc");
  adopt.set_adopt(true);
  exact.set_exact(true);
  for (const v1::CookAsk& ask : {out, adopt, exact}) {
    const grpc::Status status = cook(ask);
    EXPECT_EQ(status.error_code(), StatusCode::PERMISSION_DENIED);
    EXPECT_THAT(status.error_message(), testing::HasSubstr("is for the director's own user"));
  }
  plain.set_umask(0);
  plain.add_configuration()->set_key("store.dir");
  (*plain.mutable_environment())["HOME"] = "/home/anna";
  EXPECT_EQ(cook(plain).error_code(), StatusCode::INVALID_ARGUMENT) << "it came to the director";
  EXPECT_TRUE(resident_.asked.is_from_afar());
  EXPECT_EQ(resident_.asked.umask(), 022u);
  EXPECT_TRUE(resident_.asked.environment().empty());
  EXPECT_TRUE(resident_.asked.configuration().empty());
}

TEST_F(TableTest, TheCertificateSaysWhoAsksWhateverTheCallerSays) {
  const auto stub = v1::Resident::NewStub(wire::OpenChannel(clients_->address(), With("olga")));
  grpc::ClientContext context, cooks;
  for (grpc::ClientContext* one : {&context, &cooks}) {
    Limit(*one);
    one->AddMetadata(kCallerKey, "anna, process 1");
  }
  v1::StopAnswer answer;
  ASSERT_TRUE(stub->Stop(&context, v1::StopAsk(), &answer).ok());
  EXPECT_EQ(resident_.stopped_by, "galley olga at 127.0.0.1");
  v1::CookAsk ask;
  ask.set_asked_by("anna");
  const auto events = stub->Cook(&cooks, ask);
  v1::CookEvent event;
  EXPECT_FALSE(events->Read(&event));
  EXPECT_EQ(resident_.asked.asked_by(), "galley olga at 127.0.0.1");
}

TEST_F(TableTest, WhatACallerAtTheSocketSaysOfItselfIsOneShortLine) {
  const auto stub = v1::Resident::NewStub(wire::OpenChannel(socket_->address()));
  grpc::ClientContext context, silent;
  for (grpc::ClientContext* one : {&context, &silent}) Limit(*one);
  context.AddMetadata(kCallerKey, "a\n2026-11-28 error: b" + std::string(5'000, 'x'));
  v1::StopAnswer answer;
  ASSERT_TRUE(stub->Stop(&context, v1::StopAsk(), &answer).ok());
  EXPECT_EQ(resident_.stopped_by.find('\n'), std::string::npos);
  EXPECT_LT(resident_.stopped_by.size(), 300u);
  ASSERT_TRUE(stub->Stop(&silent, v1::StopAsk(), &answer).ok());
  EXPECT_EQ(resident_.stopped_by, "its own user");
}

TEST_F(TableTest, AClientsDoorWithoutTlsIsRefused) {
  EXPECT_TRUE(absl::IsFailedPrecondition(
      OpenClientDoor({.address = "127.0.0.1:0"}, resident_, *socket_).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      OpenClientDoor({.address = "unix:/tmp/s", .tls = TlsOfDoor()}, resident_, *socket_)
          .status()));
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
                               absl::FromTimeT(absl::ToTimeT(clock_.Now() + kLifetime)));
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

TEST_F(RolesTest, ARenewalThatComesLateLeavesTheOneInUseGood) {
  const Caller first = Launched("slurm-1", "slurm-1", kLaunch);
  Caller second, late;
  EXPECT_EQ(Attach(first,
                   [&] {
                     ASSERT_TRUE(Renew(first, &second).ok());
                     ASSERT_TRUE(Renew(first, &late).ok()) << "the second was not seen yet";
                     EXPECT_EQ(Fetch(second), StatusCode::OK);
                     EXPECT_EQ(Renew(first, &late).error_code(), StatusCode::UNAUTHENTICATED);
                     EXPECT_EQ(Fetch(second), StatusCode::OK);
                     EXPECT_EQ(Fetch(first), StatusCode::OK) << "what it began goes on";
                   }),
            StatusCode::OK);
  EXPECT_EQ(Attach(second), StatusCode::OK);
}

TEST_F(RolesTest, AFirstCertificateMayBeAskedForAgainByTheProcessThatAsked) {
  const wire::KeyAndRequest made = wire::NewKeyAndRequest().value();
  const Caller nobody = Anonymous("slurm-1", kLaunch);
  std::string lost, late;
  Caller first = nobody;
  first.tls.key = made.key;
  ASSERT_TRUE(Enroll(nobody, made.request, &lost).ok());
  ASSERT_TRUE(Enroll(nobody, made.request, &first.tls.certificate).ok());
  EXPECT_EQ(Attach(first,
                   [&] {
                     ASSERT_TRUE(Enroll(nobody, made.request, &late).ok());
                     EXPECT_EQ(Fetch(first), StatusCode::OK);
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
