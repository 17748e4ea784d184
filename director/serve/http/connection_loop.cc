#include "director/serve/http/connection_loop.h"

#include <pthread.h>
#include <signal.h>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/serve/http/connection.h"
#include "director/serve/http/http_problem.h"
#include "director/serve/http/loop_parts.h"
#include "director/serve/http/response_head.h"
#include "director/serve/http/response_plan.h"
#include "director/serve/http/socket_calls.h"
#include "director/serve/http/tls_server.h"
#include "director/serve/http/transport.h"

namespace galley::director {

void LoopGate::Post(std::function<void()> task) {
  const base::MutexLock lock(mutex_);
  if (context_ != nullptr) boost::asio::post(*context_, std::move(task));
}

namespace {

constexpr int kAcceptsMax = 64;  // at a time
constexpr std::chrono::milliseconds kExhaustedPause(100);
constexpr std::chrono::seconds kTickPeriod(1);

using ListeningSocket = boost::asio::posix::stream_descriptor;
using LoopError = boost::system::error_code;

class ConnectionLoopImpl final : public ConnectionLoop {
 public:
  ConnectionLoopImpl(Options options, Deps deps)
      : parts_{.options = std::move(options),
               .deps = std::move(deps),
               .context = context_,
               .gate = std::make_shared<LoopGate>(context_)},
        work_(boost::asio::make_work_guard(context_)),
        tick_(context_),
        stop_timer_(context_) {}
  ~ConnectionLoopImpl() override {
    BeginStop();
    Join();
  }

  absl::Status Run();
  void Serve(FileDescriptor socket, std::string peer) override;
  void Accept(FileDescriptor listening, Take take) override;
  void Look() override;
  void BeginStop() override;
  void Join() override {
    if (thread_.joinable()) thread_.join();
    parts_.gate->Close();
  }

 private:
  absl::Status LookAtTls();
  boost::asio::awaitable<void> AcceptAll(std::shared_ptr<ListeningSocket> listening, Take take);
  void Adopt(FileDescriptor socket, std::string peer);
  bool MakeRoom();
  void Refuse(int socket);
  void Forget(uint64_t id, const std::exception_ptr& error);
  void LookAtAll();
  void ArmTick();
  void EndIfEmpty();

