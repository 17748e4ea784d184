// PrintedOutput: what an executor and its programs print: lines, as they come, and the end of all
// of it, which is kept with a failure.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"

namespace galley::worker {

class PrintedOutput {
 public:
  static constexpr size_t kLineBytesMax = 4'096;  // a longer one is cut into several

  // Hands over each line that has ended now.
  void Add(std::string_view bytes, absl::FunctionRef<void(const std::string& line)> take_line);
  // The last line, which nothing has ended; empty: there is none.
  const std::string& rest() const { return rest_; }
  std::string TakeRest() { return std::exchange(rest_, {}); }

  // The end (kLogTailBytesMax) of what was printed, and of what was added to it.
  const std::string& tail() const { return tail_; }
  std::string TakeTail() { return std::exchange(tail_, {}); }
  void AddToTail(std::string_view text);

  void Clear() {
    tail_.clear();
    rest_.clear();
  }

 private:
  std::string tail_, rest_;
};

// The last kLogTailBytesMax bytes of it.
std::string TailOfLog(std::string log);

}  // namespace galley::worker
