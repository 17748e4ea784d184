// far_link: a TCP proxy that acts as a link between two machines: bytes arrive later, and only so
// many pass in a second, each way. It does the same as tests/e2e/link.py, but takes so little of
// the processor that it does not slow down the measured processes beside it: a single thread, and
// no copy except from socket to socket.
//
//   far_link --target HOST:PORT [--delay-us N] [--bytes-per-s N]
//
// Prints "HOST:PORT" where it listens, on loopback, and runs until its input ends. Then prints a
// line of JSON: the bytes that passed each way, and its processor time.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::nanoseconds;

constexpr size_t kChunkBytes = 64 << 10;
// The limit for a direction of a connection; above it nothing is read.
constexpr size_t kHeldBytesMax = 8 << 20;

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// The link in one direction, for all connections.
struct Way {
  nanoseconds delay{0};
  double bytes_per_s = 0;  // 0: without a limit
  uint64_t passed = 0;
  Clock::time_point free_at;

  // The time at which bytes that are sent now have arrived.
  Clock::time_point Send(size_t bytes) {
    const Clock::time_point now = Clock::now();
    if (bytes_per_s == 0) return now + delay;
    const duration<double> takes(static_cast<double>(bytes) / bytes_per_s);
    free_at = std::max(free_at, now) + duration_cast<nanoseconds>(takes);
    return free_at + delay;
  }
};

// Flow: a direction of a connection.
struct Flow {
  int from = -1, to = -1;
  Way* way = nullptr;
  struct Chunk {
    std::vector<char> bytes;  // empty: the end
    Clock::time_point due;
    size_t written = 0;
  };
  std::deque<Chunk> chunks;
  size_t held = 0;
  bool has_ended = false, is_over = false, is_full = false;

  bool reads() const { return !has_ended && held < kHeldBytesMax; }
  void Read() {
    Chunk chunk;
    chunk.bytes.resize(kChunkBytes);
    const ssize_t count = ::recv(from, chunk.bytes.data(), chunk.bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    chunk.bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
    has_ended = count <= 0;
    held += chunk.bytes.size();
    chunk.due = way->Send(chunk.bytes.size());
    chunks.push_back(std::move(chunk));
  }
  // Writes the chunks that are due by now.
  void Write(Clock::time_point now) {
    is_full = false;
    while (!chunks.empty() && chunks.front().due <= now) {
      Chunk& chunk = chunks.front();
      if (chunk.bytes.empty()) {
        ::shutdown(to, SHUT_WR);
        is_over = true;
        return chunks.clear();
      }
      const ssize_t count = ::send(to, chunk.bytes.data() + chunk.written,
                                   chunk.bytes.size() - chunk.written, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        is_full = true;
        return;
      }
      if (count < 0) {  // the other side is gone
        has_ended = is_over = true;
        ::shutdown(from, SHUT_RDWR);
        return chunks.clear();
      }
      chunk.written += static_cast<size_t>(count);
      if (chunk.written < chunk.bytes.size()) continue;
      held -= chunk.bytes.size();
      way->passed += chunk.bytes.size();
      chunks.pop_front();
    }
  }
};

struct Connection {
  std::array<Flow, 2> flows;  // up, down
};

sockaddr_in AddressOf(const std::string& target) {
  const size_t colon = target.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (colon == std::string::npos ||
      ::inet_pton(AF_INET, target.substr(0, colon).c_str(), &address.sin_addr) != 1) {
    std::fprintf(stderr, "--target %s: expected an IPv4 address and a port\n", target.c_str());
    std::exit(1);
  }
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(target.c_str() + colon + 1)));
  return address;
}

class Proxy {
 public:
  Proxy(const sockaddr_in& target, const Way& way) : target_(target), ways_{way, way} {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(own);
    if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&own), size) != 0 ||
        ::listen(listener_, SOMAXCONN) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size) != 0)
      Die("listening");
    std::printf("127.0.0.1:%d\n", ntohs(own.sin_port));
    std::fflush(stdout);
  }

  void Run() {
    while (Turn()) {
    }
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    std::printf("{\"up_bytes\": %llu, \"down_bytes\": %llu, \"processor_s\": %.3f}\n",
                static_cast<unsigned long long>(ways_[0].passed),
                static_cast<unsigned long long>(ways_[1].passed),
                seconds(used.ru_utime) + seconds(used.ru_stime));
  }

 private:
  void Accept() {
    const int near = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int far = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (near < 0 || far < 0) Die("accepting");
    if (::connect(far, reinterpret_cast<const sockaddr*>(&target_), sizeof(target_)) != 0) {
      ::close(near);
      ::close(far);
      return;
    }
    for (const int socket : {near, far}) {
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    connections_.push_back({});
    std::array<Flow, 2>& flows = connections_.back().flows;
    flows[0].from = flows[1].to = near;
    flows[0].to = flows[1].from = far;
    for (size_t i = 0; i < 2; ++i) flows[i].way = &ways_[i];
  }

  // False: the input has ended.
  bool Turn() {
    std::vector<pollfd> polled = {{listener_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    Clock::time_point next = Clock::time_point::max();
    for (const Connection& connection : connections_) {
      for (const Flow& flow : connection.flows) {
        const bool waits_to_write = flow.is_full;
        polled.push_back({flow.reads() ? flow.from : -1, POLLIN, 0});
        polled.push_back({waits_to_write ? flow.to : -1, POLLOUT, 0});
        if (!flow.chunks.empty() && !waits_to_write) next = std::min(next, flow.chunks.front().due);
      }
    }
    timespec wait{};
    if (next != Clock::time_point::max()) {
      const auto left = std::max(nanoseconds(0), duration_cast<nanoseconds>(next - Clock::now()));
      wait = {.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
    }
    if (::ppoll(polled.data(), polled.size(), next == Clock::time_point::max() ? nullptr : &wait,
                nullptr) < 0 &&
        errno != EINTR)
      Die("ppoll");
    size_t at = 2;
    for (Connection& connection : connections_) {
      for (Flow& flow : connection.flows) {
        if (polled[at].revents != 0) flow.Read();
        at += 2;
      }
    }
    const Clock::time_point now = Clock::now();
    for (auto one = connections_.begin(); one != connections_.end();) {
      for (Flow& flow : one->flows) flow.Write(now);
      if (one->flows[0].is_over && one->flows[1].is_over) {
        ::close(one->flows[0].from);
        ::close(one->flows[0].to);
        one = connections_.erase(one);
      } else {
        ++one;
      }
    }
    if (polled[0].revents != 0) Accept();
    char ignored = 0;
    return polled[1].revents == 0 || ::read(STDIN_FILENO, &ignored, 1) > 0;
  }

  const sockaddr_in target_;
  std::array<Way, 2> ways_;
  int listener_ = -1;
  std::list<Connection> connections_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string target;
  Way way;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--target") target = argv[i + 1];
    if (option == "--delay-us") way.delay = std::chrono::microseconds(std::atoll(argv[i + 1]));
    if (option == "--bytes-per-s") way.bytes_per_s = std::atof(argv[i + 1]);
  }
  Proxy(AddressOf(target), way).Run();
  return 0;
}
