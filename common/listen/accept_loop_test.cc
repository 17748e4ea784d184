// The accept loop over loopback. The test sets the clock; waits are for sockets and for the
// hand-over.
#include "common/listen/accept_loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>

#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "common/base/testing/await.h"
#include "common/base/testing/manual_clock.h"
#include "common/listen/first_bytes.h"
#include "common/listen/listening_socket.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::listen {
namespace {

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const std::string kHello("\x16\x03\x01\x02\x00\x01", 6);

// Handed: the sockets that gRPC would get.
class Handed {
 public:
  void Take(int fd) {
    const base::MutexLock lock(mutex_);
    fds_.emplace_back(fd);
    changed_.NotifyAll();
  }
  FileDescriptor Next() {
    const WaitLimit limit("a connection that is handed over");
    const base::MutexLock lock(mutex_);
    while (fds_.empty()) changed_.Wait(mutex_);
    FileDescriptor fd = std::move(fds_.front());
    fds_.pop_front();
    return fd;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<FileDescriptor> fds_ GALLEY_GUARDED_BY(mutex_);
};

class AcceptLoopTest : public testing::Test {
 protected:
  void Serve(const DoorLimits& limits, bool has_tls = false) {
    auto listening = ListenOnTcp("127.0.0.1:0");
    ASSERT_TRUE(listening.ok()) << listening.status();
    port_ = listening->port;
    std::vector<AcceptLoop::Listener> listeners;
    listeners.push_back({.socket = std::move(listening->sockets[0]),
                         .has_tls = has_tls,
                         .hand_over = [this](int fd) { handed_.Take(fd); }});
    loop_ = AcceptLoop::Make({.name = "test", .limits = limits}, clock_);
    ASSERT_TRUE(loop_->Start(std::move(listeners)).ok());
  }

  static FileDescriptor NewSocket() {
    return FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  void Connect(const FileDescriptor& client, const std::string& bytes = "") const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_TRUE(WriteAll(client.get(), bytes, "socket").ok());
  }
  FileDescriptor Client(const std::string& bytes = "") const {
    FileDescriptor client = NewSocket();
    Connect(client, bytes);
    return client;
  }
  // Reads until the other side closes.
  static std::string ReadAll(const FileDescriptor& client) {
    const WaitLimit limit("a connection that the other side closes");
    std::string all;
    char buffer[256];
    for (ssize_t size = 1; size > 0;) {
      size = ::recv(client.get(), buffer, sizeof(buffer), 0);
      if (size > 0) all.append(buffer, static_cast<size_t>(size));
    }
    return all;
  }
  // When this returns, earlier connections have been accepted, since a backlog is a queue.
  FileDescriptor SpeakAndBeHandedOver() {
    last_ = Client(kPreface);
    return handed_.Next();
  }
  static std::string NameOf(const FileDescriptor& client) {
    sockaddr_in own{};
    socklen_t size = sizeof(own);
    ::getsockname(client.get(), reinterpret_cast<sockaddr*>(&own), &size);
    return fmt::format("ipv4:127.0.0.1:{}", ntohs(own.sin_port));
  }

  ManualClock clock_;
  Handed handed_;
  uint16_t port_ = 0;
  FileDescriptor last_;
  std::unique_ptr<AcceptLoop> loop_;
};

TEST_F(AcceptLoopTest, WhatAClientSaysFirstIsHandedOverUntaken) {
  Serve({});
  const FileDescriptor client = Client(kPreface.substr(0, 10));
  ASSERT_TRUE(WriteAll(client.get(), kPreface.substr(10) + "more", "socket").ok());
  const FileDescriptor taken = handed_.Next();
  const WaitLimit limit("the bytes of the client");
  std::string bytes(kPreface.size() + 4, ' ');
  EXPECT_EQ(::recv(taken.get(), bytes.data(), bytes.size(), MSG_WAITALL),
            static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(bytes, kPreface + "more");
}

TEST_F(AcceptLoopTest, SilentOnesAreClosedAfterTheirPatienceAndIdleOnesAreNot) {
  Serve({.patience = absl::Seconds(20)});
  const FileDescriptor silent = Client(), half = Client(kPreface.substr(0, 5));
  const FileDescriptor idle = SpeakAndBeHandedOver();
  clock_.Advance(absl::Seconds(19));
  loop_->Look();
  const FileDescriptor later = SpeakAndBeHandedOver();  // a turn has passed
  EXPECT_EQ(loop_->figures().timed_out, 0u);
  clock_.Advance(absl::Seconds(1));
  loop_->Look();
  EXPECT_EQ(ReadAll(silent), "");
  EXPECT_EQ(ReadAll(half), "");
  clock_.Advance(absl::Hours(1));
  loop_->Look();
  const FileDescriptor last = SpeakAndBeHandedOver();
  EXPECT_EQ(::send(idle.get(), "x", 1, MSG_NOSIGNAL), 1);
}

TEST_F(AcceptLoopTest, WhoFindsNoRoomHearsSoAndTheNextOneIsTakenWhenOneHasLeft) {
  Serve({.connections_max = 2});
  FileDescriptor first = SpeakAndBeHandedOver(), first_client = std::move(last_);
  const FileDescriptor second = SpeakAndBeHandedOver(), second_client = std::move(last_);
  const std::string answer = ReadAll(Client(kPreface));
  EXPECT_EQ(answer, RefusalOf(false));
  EXPECT_THAT(answer, testing::HasSubstr("as many connections as it may"));
  first.Reset();  // as gRPC does when a client has left
  clock_.Advance(absl::Seconds(1));
  const FileDescriptor third = SpeakAndBeHandedOver();
  // Figures are told at the end of a turn, perhaps only at the end of this turn.
  AwaitOrFail([&] { return loop_->figures().refused != 0; }, "the figure of a refusal");
  EXPECT_EQ(loop_->figures().refused, 1u);
}

TEST_F(AcceptLoopTest, AFloodOfSilentOnesDoesNotKeepOutWhoSpeaks) {
  Serve({.connections_max = 8, .unfinished_per_address_max = 4});
  std::vector<FileDescriptor> flood;
  for (int i = 0; i < 20; ++i) flood.push_back(Client());
  const FileDescriptor taken = SpeakAndBeHandedOver();
  EXPECT_EQ(ReadAll(flood[0]), "");  // it had to make room
}

TEST_F(AcceptLoopTest, HandshakesAreUnfinishedUntilACallComes) {
  Serve({.unfinished_per_address_max = 1}, /*has_tls=*/true);
  const FileDescriptor shaking = Client(kHello), first = handed_.Next();
  EXPECT_EQ(ReadAll(Client(kHello)), RefusalOf(true));
  loop_->NoteCall(NameOf(shaking));
  const FileDescriptor next = Client(kHello), second = handed_.Next();
}

TEST_F(AcceptLoopTest, WithoutDescriptorsConnectionsAreClosedAndTakenAgainLater) {
  Serve({});
  const FileDescriptor early = NewSocket(), late = NewSocket();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(early.get());
  ::close(next);
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  Connect(early);
  EXPECT_EQ(ReadAll(early), "");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  Connect(late, kPreface);
  const FileDescriptor taken = handed_.Next();
  EXPECT_GT(taken.get(), 0);
}

}  // namespace
}  // namespace galley::listen