  boost::asio::io_context context_{1};  // destroyed last: others are in it
  LoopParts parts_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer tick_;
  boost::asio::steady_timer stop_timer_;
  bool is_ticking_ = false;
  uint64_t tls_number_ = 0;         // of the pair in force
  std::shared_ptr<TlsServer> tls_;  // null: no TLS
  std::vector<std::shared_ptr<ListeningSocket>> listening_;
  std::map<uint64_t, std::shared_ptr<Connection>> connections_;
  uint64_t last_id_ = 0;
  std::thread thread_;
};

absl::Status ConnectionLoopImpl::Run() {
  RETURN_IF_ERROR(LookAtTls());
  try {
    thread_ = std::thread([this] {
      // A write to a client that has gone must not end the process.
      sigset_t signals;
      sigemptyset(&signals);
      sigaddset(&signals, SIGPIPE);
      pthread_sigmask(SIG_BLOCK, &signals, nullptr);
      context_.run();
    });
  } catch (const std::system_error& error) {
    return ResourceExhaustedError("http: no thread is left: {}", error.what());
  }
  return absl::OkStatus();
}

// Makes the TLS of the pair that is in force, if it is another one than before.
absl::Status ConnectionLoopImpl::LookAtTls() {
  if (parts_.deps.tls == nullptr) return absl::OkStatus();
  const std::optional<wire::TlsTexts> texts = parts_.deps.tls->NewerThan(tls_number_);
  if (!texts) return absl::OkStatus();
  ASSIGN_OR_RETURN(tls_, TlsServer::Make(*texts));
  return absl::OkStatus();
}

void ConnectionLoopImpl::Serve(FileDescriptor socket, std::string peer) {
  const auto shared = std::make_shared<FileDescriptor>(std::move(socket));
  parts_.gate->Post([this, shared, peer = std::move(peer)] { Adopt(std::move(*shared), peer); });
}

void ConnectionLoopImpl::Adopt(FileDescriptor socket, std::string peer) {
  if (parts_.is_stopping) return;
  ++parts_.deps.counters->accepted;
  if (const absl::Status status = LookAtTls(); !status.ok())
    LogWarning("http: {}; the certificate of before stays in force", MessageOf(status));
  if (connections_.size() >= parts_.options.limits.connections_max && !MakeRoom())
    return Refuse(socket.get());
  std::unique_ptr<Transport> transport =
      tls_ == nullptr ? MakePlainTransport(socket.get()) : tls_->Accept(socket.get());
  if (transport == nullptr) return Refuse(socket.get());
  const uint64_t id = ++last_id_;
  std::shared_ptr<Connection> connection =
      Connection::Start(parts_, std::move(socket), std::move(transport), std::move(peer),
                        [this, id](const std::exception_ptr& thrown) { Forget(id, thrown); });
  if (connection == nullptr) {
    ++parts_.deps.counters->refused;
    return;
  }
  connections_.emplace(id, std::move(connection));
  ++parts_.deps.counters->open;
  ArmTick();
}

// Closes the connection that is idle the longest. False: none is idle.
bool ConnectionLoopImpl::MakeRoom() {
  std::shared_ptr<Connection> oldest;
  for (const auto& [id, connection] : connections_) {
    const std::optional<absl::Time> since = connection->idle_since();
    if (since && (oldest == nullptr || *since < *oldest->idle_since())) oldest = connection;
  }
  if (oldest == nullptr) return false;
  ++parts_.deps.counters->made_room;
  oldest->Close();
  return true;
}

void ConnectionLoopImpl::Refuse(int socket) {
  ++parts_.deps.counters->refused;
  if (parts_.deps.tls != nullptr) return;  // the client expects TLS
  const HttpAnswer problem = MakeProblem({.status = 503,
                                          .text = "The server has as many connections as it may.",
                                          .retry_after = absl::Seconds(1)});
  const std::string head =
      HeadText(PlanResponse({}, problem, std::nullopt, ""), parts_.DateNow(), {.closes = true});
  const std::array<std::string_view, 2> pieces = {head, *std::get<Blob>(problem.body)};
  MakePlainTransport(socket)->Write(pieces, false);
}

void ConnectionLoopImpl::Forget(uint64_t id, const std::exception_ptr& error) {
  if (error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
      LogError("http: a connection was given up: {}", thrown.what());
    }
  }
  const auto found = connections_.find(id);
  found->second->Close();
  connections_.erase(found);
  --parts_.deps.counters->open;
  EndIfEmpty();
}

void ConnectionLoopImpl::Accept(FileDescriptor listening, Take take) {
  const auto shared = std::make_shared<FileDescriptor>(std::move(listening));
  parts_.gate->Post([this, shared, take = std::move(take)] {
    if (parts_.is_stopping) return;
    const auto socket = std::make_shared<ListeningSocket>(context_);
    LoopError error;
    socket->assign(shared->get(), error);
    if (error) return LogError("http: the port cannot be watched: {}", error.message());
    static_cast<void>(shared->Release());  // `socket` owns it
    listening_.push_back(socket);
    boost::asio::co_spawn(context_, AcceptAll(socket, take), [](const std::exception_ptr&) {});
  });
}

boost::asio::awaitable<void> ConnectionLoopImpl::AcceptAll(
    std::shared_ptr<ListeningSocket> listening, Take take) {
  boost::asio::steady_timer pause(context_);
  bool is_told = false;
  while (true) {
    LoopError error;
    co_await listening->async_wait(ListeningSocket::wait_read,
                                   boost::asio::redirect_error(boost::asio::use_awaitable, error));
    if (error || parts_.is_stopping) co_return;
    bool is_exhausted = false;
    for (int i = 0; i < kAcceptsMax && !is_exhausted; ++i) {
      AcceptedSocket accepted = AcceptFrom(listening->native_handle());
      is_exhausted = accepted.is_exhausted;
      if (!accepted.socket.valid()) break;
      take(std::move(accepted.socket), std::move(accepted.peer));
      is_told = false;
    }
    if (!is_exhausted) continue;
    if (!is_told) LogWarning("http: no descriptor is left for another connection");
    is_told = true;
    pause.expires_after(kExhaustedPause);
    co_await pause.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, error));
  }
}

void ConnectionLoopImpl::Look() {
  auto done = std::make_shared<std::promise<void>>();
  const std::future<void> future = done->get_future();
  parts_.gate->Post([this, done = std::move(done)] {
    LookAtAll();
    done->set_value();
  });
  future.wait();
}

void ConnectionLoopImpl::LookAtAll() {
  const absl::Time now = parts_.Monotonic();
  for (const auto& [id, connection] : connections_) connection->Look(now);
}

void ConnectionLoopImpl::ArmTick() {
  if (is_ticking_ || connections_.empty()) return;
  is_ticking_ = true;
  tick_.expires_after(kTickPeriod);
  tick_.async_wait([this](const LoopError& error) {
    is_ticking_ = false;
    if (error) return;
    LookAtAll();
    ArmTick();
  });
}

void ConnectionLoopImpl::BeginStop() {
  parts_.gate->Post([this] {
    if (parts_.is_stopping) return;
    parts_.is_stopping = true;
    LoopError ignored;
    for (const auto& socket : listening_) socket->close(ignored);
    for (const auto& [id, connection] : connections_) connection->NoteStop();
    stop_timer_.expires_after(absl::ToChronoMilliseconds(parts_.options.limits.stop_time));
    stop_timer_.async_wait([this](const LoopError& error) {
      if (error) return;
      for (const auto& [id, connection] : connections_) connection->Close();
    });
    EndIfEmpty();
  });
}

// Lets the thread end when the loop has stopped.
void ConnectionLoopImpl::EndIfEmpty() {
  if (!parts_.is_stopping || !connections_.empty()) return;
  work_.reset();
  tick_.cancel();
  stop_timer_.cancel();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectionLoop>> ConnectionLoop::Start(Options options, Deps deps) {
  try {
    auto loop = std::make_unique<ConnectionLoopImpl>(std::move(options), std::move(deps));
    RETURN_IF_ERROR(loop->Run());
    return std::unique_ptr<ConnectionLoop>(std::move(loop));
  } catch (const std::system_error& error) {
    return ResourceExhaustedError("http: no descriptor is left: {}", error.what());
  }
}

}  // namespace galley::director
