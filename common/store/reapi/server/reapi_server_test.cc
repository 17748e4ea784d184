// The server as clients with protobuf and gRPC see it, over loopback and Unix sockets.
#include "common/store/reapi/server/reapi_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/base/file.h"
#include "common/base/hex.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/base/testing/await.h"
#include "common/base/zstd_stream.h"
#include "common/store/reapi/server/testing/reapi_messages.h"
#include "common/store/reapi/server/testing/resource_names.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "common/wire/channel.h"
#include "common/wire/tls_pair.h"
#include "gmock/gmock.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "google/rpc/status.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace galley::store {
namespace {

using google::bytestream::ByteStream;
using testing::Contains;
using testing::HasSubstr;

class HandClock final : public Clock {
 public:
  absl::Time Now() override { return absl::FromUnixSeconds(seconds.load()); }
  absl::Time Monotonic() override { return Now(); }
  std::atomic<int64_t> seconds{1000};
};

// The longest wait of our clients; no test waits so long.
void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
}

class ReapiServerTest : public testing::Test {
 protected:
  void Serve(ReapiServerOptions options = {}) {
    server_.reset();
    if (options.addresses.empty()) options.addresses = {"127.0.0.1:0"};
    options.sweeps_by_itself = false;
    options.on_step = [this] {
      {
        const base::MutexLock lock(steps_mutex_);
        ++steps_;
      }
      stepped_.NotifyAll();
    };
    auto server = ReapiServer::Start(store_, clock_, options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = wire::OpenChannel(server_->addresses()[0]);
    cas_ = reapi::ContentAddressableStorage::NewStub(channel_);
    results_ = reapi::ActionCache::NewStub(channel_);
    bytes_ = ByteStream::NewStub(channel_);
  }

  grpc::Status Update(const std::vector<std::string>& blobs,
                      reapi::BatchUpdateBlobsResponse* response) {
    reapi::BatchUpdateBlobsRequest request;
    for (const std::string& blob : blobs) {
      auto& one = *request.add_requests();
      SetWire(Digest::Of(blob), one.mutable_digest());
      one.set_data(blob);
    }
    grpc::ClientContext context;
    SetDeadline(context);
    return cas_->BatchUpdateBlobs(&context, request, response);
  }
  grpc::Status Write(const std::string& name, const std::vector<std::string>& pieces,
                     int64_t* committed, int64_t offset = 0, bool finish = true) {
    grpc::ClientContext context;
    SetDeadline(context);
    google::bytestream::WriteResponse response;
    const auto writer = bytes_->Write(&context, &response);
    for (size_t i = 0; i < pieces.size(); ++i) {
      google::bytestream::WriteRequest request;
      if (i == 0) request.set_resource_name(name);
      request.set_write_offset(offset);
      request.set_data(pieces[i]);
      request.set_finish_write(finish && i + 1 == pieces.size());
      offset += static_cast<int64_t>(pieces[i].size());
      if (!writer->Write(request)) break;  // the server answered early
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (committed != nullptr) *committed = response.committed_size();
    return status;
  }
  std::pair<grpc::Status, std::string> Read(const std::string& name, int64_t offset = 0) {
    grpc::ClientContext context;
    SetDeadline(context);
    google::bytestream::ReadRequest request;
    request.set_resource_name(name);
    request.set_read_offset(offset);
    const auto reader = bytes_->Read(&context, request);
    google::bytestream::ReadResponse response;
    std::string bytes;
    while (reader->Read(&response)) bytes += response.data();
    return {reader->Finish(), bytes};
  }
  static std::string WriteName(const Digest& digest,
                               Compressor compressor = Compressor::kIdentity) {
    return FormatResourceName({.upload_id = "id", .compressor = compressor, .digest = digest});
  }
  // Calls any method with any bytes.
  grpc::Status Call(const std::string& method, const std::string& request,
                    const std::vector<std::pair<std::string, std::string>>& metadata = {}) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    SetDeadline(context);
    for (const auto& [key, value] : metadata) context.AddMetadata(key, value);
    grpc::CompletionQueue queue;
    const grpc::Slice slice(request);
    const grpc::ByteBuffer message(&slice, 1);
    grpc::ByteBuffer reply;
    grpc::Status status;
    const auto call = stub.PrepareUnaryCall(&context, method, message, &queue);
    call->StartCall();
    call->Finish(&reply, &status, nullptr);
    void* tag = nullptr;
    bool is_ok = false;
    EXPECT_TRUE(queue.Next(&tag, &is_ok));
    queue.Shutdown();
    return status;
  }
  // A call may begin to wait for more a moment after its effect could be seen: time passes until
  // every call has waited for too long.
  void SweepUntilNoCallIsOpen() {
    const WaitLimit limit("the end of all calls");
    while (server_->open_calls() != 0) {
      clock_.seconds += 61;
      server_->Sweep();
      std::this_thread::yield();
    }
  }
  // A connection is cut off if it has not gone a second after it was told to go.
  static bool IsOverdue(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
           status.error_code() == grpc::StatusCode::CANCELLED;
  }
  // Waits for `what`: until `is_so`, which a step of a call brings about.
  template <typename Condition>
  void Await(std::string what, const Condition& is_so) {
    const WaitLimit limit(std::move(what));
    uint64_t seen = 0;
    while (!is_so()) {
      const base::MutexLock lock(steps_mutex_);
      while (steps_ == seen) stepped_.Wait(steps_mutex_);
      seen = steps_;
    }
  }

  MemoryStore store_;
  HandClock clock_;
  base::Mutex steps_mutex_;
  base::CondVar stepped_;
  uint64_t steps_ GALLEY_GUARDED_BY(steps_mutex_) = 0;
  std::unique_ptr<ReapiServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<reapi::ContentAddressableStorage::Stub> cas_;
  std::unique_ptr<reapi::ActionCache::Stub> results_;
  std::unique_ptr<ByteStream::Stub> bytes_;
};

std::string Noise(size_t size) {
  std::string noise;
  for (int i = 0; noise.size() < size; ++i) noise += Digest::Of(std::to_string(i)).hash();
  noise.resize(size);
  return noise;
}

TEST_F(ReapiServerTest, BlobsComeAndGoInBatches) {
  Serve();
  reapi::BatchUpdateBlobsResponse updated;
  ASSERT_TRUE(Update({"one", "two"}, &updated).ok());
  EXPECT_EQ(updated.responses_size(), 2);
  EXPECT_EQ(store_.Info()->commits, 1u);  // durable before the answer
  reapi::FindMissingBlobsRequest find;
  SetWire(Digest::Of("one"), find.add_blob_digests());
  SetWire(Digest::Of("three"), find.add_blob_digests());
  reapi::FindMissingBlobsResponse missing;
  grpc::ClientContext finding, reading;
  ASSERT_TRUE(cas_->FindMissingBlobs(&finding, find, &missing).ok());
  ASSERT_EQ(missing.missing_blob_digests_size(), 1);
  EXPECT_EQ(FromWire(missing.missing_blob_digests(0)), Digest::Of("three"));
  reapi::BatchReadBlobsRequest read;
  SetWire(Digest::Of("two"), read.add_digests());
  reapi::BatchReadBlobsResponse blobs;
  ASSERT_TRUE(cas_->BatchReadBlobs(&reading, read, &blobs).ok());
  EXPECT_EQ(blobs.responses(0).data(), "two");
}

TEST_F(ReapiServerTest, LargeBlobsComeAndGoInStreams) {
  Serve();
  const std::string bytes = Noise(3'000'000);
  const Digest digest = Digest::Of(bytes);
  int64_t committed = 0;
  const grpc::Status written =
      Write(WriteName(digest), {bytes.substr(0, 1'000'000), bytes.substr(1'000'000)}, &committed);
  ASSERT_TRUE(written.ok()) << written.error_message();
  EXPECT_EQ(committed, 3'000'000);
  EXPECT_EQ(store_.Info()->commits, 1u);
  EXPECT_EQ(Read(FormatResourceName({.digest = digest})).second, bytes);
  EXPECT_EQ(Read(FormatResourceName({.digest = digest}), 2'999'990).second,
            bytes.substr(2'999'990));
  const std::string packed =
      Read(FormatResourceName({.compressor = Compressor::kZstd, .digest = digest})).second;
  EXPECT_EQ(ZstdDecompress(packed, bytes.size()).value(), bytes);
  EXPECT_EQ(Read(FormatResourceName({.digest = Digest::Of("absent")})).first.error_code(),
            grpc::StatusCode::NOT_FOUND);
  // Written again: answered at the first message.
  ASSERT_TRUE(Write(WriteName(digest), {bytes.substr(0, 10)}, &committed).ok());
  EXPECT_EQ(committed, 3'000'000);
}

TEST_F(ReapiServerTest, AnUploadGoesOnAfterItsStreamBroke) {
  Serve();
  const std::string bytes = Noise(200'000);
  const std::string name = WriteName(Digest::Of(bytes));
  google::bytestream::QueryWriteStatusRequest query;
  query.set_resource_name(name);
  google::bytestream::QueryWriteStatusResponse status;
  {
    grpc::ClientContext context;
    google::bytestream::WriteResponse response;
    const auto writer = bytes_->Write(&context, &response);
    google::bytestream::WriteRequest request;
    request.set_resource_name(name);
    request.set_data(bytes.substr(0, 150'000));
    ASSERT_TRUE(writer->Write(request));
    Await("the bytes that were sent", [&] {
      grpc::ClientContext asking;
      return bytes_->QueryWriteStatus(&asking, query, &status).ok() &&
             status.committed_size() == 150'000;
    });
    context.TryCancel();
    EXPECT_FALSE(writer->Finish().ok());
  }
  Await("the end of all calls", [&] { return server_->open_calls() == 0; });
  EXPECT_EQ(server_->open_uploads(), 1u);
  int64_t committed = 0;
  ASSERT_TRUE(Write(name, {bytes.substr(150'000)}, &committed, 150'000).ok());
  EXPECT_EQ(committed, 200'000);
  EXPECT_EQ(GetBytes(store_, Digest::Of(bytes)), bytes);
  grpc::ClientContext asking;
  ASSERT_TRUE(bytes_->QueryWriteStatus(&asking, query, &status).ok());
  EXPECT_TRUE(status.complete());
}

TEST_F(ReapiServerTest, ResultsAreKeptAndWhatIsMissingIsTold) {
  Serve();
  reapi::UpdateActionResultRequest update;
  SetWire(Digest::Of("action"), update.mutable_action_digest());
  auto& file = *update.mutable_action_result()->add_output_files();
  file.set_path("a");
  SetWire(Digest::Of("out"), file.mutable_digest());
  reapi::ActionResult result;
  grpc::ClientContext first, second, third, fourth;
  const grpc::Status refused = results_->UpdateActionResult(&first, update, &result);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  const auto details = Parsed<google::rpc::Status>(refused.error_details());
  EXPECT_EQ(details.code(), 9);
  google::rpc::PreconditionFailure failure;
  ASSERT_EQ(details.details_size(), 1);
  ASSERT_TRUE(details.details(0).UnpackTo(&failure));
  EXPECT_EQ(failure.violations(0).subject(), "blobs/" + Digest::Of("out").ToString());
  PutBytes(store_, "out");
  ASSERT_TRUE(results_->UpdateActionResult(&second, update, &result).ok());
  reapi::GetActionResultRequest get;
  *get.mutable_action_digest() = update.action_digest();
  ASSERT_TRUE(results_->GetActionResult(&third, get, &result).ok());
  EXPECT_EQ(result.SerializeAsString(), update.action_result().SerializeAsString());
  SetWire(Digest::Of("another"), get.mutable_action_digest());
  EXPECT_EQ(results_->GetActionResult(&fourth, get, &result).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ReapiServerTest, ATreeComesInPages) {
  Serve();
  reapi::Directory leaf, root;
  leaf.add_symlinks()->set_name("link");
  leaf.mutable_symlinks(0)->set_target("/anywhere");
  auto& node = *root.add_directories();
  node.set_name("d");
  SetWire(PutBytes(store_, leaf.SerializeAsString()), node.mutable_digest());
  reapi::GetTreeRequest request;
  SetWire(PutBytes(store_, root.SerializeAsString()), request.mutable_root_digest());
  request.set_page_size(1);
  grpc::ClientContext context;
  const auto reader = cas_->GetTree(&context, request);
  reapi::GetTreeResponse page;
  std::vector<std::string> directories;
  while (reader->Read(&page)) directories.push_back(page.directories(0).SerializeAsString());
  ASSERT_TRUE(reader->Finish().ok());
  EXPECT_THAT(directories,
              testing::ElementsAre(root.SerializeAsString(), leaf.SerializeAsString()));
}

TEST_F(ReapiServerTest, HealthAndReflectionAreServed) {
  Serve();
  const auto health = grpc::health::v1::Health::NewStub(channel_);
  const auto status_of = [&](const std::string& service) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    grpc::health::v1::HealthCheckResponse response;
    const grpc::Status status = health->Check(&context, request, &response);
    return status.ok() ? static_cast<int>(response.status()) : -status.error_code();
  };
  EXPECT_EQ(status_of(""), grpc::health::v1::HealthCheckResponse::SERVING);
  EXPECT_EQ(status_of("build.bazel.remote.execution.v2.ActionCache"),
            grpc::health::v1::HealthCheckResponse::SERVING);
  EXPECT_EQ(status_of("galley.v1.Store"), -static_cast<int>(grpc::StatusCode::NOT_FOUND));
  {
    grpc::ClientContext context;
    const auto watch = health->Watch(&context, grpc::health::v1::HealthCheckRequest());
    grpc::health::v1::HealthCheckResponse response;
    ASSERT_TRUE(watch->Read(&response));
    EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::SERVING);
    context.TryCancel();
    EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  using grpc::reflection::v1alpha::ServerReflectionRequest;
  using grpc::reflection::v1alpha::ServerReflectionResponse;
  grpc::ClientContext context;
  const auto stream =
      grpc::reflection::v1alpha::ServerReflection::NewStub(channel_)->ServerReflectionInfo(
          &context);
  ServerReflectionRequest request;
  ServerReflectionResponse response;
  request.set_list_services("");
  ASSERT_TRUE(stream->Write(request) && stream->Read(&response));
  std::vector<std::string> services;
  for (const auto& service : response.list_services_response().service())
    services.push_back(service.name());
  EXPECT_THAT(services, Contains("google.bytestream.ByteStream"));
  EXPECT_THAT(services, Contains("build.bazel.remote.execution.v2.Capabilities"));
  request.set_file_containing_symbol("google.bytestream.ByteStream.Read");
  ASSERT_TRUE(stream->Write(request) && stream->Read(&response));
  ASSERT_EQ(response.file_descriptor_response().file_descriptor_proto_size(), 1);
  EXPECT_THAT(response.file_descriptor_response().file_descriptor_proto(0),
              HasSubstr("WriteRequest"));
  request.set_file_containing_symbol("no.such.Thing");
  ASSERT_TRUE(stream->Write(request) && stream->Read(&response));
  EXPECT_EQ(response.error_response().error_code(), 5);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  Await("the end of all calls", [&] { return server_->open_calls() == 0; });
}

TEST_F(ReapiServerTest, WhatIsNotServedIsUnimplemented) {
  Serve();
  for (const char* method :
       {"/build.bazel.remote.execution.v2.ContentAddressableStorage/SplitBlob",
        "/build.bazel.remote.execution.v2.Execution/Execute", "/galley.v1.Store/Verify", "/x"})
    EXPECT_EQ(Call(method, "").error_code(), grpc::StatusCode::UNIMPLEMENTED) << method;
}

// The wire tests for bad input: bytes that are no request, for every method.
TEST_F(ReapiServerTest, BytesThatAreNoRequestAreRefused) {
  Serve();
  const std::string reapi_service = "/build.bazel.remote.execution.v2.";
  std::string nested;
  for (int i = 0; i < 10'000; ++i) {
    WireWriter outer;
    outer.Element(2, nested);
    nested = outer.Take();
  }
  const std::string requests[] = {
      "\xff",                                      // a tag without end
      std::string("\x0a\xff\xff\xff\xff\x0f", 6),  // announces 4 GiB that are not there
      "\x0b",                                      // a group
      std::string("\x00\x01", 2),                  // field 0
      "\x0a\x01\xff",                              // a name that is no text
  };
  for (const std::string& method :
       {reapi_service + "Capabilities/GetCapabilities",
        reapi_service + "ContentAddressableStorage/FindMissingBlobs",
        reapi_service + "ContentAddressableStorage/BatchUpdateBlobs",
        reapi_service + "ContentAddressableStorage/BatchReadBlobs",
        reapi_service + "ContentAddressableStorage/GetTree",
        reapi_service + "ActionCache/GetActionResult",
        reapi_service + "ActionCache/UpdateActionResult",
        std::string("/google.bytestream.ByteStream/Read"),
        std::string("/google.bytestream.ByteStream/Write"),
        std::string("/google.bytestream.ByteStream/QueryWriteStatus"),
        std::string("/grpc.health.v1.Health/Check"), std::string("/grpc.health.v1.Health/Watch"),
        std::string("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")}) {
    for (const std::string& request : requests)
      EXPECT_EQ(Call(method, request).error_code(), grpc::StatusCode::INVALID_ARGUMENT)
          << method << " " << HexEncode(request);
  }
  EXPECT_EQ(Call(reapi_service + "ContentAddressableStorage/BatchUpdateBlobs", nested).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  reapi::BatchUpdateBlobsResponse updated;
  EXPECT_TRUE(Update({"still here"}, &updated).ok());
}

TEST_F(ReapiServerTest, MessagesHaveALimit) {
  Serve();
  // gRPC's own clients and servers accept 4 MiB by default.
  const auto update_of = [&](size_t message_bytes) {
    // Blobs up to the limit of a batch; an unknown field fills the message.
    WireWriter request;
    request.Element(99, std::string(message_bytes - 16, 'x'));
    return Call("/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs",
                request.bytes());
  };
  for (const size_t size : {(size_t{4} << 20) - 1, size_t{4} << 20, (size_t{4} << 20) + 1})
    EXPECT_TRUE(update_of(size).ok()) << size;
  EXPECT_EQ(update_of((size_t{4} << 20) + (size_t{128} << 10)).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  reapi::BatchUpdateBlobsResponse updated;
  EXPECT_TRUE(Update({Noise(3'799'000)}, &updated).ok());
  EXPECT_EQ(Update({Noise(3'800'001)}, &updated).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ReapiServerTest, MetadataHasALimit) {
  Serve();
  const std::string method = "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities";
  EXPECT_TRUE(Call(method, "", {{"x", std::string(9 << 10, 'x')}}).ok());
  EXPECT_EQ(Call(method, "", {{"x", std::string(17 << 10, 'x')}}).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  // The server may have given the old connection up.
  channel_ = wire::OpenChannel(server_->addresses()[0]);
  EXPECT_TRUE(Call(method, "").ok());
}

TEST_F(ReapiServerTest, MessagesPackedByGrpcAreRefused) {
  Serve();
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  reapi::BatchUpdateBlobsRequest request;
  auto& one = *request.add_requests();
  const std::string zeros(100'000, '\0');
  SetWire(Digest::Of(zeros), one.mutable_digest());
  one.set_data(zeros);
  reapi::BatchUpdateBlobsResponse response;
  EXPECT_EQ(cas_->BatchUpdateBlobs(&context, request, &response).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

// A frame of 33 KB that would become 1 GiB.
TEST_F(ReapiServerTest, ABombIsCutAtTheDeclaredSize) {
  Serve();
  ZstdCompressor compressor;
  std::string bomb;
  const std::string zeros(size_t{64} << 20, '\0');
  for (int i = 0; i < 16; ++i) compressor.Append(zeros, bomb);
  compressor.Finish(bomb);
  const Digest digest = *Digest::FromHash(Digest::Of("bomb").hash(), 1'000'000);
  EXPECT_EQ(Write(WriteName(digest, Compressor::kZstd), {bomb}, nullptr).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(server_->open_uploads(), 0u);
}

TEST_F(ReapiServerTest, ACallWithoutDeadlineGetsTheServers) {
  Serve();
  grpc::ClientContext context;  // no deadline
  google::bytestream::WriteResponse response;
  const auto writer = bytes_->Write(&context, &response);
  google::bytestream::WriteRequest request;
  request.set_resource_name(WriteName(Digest::Of("bytes")));
  request.set_data("by");
  ASSERT_TRUE(writer->Write(request));
  Await("an upload", [&] { return server_->open_uploads() == 1; });
  server_->Sweep();
  EXPECT_EQ(server_->open_calls(), 1u);  // not overdue yet
  SweepUntilNoCallIsOpen();
  EXPECT_TRUE(IsOverdue(writer->Finish()));
  EXPECT_EQ(server_->open_uploads(), 0u);
}

// A piece is larger than the window of a stream that nobody reads, and blocks everything else that
// the server could say.
TEST_F(ReapiServerTest, AReaderWhoDoesNotReadIsLetGo) {
  Serve();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // the window stays as it is
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 64 << 10);
  const auto bytes = ByteStream::NewStub(grpc::CreateCustomChannel(
      server_->addresses()[0], grpc::InsecureChannelCredentials(), arguments));
  const Digest digest = PutBytes(store_, Noise(2'000'000));
  grpc::ClientContext context;
  google::bytestream::ReadRequest request;
  request.set_resource_name(FormatResourceName({.digest = digest}));
  const auto reader = bytes->Read(&context, request);
  reader->WaitForInitialMetadata();  // comes with the first piece
  SweepUntilNoCallIsOpen();
  context.TryCancel();  // Finish would wait for somebody to read the pieces
  EXPECT_FALSE(reader->Finish().ok());
}

TEST_F(ReapiServerTest, UploadsThatNeverFinishAreReclaimed) {
  Serve({.uploads = {.open_max = 200, .of_one_max = 200}});
  struct Upload {
    grpc::ClientContext context;
    google::bytestream::WriteResponse response;
    std::unique_ptr<grpc::ClientWriter<google::bytestream::WriteRequest>> writer;
  };
  std::vector<std::unique_ptr<Upload>> uploads;
  for (int i = 0; i < 100; ++i) {
    auto upload = std::make_unique<Upload>();
    upload->writer = bytes_->Write(&upload->context, &upload->response);
    google::bytestream::WriteRequest request;
    request.set_resource_name(WriteName(Digest::Of(std::to_string(i))));
    ASSERT_TRUE(upload->writer->Write(request));
    uploads.push_back(std::move(upload));
  }
  Await("100 uploads", [&] { return server_->open_uploads() == 100; });
  SweepUntilNoCallIsOpen();
  EXPECT_EQ(server_->open_uploads(), 0u);
  for (const auto& upload : uploads) EXPECT_TRUE(IsOverdue(upload->writer->Finish()));
}

TEST_F(ReapiServerTest, CallsBeyondTheLimitAreToldWhenToComeAgain) {
  Serve({.calls_max = 1});
  grpc::ClientContext context;
  const auto watch = grpc::health::v1::Health::NewStub(channel_)->Watch(
      &context, grpc::health::v1::HealthCheckRequest());
  grpc::health::v1::HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  const grpc::Status busy =
      Call("/build.bazel.remote.execution.v2.Capabilities/GetCapabilities", "");
  EXPECT_EQ(busy.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(Parsed<google::rpc::Status>(busy.error_details()).details(0).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  context.TryCancel();
  static_cast<void>(watch->Finish());
  Await("the end of all calls", [&] { return server_->open_calls() == 0; });
  EXPECT_TRUE(Call("/build.bazel.remote.execution.v2.Capabilities/GetCapabilities", "").ok());
}

TEST_F(ReapiServerTest, TheServerEndsWhileCallsAreOpen) {
  Serve();
  grpc::ClientContext watching, writing;
  const auto watch = grpc::health::v1::Health::NewStub(channel_)->Watch(
      &watching, grpc::health::v1::HealthCheckRequest());
  grpc::health::v1::HealthCheckResponse health;
  ASSERT_TRUE(watch->Read(&health));
  google::bytestream::WriteResponse response;
  const auto writer = bytes_->Write(&writing, &response);
  google::bytestream::WriteRequest request;
  request.set_resource_name(WriteName(Digest::Of("bytes")));
  ASSERT_TRUE(writer->Write(request));
  Await("an upload", [&] { return server_->open_uploads() == 1; });
  server_.reset();
  EXPECT_FALSE(watch->Finish().ok());
  EXPECT_FALSE(writer->Finish().ok());
}

TEST_F(ReapiServerTest, WhoShowsNoTokenIsAskedForOne) {
  std::vector<Identity> identities = {
      {.name = "reader", .token_sha256 = std::string(Digest::Of("r").hash())},
      {.name = "writer",
       .token_sha256 = std::string(Digest::Of("w").hash()),
       .role = Role::kWriter,
       .instances = {"main"}}};
  Serve({.identities = identities});
  const std::string update =
      "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs";
  const auto code = [&](const std::string& token, const std::string& request = "") {
    return Call(update, request, {{"authorization", "Bearer " + token}}).error_code();
  };
  EXPECT_EQ(Call(update, "").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code("x"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code("r"), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(code("w"), grpc::StatusCode::PERMISSION_DENIED);  // not in the instance ""
  reapi::BatchUpdateBlobsRequest request;
  request.set_instance_name("main");
  EXPECT_EQ(code("w", request.SerializeAsString()), grpc::StatusCode::OK);
  EXPECT_TRUE(Call("/grpc.health.v1.Health/Check", "").ok());
}

TEST_F(ReapiServerTest, AUnixSocketIsServedToo) {
  const TemporaryFolder folder;
  Serve({.addresses = {"unix:" + folder.In("s")}});
  reapi::BatchUpdateBlobsResponse updated;
  EXPECT_TRUE(Update({"one"}, &updated).ok());
}

TEST_F(ReapiServerTest, AnAddressThatIsTakenIsAnError) {
  Serve();
  const auto second = ReapiServer::Start(store_, clock_, {.addresses = server_->addresses()});
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(MessageOf(second.status()), HasSubstr("Address already in use"));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      ReapiServer::Start(store_, clock_, {.addresses = {"0.0.0.0:0"}}).status()));
}

// A folder with a CA and certificates that the CA has signed.
struct Certificates {
  TemporaryFolder folder;
  Certificates() {
    Run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca "
        "-keyout ca.key -out ca.pem");
    Make("server", "subjectAltName=DNS:localhost,IP:127.0.0.1");
    Make("ci", "subjectAltName=URI:spiffe://farm/ci");
    Make("stranger", "subjectAltName=URI:spiffe://farm/stranger");
    Run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ci "
        "-keyout self.key -out self.pem");
  }
  void Run(const std::string& command) {
    EXPECT_EQ(std::system(("cd " + folder.path() + " && " + command + " 2>/dev/null").c_str()), 0)
        << command;
  }
  void Make(const std::string& name, const std::string& extension) {
    Run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + name +
        " -keyout " + name + ".key -out " + name + ".csr && printf '" + extension + "' > " + name +
        ".ext && openssl x509 -req -in " + name +
        ".csr -CA ca.pem -CAkey ca.key -CAcreateserial "
        "-days 2 -extfile " +
        name + ".ext -out " + name + ".pem");
  }
  std::string Text(const std::string& file) { return *galley::ReadFile(folder.In(file)); }
  wire::TlsFiles files(bool with_ca) {
    return {.certificate = folder.In("server.pem"),
            .key = folder.In("server.key"),
            .ca = with_ca ? folder.In("ca.pem") : ""};
  }
  // A client that shows the certificate `name`; "": none.
  std::shared_ptr<grpc::Channel> Channel(const std::string& address, const std::string& name) {
    grpc::SslCredentialsOptions options{.pem_root_certs = Text("ca.pem")};
    if (!name.empty()) {
      options.pem_private_key = Text(name + ".key");
      options.pem_cert_chain = Text(name + ".pem");
    }
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(address, grpc::SslCredentials(options), arguments);
  }
};

TEST_F(ReapiServerTest, ACertificateNamesItsOwner) {
  Certificates certificates;
  Serve({.identities = {{.name = "ci", .certificate = "spiffe://farm/ci", .role = Role::kWriter},
                        {.name = "dev", .token_sha256 = std::string(Digest::Of("d").hash())}},
         .tls = certificates.files(/*with_ca=*/true)});
  const std::string method =
      "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs";
  const auto code = [&](const std::string& name, const std::string& token = "") {
    channel_ = certificates.Channel(server_->addresses()[0], name);
    std::vector<std::pair<std::string, std::string>> metadata;
    if (!token.empty()) metadata = {{"authorization", "Bearer " + token}};
    return Call(method, "", metadata).error_code();
  };
  EXPECT_EQ(code("ci"), grpc::StatusCode::OK);
  EXPECT_EQ(code("stranger"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code(""), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code("", "d"), grpc::StatusCode::PERMISSION_DENIED);  // known, but only a reader
  // The CA has not signed this certificate, so it gets no answer.
  EXPECT_EQ(code("self"), grpc::StatusCode::UNAVAILABLE);
  channel_ = wire::OpenChannel(server_->addresses()[0]);  // without TLS
  EXPECT_EQ(Call(method, "").error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ReapiServerTest, WithoutTokensACertificateIsDemanded) {
  Certificates certificates;
  Serve({.identities = {{.name = "ci", .certificate = "spiffe://farm/ci"}},
         .tls = certificates.files(/*with_ca=*/true)});
  channel_ = certificates.Channel(server_->addresses()[0], "");
  EXPECT_EQ(Call("/grpc.health.v1.Health/Check", "").error_code(), grpc::StatusCode::UNAVAILABLE);
  channel_ = certificates.Channel(server_->addresses()[0], "ci");
  EXPECT_TRUE(Call("/grpc.health.v1.Health/Check", "").ok());
}

TEST_F(ReapiServerTest, IdentitiesThatChangeAreTakenWithoutARestart) {
  const TemporaryFolder folder;
  const std::string file = folder.In("identities.toml");
  const auto write = [&](const std::string& token) {
    ASSERT_TRUE(WriteFileAtomic(file, "[[identity]]\nname = \"" + token +
                                          "\"\nrole = \"reader\"\ntoken_sha256 = \"" +
                                          Digest::Of(token).hex() + "\"\n")
                    .ok());
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  };
  const auto code = [&](const std::string& token) {
    return Call("/build.bazel.remote.execution.v2.Capabilities/GetCapabilities", "",
                {{"authorization", "Bearer " + token}})
        .error_code();
  };
  write("old");
  Serve({.identities = *ReadIdentities(file), .identities_file = file});
  EXPECT_EQ(code("old"), grpc::StatusCode::OK);
  write("new");
  server_->Sweep();
  EXPECT_EQ(code("old"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code("new"), grpc::StatusCode::OK);
  ASSERT_TRUE(WriteFileAtomic(file, "[[identity").ok());
  server_->Sweep();
  EXPECT_EQ(code("new"), grpc::StatusCode::OK);  // stays until somebody mends the file
}

TEST_F(ReapiServerTest, ACertificateThatChangesIsTakenWithoutARestart) {
  Certificates old, other;
  Serve({.addresses = {"127.0.0.1:0", "127.0.0.1:0"}, .tls = old.files(/*with_ca=*/false)});
  const auto code = [&](Certificates& trusted, size_t address = 0) {
    channel_ = trusted.Channel(server_->addresses()[address], "");
    return Call("/grpc.health.v1.Health/Check", "").error_code();
  };
  EXPECT_EQ(code(old), grpc::StatusCode::OK);
  EXPECT_EQ(code(other), grpc::StatusCode::UNAVAILABLE);
  const auto sweep = [&] {
    clock_.seconds += 10;
    server_->Sweep();
  };
  // None of these changes ever takes effect, not even an empty certificate, which would end gRPC.
  for (const std::string& change :
       {"cp " + other.folder.In("server.key") + " .", std::string(": > server.pem"),
        std::string("echo x > server.pem"), std::string("rm server.pem"),
        std::string(": > server.key")}) {
    old.Run(change);
    sweep();
    EXPECT_EQ(code(old), grpc::StatusCode::OK) << change;
  }
  old.Run("cp " + other.folder.In("server.key") + " " + other.folder.In("server.pem") + " .");
  sweep();
  for (const size_t address : {0, 1}) {
    EXPECT_EQ(code(other, address), grpc::StatusCode::OK);
    EXPECT_EQ(code(old, address), grpc::StatusCode::UNAVAILABLE);
  }
}

TEST_F(ReapiServerTest, APairThatCannotBeUsedIsToldOnceAndAnEndOnce) {
  Certificates certificates;
  const wire::TlsFiles files = certificates.files(/*with_ca=*/true);
  wire::TlsPair pair(files, *wire::ReadTlsFiles(files));
  uint64_t seen = 0;
  EXPECT_TRUE(pair.NewerThan(seen).has_value());
  EXPECT_FALSE(pair.NewerThan(seen).has_value());
  EXPECT_FALSE(*pair.Look());
  certificates.Run("cp server.key kept.key && cp ci.key server.key");
  EXPECT_THAT(MessageOf(pair.Look().status()),
              HasSubstr(files.key + ": expected the private key of the certificate in " +
                        files.certificate));
  EXPECT_FALSE(*pair.Look());  // the same pair as before
  certificates.Run("echo '-----BEGIN CERTIFICATE-----' >> server.pem");
  EXPECT_THAT(MessageOf(pair.Look().status()), HasSubstr("one behind the first is damaged"));
  EXPECT_FALSE(pair.NewerThan(seen).has_value());
  certificates.Run("cp ci.pem server.pem");
  EXPECT_TRUE(*pair.Look());
  EXPECT_EQ(pair.NewerThan(seen)->certificate, certificates.Text("ci.pem"));
  EXPECT_FALSE(pair.TellExpired(absl::Now()).has_value());
  const absl::Time later = absl::Now() + absl::Hours(24 * 3);
  EXPECT_THAT(pair.TellExpired(later).value_or(""), HasSubstr(files.certificate + ": the cert"));
  EXPECT_FALSE(pair.TellExpired(later).has_value());
}

TEST_F(ReapiServerTest, AUnixSocketBesideTlsSpeaksNone) {
  Certificates certificates;
  Serve({.addresses = {"127.0.0.1:0", "unix:" + certificates.folder.In("s")},
         .identities = {{.name = "r", .token_sha256 = std::string(Digest::Of("r").hash())}},
         .tls = certificates.files(/*with_ca=*/false)});
  channel_ = wire::OpenChannel(server_->addresses()[1]);
  const auto code = [&](const std::string& token) {
    return Call("/build.bazel.remote.execution.v2.Capabilities/GetCapabilities", "",
                {{"authorization", "Bearer " + token}})
        .error_code();
  };
  EXPECT_EQ(code("r"), grpc::StatusCode::OK);
  EXPECT_EQ(code("x"), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ReapiServerTest, ASecondServerLeavesTheFirstOnesSocketAlone) {
  const TemporaryFolder folder;
  const std::string address = "unix:" + folder.In("s");
  Serve({.addresses = {address}});
  {
    const auto second = ReapiServer::Start(store_, clock_, {.addresses = {address}});
    EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
    EXPECT_THAT(MessageOf(second.status()), HasSubstr("another server listens there"));
  }
  EXPECT_TRUE(Call("/grpc.health.v1.Health/Check", "").ok());
  server_.reset();
  EXPECT_NE(::access(folder.In("s").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace galley::store
