#include "worker/session/log_ring.h"

#include <utility>

#include "fmt/format.h"

namespace galley::worker {

void LogRing::Add(v1::LogLine line) {
  if (line.text().size() > kLineBytesMax) {
    line.mutable_text()->resize(kLineBytesMax);
    line.mutable_text()->append("...");
  }
  bytes_ += BytesOf(line);
  lines_.push_back(std::move(line));
  while (lines_.size() > kLinesMax || bytes_ > kBytesMax) {
    bytes_ -= BytesOf(lines_.front());
    lines_.pop_front();
    ++dropped_;
  }
}

v1::LogLine LogRing::Take() {
  v1::LogLine line;
  if (dropped_ > 0) {
    line.set_level(2);
    if (!lines_.empty()) line.set_time_us(lines_.front().time_us());
    line.set_text(fmt::format("{} log lines were left out", std::exchange(dropped_, 0)));
    return line;
  }
  line = std::move(lines_.front());
  bytes_ -= BytesOf(line);
  lines_.pop_front();
  return line;
}

}  // namespace galley::worker
