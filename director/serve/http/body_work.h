// Work on bodies that is done on the pool, because it may block or takes long.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/http/content_coding.h"
#include "director/serve/http/http_answer.h"

namespace galley::director {

using BodyWork = std::function<absl::StatusOr<std::string>()>;

// Reads `size` bytes of the body. REQUIRES: it is a source.
BodyWork ReadingWork(HttpBody body, uint64_t offset, uint64_t size);
// Reads the whole body and codes it; "": its coding does not pay. REQUIRES: it is no stream, and
// not empty; as CodeBody.
BodyWork CodingWork(HttpBody body, http::ContentCoding coding);

// CounterShare: a part of a counter that goes when the CounterShare does.
class CounterShare {
 public:
  explicit CounterShare(std::atomic<uint64_t>& counter) : counter_(counter) {}
  ~CounterShare() { counter_ -= amount_; }
  CounterShare(const CounterShare&) = delete;
  CounterShare& operator=(const CounterShare&) = delete;

  // False: the counter would be above `most`, and nothing is taken. REQUIRES: nothing was taken.
  bool Take(uint64_t amount, uint64_t most) {
    const bool is_taken = (counter_ += amount) <= most;
    if (is_taken) {
      amount_ = amount;
    } else {
      counter_ -= amount;
    }
    return is_taken;
  }

 private:
  std::atomic<uint64_t>& counter_;
  uint64_t amount_ = 0;
};

}  // namespace galley::director
