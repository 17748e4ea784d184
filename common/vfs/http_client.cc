#include "common/vfs/http_client.h"

#include <algorithm>
#include <array>

namespace galley::vfs {
namespace {

constexpr size_t kReceiveBytes = 64 << 10;

}  // namespace

HttpClient::~HttpClient() {
  for (void* const connection : kept_) options_.net.close(options_.net.context, connection);
}

std::string HttpClient::HeadOf(const Request& request) const {
  std::string head = request.method + " " + request.target +
                     " HTTP/1.1\r\nHost: " + options_.url.authority +
                     "\r\nUser-Agent: galley-vfs\r\nAccept-Encoding: identity\r\n";
  if (!options_.token.empty()) head += "Authorization: Bearer " + options_.token + "\r\n";
  for (const auto& [name, value] : request.fields) head += name + ": " + value + "\r\n";
  if (!request.body.empty() || request.method == "POST")
    head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  return head + "\r\n";
}

// A connection that the server has ended, or on which it has said something without being asked, is
// closed. It is seen by a look that does not wait.
void* HttpClient::TakeKept() {
  while (true) {
    void* connection = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (kept_.empty()) return nullptr;
      connection = kept_.back();
      kept_.pop_back();
    }
    char byte = 0;
    const ptrdiff_t got =
        options_.net.receive(options_.net.context, connection, &byte, 1, /*timeout_ms=*/0);
    if (got == -1) return connection;
    options_.net.close(options_.net.context, connection);
  }
}

void HttpClient::Keep(void* connection) {
  void* closed = nullptr;
  {
    const std::lock_guard lock(mutex_);
    kept_.push_back(connection);
    if (kept_.size() > kKeptMax) {
      closed = kept_.front();
      kept_.erase(kept_.begin());
    }
  }
  if (closed != nullptr) options_.net.close(options_.net.context, closed);
}

Result<void*> HttpClient::Connect(const Waiting& waiting) {
  std::array<char, 256> text{};
  if (waiting.is_cancelled()) return Fault{GALLEY_VFS_CANCELLED, "it was cancelled"};
  if (waiting.is_over()) return WhyNot(waiting, -1);
  void* const connection =
      options_.net.connect(options_.net.context, options_.url.host.c_str(), options_.url.port,
                           waiting.LeftMs(options_.connect_ms), text.data(), text.size());
  if (connection != nullptr) return connection;
  text.back() = '\0';
  return Fault{.code = GALLEY_VFS_OFFLINE,
               .text = options_.url.authority + ": " + text.data(),
               .is_away = true};
}

// REQUIRES: the transfer did not move bytes.
Fault HttpClient::WhyNot(const Waiting& waiting, ptrdiff_t result) const {
  if (waiting.is_cancelled()) return {GALLEY_VFS_CANCELLED, "it was cancelled"};
  if (result == -1)
    return {GALLEY_VFS_TIMED_OUT, options_.url.authority + " did not answer in time"};
  return {GALLEY_VFS_OFFLINE, options_.url.authority + ": the connection ended", /*is_cut=*/true};
}

Outcome HttpClient::Send(void* connection, std::string_view bytes, const Waiting& waiting) const {
  while (!bytes.empty()) {
    const ptrdiff_t sent = options_.net.send(options_.net.context, connection, bytes.data(),
                                             bytes.size(), waiting.PieceMs());
    if (sent > 0) bytes.remove_prefix(std::min(static_cast<size_t>(sent), bytes.size()));
    if (sent > 0 || (sent == -1 && !waiting.is_over())) continue;
    return WhyNot(waiting, sent);
  }
  return std::nullopt;
}

Result<ResponseHead> HttpClient::DoOver(Exchange& exchange, const Request& request,
                                        const Waiting& waiting, const Take& take) {
  if (const Outcome failed = Send(exchange.connection, HeadOf(request) + request.body, waiting))
    return *failed;
  ResponseParser parser(request.method != "HEAD");
  std::vector<char> buffer(kReceiveBytes);
  std::string body;
  bool is_head_told = false;
  uint64_t heard_at = waiting.now();
  while (true) {
    const ptrdiff_t got = options_.net.receive(options_.net.context, exchange.connection,
                                               buffer.data(), buffer.size(), waiting.PieceMs());
    const uint64_t now = waiting.now();
    if (got == -1 && now - heard_at > take.silence_max_ms) {
      return Fault{.code = GALLEY_VFS_OFFLINE,
                   .text = options_.url.authority + " is silent",
                   .is_away = true};
    }
    if (got == -1 && !waiting.is_over()) continue;
    heard_at = now;
    // An answer without an end must not go on for ever.
    if (got > 0 && waiting.is_over()) return WhyNot(waiting, -1);
    if (got < 0 || waiting.is_cancelled()) return WhyNot(waiting, got);
    exchange.has_begun |= got > 0;
    received_bytes_.fetch_add(static_cast<uint64_t>(got), std::memory_order_relaxed);
    const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    body.clear();
    const size_t taken = parser.Feed(bytes, body);
    if (got == 0) parser.End();
    if (parser.state() == ResponseParser::State::kFailed) {
      const bool is_cut = got == 0;
      return Fault{is_cut ? GALLEY_VFS_OFFLINE : GALLEY_VFS_SERVER,
                   options_.url.authority + ": " + parser.error(), is_cut};
    }
    if (parser.state() == ResponseParser::State::kHead) continue;
    if (!is_head_told && take.head) {
      if (const Outcome stopped = take.head(parser.head())) return *stopped;
    }
    is_head_told = true;
    if (!body.empty()) {
      if (const Outcome stopped = take.body(body)) return *stopped;
    }
    if (parser.state() != ResponseParser::State::kDone) continue;
    // Bytes behind the answer were not asked for.
    if (parser.head().keeps_connection && taken == bytes.size() && got > 0) {
      Keep(exchange.connection);
      exchange.connection = nullptr;
    }
    return parser.head();
  }
}

Result<ResponseHead> HttpClient::Do(const Request& request, const Waiting& waiting,
                                    const Take& take) {
  bool is_kept = true;
  while (true) {
    Exchange exchange(options_.net);
    exchange.connection = is_kept ? TakeKept() : nullptr;
    is_kept = exchange.connection != nullptr;
    if (!is_kept) {
      const Result<void*> connected = Connect(waiting);
      if (!connected.ok()) return connected.fault();
      exchange.connection = *connected;
    }
    Result<ResponseHead> head = DoOver(exchange, request, waiting, take);
    const bool was_stale = !head.ok() && head.fault().is_cut && is_kept && !exchange.has_begun;
    if (!was_stale) return head;
    is_kept = false;
  }
}

}  // namespace galley::vfs
