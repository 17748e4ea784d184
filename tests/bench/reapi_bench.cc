// reapi_bench: the store over gRPC, beside bare gRPC that only carries the same bytes.
//
// A process, one loopback connection each, eight calls in flight. Each of --runs rounds does, one
// after the other, with bytes that the store has not seen:
//   update    BatchUpdateBlobs of 4 KB blobs, 900 a call, each call durable when it is answered;
//             bare: the same messages, echoed
//   write     ByteStream.Write of 16 MiB blobs in 64 KiB messages, durable; bare: a stream of the
//             same messages to a service that takes their SHA-256
//   read      ByteStream.Read of the same blobs; bare: a stream of as many bytes in pieces of the
//             same size to a caller who takes their SHA-256
//   hits, misses
//             FindMissingBlobs, 4,000 digests a call; bare: the same messages, echoed
// Ratios are of the medians: 1 is as fast as bare gRPC. `cpu` is the processor time of the process,
// callers included, for a blob, a megabyte or a digest, in microseconds: on a busy machine it tells
// what an idle machine could do.
//
// Also measured is the disk alone: `sync` is 3.6 MiB appended and fdatasync'ed, again and again, by
// a single thread.
//
// usage: reapi_bench [--runs N] [--json] [--dir DIR] [--only update|write|read|find]
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/store/local/open.h"
#include "common/store/reapi/server/blob_reads.h"
#include "common/store/reapi/server/reapi_server.h"
#include "common/tree/wire_fields.h"
#include "common/wire/channel.h"
#include "fmt/format.h"
#include "grpcpp/channel.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

