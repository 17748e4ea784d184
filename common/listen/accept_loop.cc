#include "common/listen/accept_loop.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/listen/first_bytes.h"
#include "common/listen/turned_away.h"
#include "fmt/format.h"

namespace galley::listen {
namespace {

constexpr size_t kEventsMax = 64;
constexpr int kAcceptsMax = 64;       // of one listener in a turn
constexpr size_t kFarewellsMax = 64;  // refused ones that have not closed yet
constexpr absl::Duration kFarewellMax = absl::Seconds(1);
constexpr int kBusyWaitMs = 100, kIdleWaitMs = 1000;
// Between two looks at all connections while there is no room: 4,096 take a millisecond.
constexpr absl::Duration kSweepPause = absl::Milliseconds(20);
constexpr absl::Duration kNoDescriptorPause = absl::Milliseconds(10);

// Keys of events say what they are about: listeners by their place, connections by their Id.
constexpr uint64_t kListenerBit = uint64_t{1} << 63;
constexpr uint64_t kWake = UINT64_MAX;

struct Peer {
  std::string address;  // what unfinished connections are counted by
  std::string name;     // as gRPC names it; "": a Unix socket's
};

// A network of IPv6 counts as one address: whoever has one has 2^64.
Peer PeerOf(const sockaddr_storage& storage) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return {text.data(), fmt::format("ipv4:{}:{}", text.data(), ntohs(v4.sin_port))};
  }
  if (storage.ss_family != AF_INET6) return {"unix", ""};
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
  const auto* bytes = reinterpret_cast<const char*>(v6.sin6_addr.s6_addr);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    ::inet_ntop(AF_INET, bytes + 12, text.data(), text.size());
    return {text.data(), fmt::format("ipv4:{}:{}", text.data(), ntohs(v6.sin6_port))};
  }
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  return {std::string(bytes, 8), fmt::format("ipv6:[{}]:{}", text.data(), ntohs(v6.sin6_port))};
}

// gRPC writes a name as a URI: its brackets are escaped.
std::string Unescaped(std::string_view peer) {
  std::string name(peer);
  for (const auto& [from, to] : {std::pair{"%5B", "["}, std::pair{"%5D", "]"}}) {
    const size_t at = name.find(from);
    if (at != std::string::npos) name.replace(at, 3, to);
  }
  return name;
}

// A connection that gRPC has. It closes it without a word to us.
struct HandedOver {
  int fd = -1;
  dev_t device = 0;
  ino_t inode = 0;
  std::string peer;

  bool is_closed() const {
    struct stat now {};
    return ::fstat(fd, &now) != 0 || now.st_ino != inode || now.st_dev != device;
  }
};

class EpollAcceptLoop final : public AcceptLoop {
 public:
  EpollAcceptLoop(const Options& options, Clock& clock)
      : options_(options),
        clock_(clock),
        door_(options.limits),
        turned_away_(options.name, options.limits) {}

  ~EpollAcceptLoop() override { EpollAcceptLoop::Stop(); }

  void Stop() override {
    is_ending_ = true;
    EpollAcceptLoop::Look();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start(std::vector<Listener> listeners) override {
    listeners_ = std::move(listeners);
    epoll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
    wake_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    KeepReserve();
    if (!epoll_.valid() || !wake_.valid() || !reserve_.valid())
      return ErrnoStatus(errno, "make", "the descriptors of " + options_.name);
    Watch(wake_.get(), kWake, EPOLLIN);
    for (size_t i = 0; i < listeners_.size(); ++i)
      Watch(listeners_[i].socket.get(), kListenerBit | i, EPOLLIN);
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::system_error& error) {
      return ResourceExhaustedError("{}: no thread is left (ulimit -u): {}", options_.name,
                                    error.what());
    }
    return absl::OkStatus();
  }

  void NoteCall(std::string_view peer) override {
    if (!has_shaking_.load(std::memory_order_relaxed)) return;
    const base::MutexLock lock(mutex_);
    if (callers_.size() < options_.limits.connections_max) callers_.insert(Unescaped(peer));
  }

  DoorFigures figures() const override {
    const base::MutexLock lock(mutex_);
    return figures_;
  }

  void Look() override {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
  }

 private:
  using Id = Doorkeeper::Id;

  // Silent: a connection that says nothing yet.
  struct Silent {
    FileDescriptor fd;
    size_t listener = 0;
    std::string peer;
  };
  // Farewell: a connection that was refused, and may not have read it yet.
  struct Farewell {
    FileDescriptor fd;
    absl::Time until;
  };

