#include "worker/session/director_stream.h"

#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <variant>

#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "fmt/format.h"
#include "galley/v1/worker.grpc.pb.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

// A director that sends a single message to each worker that attaches.
class Director final : public v1::Director::Service {
 public:
  explicit Director(const std::string& path) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Director() override { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::Status Attach(grpc::ServerContext*,
                      grpc::ServerReaderWriter<v1::ToWorker, v1::FromWorker>* stream) override {
    stream->Write(v1::ToWorker());
    v1::FromWorker message;
    while (stream->Read(&message)) {
    }
    return grpc::Status::OK;
  }

 private:
  std::unique_ptr<grpc::Server> server_;
};

class CountingSink final : public EventSink {
 public:
  void Take(SessionEvent event, uint64_t) override {
    base::MutexLock lock(mutex_);
    connected_ += std::holds_alternative<Connected>(event);
    received_ += std::holds_alternative<Received>(event);
  }

  bool WaitForReceived(int count) {
    return AwaitOrFail(
        [&] {
          base::MutexLock lock(mutex_);
          return received_ >= count;
        },
        fmt::format("{} messages of directors", count));
  }

  int connected() {
    base::MutexLock lock(mutex_);
    return connected_;
  }

 private:
  base::Mutex mutex_;
  int connected_ = 0;
  int received_ = 0;
};

// Waits for a client that connects, and hangs up on it. False: that failed, or nobody came.
bool HangUpOnTheNext(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::copy(path.begin(), path.end(), address.sun_path);
  const FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool is_listening =
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::listen(listener.get(), 1) == 0;
  pollfd somebody{.fd = listener.get(), .events = POLLIN, .revents = 0};
  const bool has_come =
      is_listening &&
      ::poll(&somebody, 1, static_cast<int>(absl::ToInt64Milliseconds(kWaitMax))) == 1;
  const FileDescriptor met(has_come ? ::accept(listener.get(), nullptr, nullptr) : -1);
  ::unlink(path.c_str());
  return met.valid();
}

// A call that fails at once leaves a connection without a waiting call, and gRPC looks at such a
// connection only every 5 s: a director that waits 10 s for its survivors gave up the unlucky ones.
TEST(DirectorStreamTest, BetweenTwoDirectorsItWaitsAndAttachesToNobody) {
  // A short path, because sockets have a limit.
  const std::string folder = *MakeTemporaryDirectory("/tmp", "stream-");
  const std::string path = folder + "/s";
  CountingSink events;
  auto first = std::make_unique<Director>(path);
  DirectorStream stream("unix:" + path, {}, /*is_far=*/false, &events);
  ASSERT_TRUE(events.WaitForReceived(1));
  first.reset();
  ASSERT_TRUE(HangUpOnTheNext(path));
  const Director second(path);
  ASSERT_TRUE(events.WaitForReceived(2));
  EXPECT_EQ(events.connected(), 2);
  stream.Finish(absl::ZeroDuration());
  RemoveAll(folder).IgnoreError();
}

TEST(DirectorStreamTest, OneThatFindsNobodyCanBeFinished) {
  const std::string folder = *MakeTemporaryDirectory("/tmp", "stream-");
  CountingSink events;
  DirectorStream stream("unix:" + folder + "/s", {}, /*is_far=*/false, &events);
  ASSERT_TRUE(HangUpOnTheNext(folder + "/s"));
  stream.Finish(absl::ZeroDuration());
  RemoveAll(folder).IgnoreError();
}

}  // namespace
}  // namespace galley::worker
