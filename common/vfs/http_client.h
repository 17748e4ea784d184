// HttpClient: requests to one director, over connections that are kept for the next request.
//
// A kept connection is looked at before it is used. A request whose kept connection ends all the
// same before an answer begins is sent once more over a new one.
// An answer that wants to lead elsewhere (3xx) is an answer like others: nothing is followed.
//
// Threads: any. A call blocks as long as its Waiting says.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/vfs/galley_vfs.h"
#include "common/vfs/response_parser.h"
#include "common/vfs/result.h"
#include "common/vfs/url.h"
#include "common/vfs/waiting.h"

namespace galley::vfs {

struct Request {
  std::string method = "GET";
  std::string target;  // "/v1/...", encoded
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
};

class HttpClient {
 public:
  static constexpr size_t kKeptMax = 4;  // connections

  struct Options {
    Url url;
    galley_vfs_net net{};
    std::string token;  // empty: none
    int connect_ms = 2'000;
  };
  explicit HttpClient(Options options) : options_(std::move(options)) {}
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  // Take: functions that are given the answer. A fault ends the request, and is its outcome.
  struct Take {
    std::function<Outcome(const ResponseHead& head)> head;  // null: nothing
    std::function<Outcome(std::string_view bytes)> body;    // pieces of the body
    // The director is taken to be away when nothing comes for so long.
    uint64_t silence_max_ms = UINT64_MAX;
  };
  // Returns the head when the whole answer was taken. Faults: GALLEY_VFS_OFFLINE: no connection, or
  // it ended; GALLEY_VFS_TIMED_OUT; GALLEY_VFS_CANCELLED; GALLEY_VFS_SERVER: what came is no
  // answer; those of `take`.
  Result<ResponseHead> Do(const Request& request, const Waiting& waiting, const Take& take);
  // Bytes that were received so far, heads included.
  uint64_t received_bytes() const { return received_bytes_.load(std::memory_order_relaxed); }

 private:
  // Exchange: a connection in use, which is closed at the end unless it is kept.
  struct Exchange {
    explicit Exchange(const galley_vfs_net& of) : net(of) {}
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange() {
      if (connection != nullptr) net.close(net.context, connection);
    }
    const galley_vfs_net& net;
    void* connection = nullptr;
    bool has_begun = false;  // bytes of the answer came
  };

  std::string HeadOf(const Request& request) const;
  Result<void*> Connect(const Waiting& waiting);
  Result<ResponseHead> DoOver(Exchange& exchange, const Request& request, const Waiting& waiting,
                              const Take& take);
  Outcome Send(void* connection, std::string_view bytes, const Waiting& waiting) const;
  Fault WhyNot(const Waiting& waiting, ptrdiff_t result) const;
  void Keep(void* connection);
  void* TakeKept();  // nullptr: none is usable

  const Options options_;
  std::atomic<uint64_t> received_bytes_ = 0;
  std::mutex mutex_;
  std::vector<void*> kept_;  // guarded by mutex_; the last one was used last
};

}  // namespace galley::vfs