namespace galley::store {
namespace {

constexpr size_t kSmallBytes = 4096, kSmallInCall = 900, kUpdateCalls = 32;
constexpr size_t kLargeBytes = 16 << 20, kLargeBlobs = 8, kPieceBytes = 64 << 10;
constexpr size_t kDigestsInCall = 4000, kFindCalls = 24;
constexpr size_t kInFlight = 8;
const std::string kCas = "/build.bazel.remote.execution.v2.ContentAddressableStorage/";
const std::string kByteStream = "/google.bytestream.ByteStream/";

struct Cost {
  double wall = 0, cpu = 0;  // seconds
};

double Now(clockid_t clock) {
  struct timespec time {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <typename Body>
Cost CostOf(const Body& body) {
  const double wall = Now(CLOCK_MONOTONIC), cpu = Now(CLOCK_PROCESS_CPUTIME_ID);
  body();
  return {.wall = Now(CLOCK_MONOTONIC) - wall, .cpu = Now(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

template <typename T>
T Require(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "reapi_bench: %s\n", MessageOf(value.status()).c_str());
  std::exit(1);
}
void Require(bool is_ok, const std::string& what) {
  if (is_ok) return;
  std::fprintf(stderr, "reapi_bench: %s\n", what.c_str());
  std::exit(1);
}

std::string RandomBytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    const uint64_t value = random();
    std::memcpy(&bytes[i], &value, std::min(sizeof(value), size - i));
  }
  return bytes;
}

grpc::ByteBuffer BufferOf(std::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size(), grpc::Slice::STATIC_SLICE);
  return grpc::ByteBuffer(&slice, 1);
}

void Hash(const grpc::ByteBuffer& buffer, DigestBuilder& hash) {
  std::vector<grpc::Slice> slices;
  Require(buffer.Dump(&slices).ok(), "a message that cannot be read");
  for (const grpc::Slice& slice : slices)
    hash.Add({reinterpret_cast<const char*>(slice.begin()), slice.size()});
}

// The bare methods: /bare/Echo answers what it is sent; /bare/Take hashes what it is sent and
// answers a message without meaning; /bare/Give sends `given` in pieces.
class BareService final : public grpc::CallbackGenericService {
 public:
  explicit BareService(std::string_view given) : given_(given) {}

 private:
  class Echo final : public grpc::ServerGenericBidiReactor {
   public:
    Echo() { StartRead(&message_); }
    void OnReadDone(bool is_ok) override {
      if (!is_ok) return Finish(grpc::Status::CANCELLED);
      StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    grpc::ByteBuffer message_;
  };
  class Take final : public grpc::ServerGenericBidiReactor {
   public:
    Take() { StartRead(&message_); }
    void OnReadDone(bool is_ok) override {
      if (is_ok) {
        Hash(message_, hash_);
        return StartRead(&message_);
      }
      answer_ = hash_.Finish().hex();
      message_ = BufferOf(answer_);
      StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    grpc::ByteBuffer message_;
    DigestBuilder hash_;
    std::string answer_;
  };
  class Give final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Give(std::string_view given) : left_(given) { StartRead(&message_); }
    void OnReadDone(bool) override { Next(); }
    void OnWriteDone(bool) override { Next(); }
    void OnDone() override { delete this; }

   private:
    void Next() {
      if (left_.empty()) return Finish(grpc::Status::OK);
      const std::string_view piece = left_.substr(0, kReadPieceBytes);
      left_.remove_prefix(piece.size());
      message_ = BufferOf(piece);
      StartWrite(&message_);
    }
    std::string_view left_;
    grpc::ByteBuffer message_;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (context->method() == "/bare/Echo") return new Echo;
    if (context->method() == "/bare/Take") return new Take;
    return new Give(given_);
  }

  const std::string_view given_;
};

// A caller with a single call at a time: messages out, then messages in.
class Caller {
 public:
  explicit Caller(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {}
  ~Caller() { queue_.Shutdown(); }

  // Makes a call, and hashes the answers into `hash`. `sent` outlives the call.
  void Call(const std::string& method, const std::vector<std::string_view>& sent,
            DigestBuilder* hash) {
    grpc::ClientContext context;
    const auto call = stub_.PrepareCall(&context, method, &queue_);
    call->StartCall(nullptr);
    Wait();
    for (size_t i = 0; i < sent.size(); ++i) {
      const grpc::ByteBuffer message = BufferOf(sent[i]);
      if (i + 1 == sent.size()) {
        call->WriteLast(message, grpc::WriteOptions(), nullptr);
      } else {
        call->Write(message, nullptr);
      }
      if (!Wait()) break;  // the call's status says why
    }
    grpc::ByteBuffer got;
    while (true) {
      call->Read(&got, nullptr);
      if (!Wait()) break;
      if (hash != nullptr) Hash(got, *hash);
    }
    grpc::Status status;
    call->Finish(&status, nullptr);
    Wait();
    Require(status.ok(), method + ": " + status.error_message());
  }

 private:
  bool Wait() {
    void* tag = nullptr;
    bool is_ok = false;
    queue_.Next(&tag, &is_ok);
    return is_ok;
  }
  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
};

struct Request {
  std::vector<std::string> messages;
  std::vector<std::string_view> views() const { return {messages.begin(), messages.end()}; }
};

// Makes all calls, kInFlight at a time.
Cost Run(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
         const std::vector<Request>& requests, bool hashes = false) {
  return CostOf([&] {
    std::atomic<size_t> next = 0;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kInFlight; ++i) {
      threads.emplace_back([&] {
        Caller caller(channel);
        for (size_t at = next++; at < requests.size(); at = next++) {
          DigestBuilder hash;
          caller.Call(method, requests[at].views(), hashes ? &hash : nullptr);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

Request UpdateOf(std::mt19937_64& random, std::vector<Digest>& put) {
  WireWriter request;
  for (size_t i = 0; i < kSmallInCall; ++i) {
    const std::string bytes = RandomBytes(random, kSmallBytes);
    put.push_back(Digest::Of(bytes));
    WireWriter blob;
    blob.Element(1, tree::EncodeDigest(put.back()));
    blob.Bytes(2, bytes);
    request.Element(2, blob.bytes());
  }
  return {{request.Take()}};
}

Request WriteOf(std::string_view bytes, const Digest& digest) {
  Request request;
  for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    WireWriter message;
    if (at == 0) {
      message.Bytes(
          1, fmt::format("uploads/{}/blobs/{}", digest.hex().substr(0, 32), digest.ToString()));
    }
    message.Varint(2, at);
    message.Bool(3, at + kPieceBytes >= bytes.size());
    message.Bytes(10, bytes.substr(at, kPieceBytes));
    request.messages.push_back(message.Take());
  }
  return request;
}

Request ReadOf(const Digest& digest) {
  WireWriter message;
  message.Bytes(1, "blobs/" + digest.ToString());
  return {{message.Take()}};
}

Request FindOf(const std::function<Digest()>& digest) {
  WireWriter request;
  for (size_t i = 0; i < kDigestsInCall; ++i) request.Element(2, tree::EncodeDigest(digest()));
  return {{request.Take()}};
}

struct Taken {
  double work = 0;  // blobs, bytes or digests
  std::vector<Cost> bare, ours;
};

double Median(const std::vector<Cost>& costs, double Cost::*of) {
  if (costs.empty()) return 0;
  std::vector<double> values;
  for (const Cost& cost : costs) values.push_back(cost.*of);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench(const std::string& directory, std::string only)
      : directory_(directory),
        only_(std::move(only)),
        given_(RandomBytes(random_, kLargeBytes)),
        service_(given_),
        store_(Require(OpenLocalStore(directory))),
        reapi_(Require(ReapiServer::Start(*store_, clock_, {.addresses = {"127.0.0.1:0"}}))) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterCallbackGenericService(&service_);
    builder.SetMaxReceiveMessageSize(8 << 20);
    bare_server_ = builder.BuildAndStart();
    ours_ = wire::OpenChannel(reapi_->addresses()[0]);
    bare_ = wire::OpenChannel(fmt::format("127.0.0.1:{}", port));
  }

  void Round() {
    if (Wants("update") || Wants("find")) Update();
    if (Wants("write") || Wants("read")) Large();
    if (Wants("find")) Find();
    if (Wants("update")) Sync();
  }
  const std::map<std::string, Taken>& taken() const { return taken_; }

 private:
  bool Wants(std::string_view what) const { return only_.empty() || only_ == what; }

  void Add(const std::string& row, double work, const Cost& bare, const Cost& ours) {
    taken_[row].work = work;
    taken_[row].bare.push_back(bare);
    taken_[row].ours.push_back(ours);
  }

  void Update() {
    std::vector<Request> requests;
    here_.clear();
    for (size_t i = 0; i < kUpdateCalls; ++i) requests.push_back(UpdateOf(random_, here_));
    const Cost bare = Run(bare_, "/bare/Echo", requests);
    Add("update", kUpdateCalls * kSmallInCall, bare,
        Run(ours_, kCas + "BatchUpdateBlobs", requests));
  }

  void Large() {
    std::vector<Request> writes, reads;
    for (size_t i = 0; i < kLargeBlobs; ++i) {
      const std::string bytes = RandomBytes(random_, kLargeBytes);
      const Digest digest = Digest::Of(bytes);
      writes.push_back(WriteOf(bytes, digest));
      reads.push_back(ReadOf(digest));
    }
    const Cost bare_write = Run(bare_, "/bare/Take", writes);
    Add("write", kLargeBlobs * kLargeBytes, bare_write, Run(ours_, kByteStream + "Write", writes));
    const Cost bare_read = Run(bare_, "/bare/Give", reads, /*hashes=*/true);
    Add("read", kLargeBlobs * kLargeBytes, bare_read, Run(ours_, kByteStream + "Read", reads));
  }

  void Find() {
    std::vector<Request> hits, misses;
    for (size_t i = 0; i < kFindCalls; ++i) {
      hits.push_back(FindOf([&] { return here_[random_() % here_.size()]; }));
      misses.push_back(FindOf([&] {
        return Require(Digest::FromHash(RandomBytes(random_, Digest::kHashSize), kSmallBytes));
      }));
    }
    for (const auto& [row, requests] : {std::pair("hits", &hits), std::pair("misses", &misses)}) {
      const Cost bare = Run(bare_, "/bare/Echo", *requests);
      Add(row, kFindCalls * kDigestsInCall, bare, Run(ours_, kCas + "FindMissingBlobs", *requests));
    }
  }

  // Measures the disk alone.
  void Sync() {
    const std::string path = directory_ + "/sync";
    const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const std::string bytes = RandomBytes(random_, kSmallBytes * kSmallInCall);
    taken_["sync"].work = kUpdateCalls * kSmallInCall;
    taken_["sync"].ours.push_back(CostOf([&] {
      for (size_t i = 0; i < kUpdateCalls; ++i)
        Require(WriteAll(file.get(), bytes, path).ok() && ::fdatasync(file.get()) == 0, path);
    }));
    ::unlink(path.c_str());
  }

  const std::string directory_, only_;
  std::mt19937_64 random_{1};
  const std::string given_;
  BareService service_;
  SystemClock clock_;
  const std::unique_ptr<Store> store_;
  const std::unique_ptr<ReapiServer> reapi_;
  std::unique_ptr<grpc::Server> bare_server_;
  std::shared_ptr<grpc::Channel> ours_, bare_;
  std::vector<Digest> here_;
  std::map<std::string, Taken> taken_;
};

void Report(const std::map<std::string, Taken>& taken, bool is_json) {
  std::string rows;
  for (const auto& [row, times] : taken) {
    const bool is_bytes = row == "write" || row == "read";
    const double work = times.work / (is_bytes ? 1e6 : 1);
    const std::string_view unit = is_bytes ? "MB/s" : "/s";
    const auto rate = [&](const std::vector<Cost>& costs) {
      return costs.empty() ? 0 : work / Median(costs, &Cost::wall);
    };
    const auto cpu = [&](const std::vector<Cost>& costs) {
      return Median(costs, &Cost::cpu) / work * 1e6;
    };
    const double ratio = times.bare.empty() ? 0 : rate(times.ours) / rate(times.bare);
    if (is_json) {
      rows += fmt::format(
          "{}{{\"workload\": \"grpc\", \"kind\": \"{}\", \"unit\": \"{}\", \"galley\": {:.0f}, "
          "\"bare\": {:.0f}, \"ratio\": {:.3f}, \"galley_cpu_us\": {:.2f}, \"bare_cpu_us\": "
          "{:.2f}}}",
          rows.empty() ? "" : ",\n ", row, unit, rate(times.ours), rate(times.bare), ratio,
          cpu(times.ours), cpu(times.bare));
    } else {
      std::puts(fmt::format("grpc {:8} {:8.0f} {:4} cpu {:7.2f} us   bare {:8.0f} {:4} cpu {:7.2f} "
                            "us   ratio {:5.2f}",
                            row, rate(times.ours), unit, cpu(times.ours), rate(times.bare), unit,
                            cpu(times.bare), ratio)
                    .c_str());
    }
  }
  if (is_json) std::puts(("[" + rows + "]").c_str());
}

int Main(int argc, char** argv) {
  int runs = 5;
  bool is_json = false;
  std::string parent = "/tmp", only;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const auto value = [&] {
      Require(++i < argc, fmt::format("{}: expected a value", flag));
      return argv[i];
    };
    if (flag == "--runs") {
      runs = std::atoi(value());
    } else if (flag == "--json") {
      is_json = true;
    } else if (flag == "--dir") {
      parent = value();
    } else if (flag == "--only") {
      only = value();
    } else {
      Require(false, fmt::format("{}: not known", flag));
    }
  }
  const std::string directory = Require(MakeTemporaryDirectory(parent, "reapi-bench-"));
  {
    Bench bench(directory, only);
    for (int i = 0; i < runs; ++i) bench.Round();
    Report(bench.taken(), is_json);
  }
  Require(RemoveAll(directory).ok(), directory);
  return 0;
}

}  // namespace
}  // namespace galley::store

int main(int argc, char** argv) { return galley::store::Main(argc, argv); }
