// LogRing: the newest lines of a log, at most so many lines and bytes. Those that had to go are
// counted, and a line of its own says how many they were.
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
  static constexpr size_t kLineBytesMax = 4'096;  // of a text; the rest of it is cut off

  void Add(v1::LogLine line);
  bool empty() const { return lines_.empty() && dropped_ == 0; }
  // The oldest line; where lines before it had to go, one that says how many. REQUIRES: not empty.
  v1::LogLine Take();
  // What a line counts for: its text, and something for the rest.
  static size_t BytesOf(const v1::LogLine& line) { return line.text().size() + 32; }

 private:
  std::deque<v1::LogLine> lines_;
  size_t bytes_ = 0;
  uint64_t dropped_ = 0;  // before the first of lines_
};

}  // namespace galley::worker