  void Run() {
    std::array<epoll_event, kEventsMax> events{};
    while (!is_ending_) {
      const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsMax, WaitMs());
      for (int i = 0; i < count; ++i) Handle(events[static_cast<size_t>(i)]);
      const absl::Time now = clock_.Monotonic();
      TakeCallers();
      CloseOverdue(now);
      if (now - swept_ >= absl::Milliseconds(kIdleWaitMs)) SweepHandedOver(now);
      PublishFigures();
      if (const auto line = turned_away_.Note(counts_, now); line.has_value())
        LogWarning("{}", *line);
    }
    listeners_.clear();
    silent_.clear();
    farewells_.clear();
  }

  int WaitMs() const {
    if (!silent_.empty() || !farewells_.empty() || turned_away_.is_going_on()) return kBusyWaitMs;
    return handed_over_.empty() ? -1 : kIdleWaitMs;
  }

  void Handle(const epoll_event& event) {
    const uint64_t key = event.data.u64;
    if (key == kWake) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t size = ::read(wake_.get(), &count, sizeof(count));
      swept_ = absl::InfinitePast();
    } else if ((key & kListenerBit) != 0) {
      Accept(key & ~kListenerBit);
    } else if (const auto farewell = farewells_.find(key); farewell != farewells_.end()) {
      if (HasClosed(farewell->second.fd.get())) farewells_.erase(farewell);
    } else {
      Hear(key);
    }
  }

  void Accept(size_t listener) {
    for (int i = 0; i < kAcceptsMax; ++i) {
      sockaddr_storage peer{};
      socklen_t size = sizeof(peer);
      FileDescriptor fd(::accept4(listeners_[listener].socket.get(),
                                  reinterpret_cast<sockaddr*>(&peer), &size,
                                  SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.valid()) {
        Take(std::move(fd), listener, PeerOf(peer));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return;
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        return TurnAwayWithReserve(listener);
      }
      // Else it is an error of that one connection: accept(2).
    }
  }

  void Take(FileDescriptor fd, size_t listener, Peer peer) {
    const absl::Time now = clock_.Monotonic();
    ++counts_.accepted;
    if (door_.is_full() && now - swept_ >= kSweepPause) SweepHandedOver(now);
    if (door_.shaking() > 0) TakeCallers();
    const Id id = ++last_;
    const Doorkeeper::Arrival arrival = door_.Arrive(id, peer.address, now);
    if (arrival.closed.has_value()) {
      silent_.erase(*arrival.closed);
      ++counts_.made_room;
    }
    if (!arrival.is_taken) return Refuse(id, std::move(fd), listener, now);
    SetOptions(fd.get());
    Watch(fd.get(), id, EPOLLIN | EPOLLRDHUP | EPOLLET);
    silent_[id] = {.fd = std::move(fd), .listener = listener, .peer = std::move(peer.name)};
    Hear(id);
  }

  // Sets the options that gRPC sets on sockets that it accepts.
  void SetOptions(int fd) const {
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    const auto timeout_ms = static_cast<unsigned>(absl::ToInt64Milliseconds(options_.user_timeout));
    if (timeout_ms != 0)
      ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
  }

  // Looks at what a connection says first, and leaves it in the socket.
  void Hear(Id id) {
    const auto at = silent_.find(id);
    if (at == silent_.end()) return;
    std::array<char, kFirstBytesMax> bytes{};
    const ssize_t size =
        ::recv(at->second.fd.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    const FirstBytes first =
        size <= 0 ? FirstBytes::kTooFew : Judge({bytes.data(), static_cast<size_t>(size)});
    if (size <= 0 || (first == FirstBytes::kTooFew && HasHungUp(at->second.fd.get()))) {
      silent_.erase(at);
      return door_.Leave(id);
    }
    if (first != FirstBytes::kTooFew) HandOver(id, first);
  }

  // A preface to a server without TLS says all that is to be said. For the rest gRPC has a patience
  // of its own, and it knows how to tell the other side what is wrong.
  void HandOver(Id id, FirstBytes first) {
    const auto at = silent_.find(id);
    Silent silent = std::move(at->second);
    silent_.erase(at);
    const Listener& listener = listeners_[silent.listener];
    const bool is_finished = first == FirstBytes::kHttp2 && !listener.has_tls;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, silent.fd.get(), nullptr);
    struct stat own {};
    ::fstat(silent.fd.get(), &own);
    door_.Speak(id, is_finished, clock_.Monotonic());
    if (!is_finished && !silent.peer.empty()) shaking_[silent.peer] = id;
    const int fd = silent.fd.Release();
    handed_over_[id] = {
        .fd = fd, .device = own.st_dev, .inode = own.st_ino, .peer = std::move(silent.peer)};
    ++counts_.handed_over;
    has_shaking_.store(door_.shaking() > 0, std::memory_order_relaxed);
    listener.hand_over(fd);
  }

  void Refuse(Id id, FileDescriptor fd, size_t listener, absl::Time now) {
    ++counts_.refused;
    const std::string_view answer = RefusalOf(listeners_[listener].has_tls);
    [[maybe_unused]] const ssize_t sent =
        ::send(fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::shutdown(fd.get(), SHUT_WR);
    // Closed at once, with bytes unread, the answer could be lost on its way.
    if (farewells_.size() >= kFarewellsMax) farewells_.erase(farewells_.begin());
    Watch(fd.get(), id, EPOLLIN | EPOLLRDHUP);
    farewells_[id] = {.fd = std::move(fd), .until = now + kFarewellMax};
  }

  void TurnAwayWithReserve(size_t listener) {
    ++counts_.no_descriptor;
    reserve_.Reset();
    FileDescriptor(::accept4(listeners_[listener].socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    KeepReserve();
    if (!reserve_.valid()) absl::SleepFor(kNoDescriptorPause);  // rather than to spin
  }

  void KeepReserve() { reserve_ = FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

  // Takes the bytes that a refused connection sends, unread. True: it closed, too.
  static bool HasClosed(int fd) {
    std::array<char, 4096> bytes{};
    for (int i = 0; i < 16; ++i) {
      const ssize_t size = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return true;
      if (size < 0) return false;
    }
    return false;
  }

  static bool HasHungUp(int fd) {
    pollfd one{fd, POLLRDHUP, 0};
    return ::poll(&one, 1, 0) == 1 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }

  void TakeCallers() {
    std::set<std::string> callers;
    {
      const base::MutexLock lock(mutex_);
      callers.swap(callers_);
    }
    for (const std::string& peer : callers) {
      const auto at = shaking_.find(peer);
      if (at == shaking_.end()) continue;
      door_.Finish(at->second);
      shaking_.erase(at);
    }
    has_shaking_.store(door_.shaking() > 0, std::memory_order_relaxed);
  }

  void CloseOverdue(absl::Time now) {
    for (const Id id : door_.Overdue(now)) {
      silent_.erase(id);
      ++counts_.timed_out;
    }
    if (door_.shaking() == 0) shaking_.clear();
    std::erase_if(farewells_, [now](const auto& one) { return one.second.until <= now; });
  }

  void SweepHandedOver(absl::Time now) {
    swept_ = now;
    for (auto at = handed_over_.begin(); at != handed_over_.end();) {
      if (!at->second.is_closed()) {
        ++at;
        continue;
      }
      door_.Leave(at->first);
      const auto shaking = shaking_.find(at->second.peer);
      if (shaking != shaking_.end() && shaking->second == at->first) shaking_.erase(shaking);
      at = handed_over_.erase(at);
    }
  }

  void PublishFigures() {
    counts_.open = door_.open();
    counts_.unfinished = door_.unfinished();
    const base::MutexLock lock(mutex_);
    figures_ = counts_;
  }

  void Watch(int fd, uint64_t key, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  const Options options_;
  Clock& clock_;
  FileDescriptor epoll_, wake_;
  std::atomic<bool> is_ending_{false};
  std::atomic<bool> has_shaking_{false};

  // The thread's.
  std::vector<Listener> listeners_;
  FileDescriptor reserve_;
  Doorkeeper door_;
  TurnedAway turned_away_;
  Id last_ = 0;
  std::map<Id, Silent> silent_;
  std::map<Id, Farewell> farewells_;
  std::map<Id, HandedOver> handed_over_;
  std::map<std::string, Id> shaking_;  // by peer
  absl::Time swept_ = absl::InfinitePast();
  DoorFigures counts_;

  mutable base::Mutex mutex_;
  std::set<std::string> callers_ GALLEY_GUARDED_BY(mutex_);  // since they were taken
  DoorFigures figures_ GALLEY_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace

std::unique_ptr<AcceptLoop> AcceptLoop::Make(const Options& options, Clock& clock) {
  return std::make_unique<EpollAcceptLoop>(options, clock);
}

}  // namespace galley::listen
