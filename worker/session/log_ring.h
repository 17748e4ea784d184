// LogRing: the newest lines of a log, with a limit on lines and bytes. Dropped lines are counted,
// and a line of its own tells their number.
//
// Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "galley/v1/worker.pb.h"

namespace galley::worker {

class LogRing {
 public:
  static constexpr size_t kLinesMax = 1'000;
  static constexpr size_t kBytesMax = 256 << 10;
  static constexpr size_t kLineBytesMax = 4'096;  // a longer text is cut off

  void Add(v1::LogLine line);
  bool empty() const { return lines_.empty() && dropped_ == 0; }
  // The oldest line, or a line that tells how many lines before it were dropped. REQUIRES: not
  // empty.
  v1::LogLine Take();
  // The bytes that a line counts for: its text and an overhead.
  static size_t BytesOf(const v1::LogLine& line) { return line.text().size() + 32; }

 private:
  std::deque<v1::LogLine> lines_;
  size_t bytes_ = 0;
  uint64_t dropped_ = 0;  // dropped lines before the first of lines_
};

}  // namespace galley::worker
