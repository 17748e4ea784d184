// PrintedOutput: the output of an executor and its programs: lines as they come, and the tail of
// the whole output, which is kept with a failure.
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
  static constexpr size_t kLineBytesMax = 4'096;  // a longer line is cut into several

  // Hands over each line that ends within `bytes`.
  void Add(std::string_view bytes, absl::FunctionRef<void(const std::string& line)> take_line);
  // The unfinished last line; empty: there is none.
  const std::string& rest() const { return rest_; }
  std::string TakeRest() { return std::exchange(rest_, {}); }

  // The last kLogTailBytesMax bytes of the output and of added texts.
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

// The last kLogTailBytesMax bytes of `log`.
std::string TailOfLog(std::string log);

}  // namespace galley::worker
