#include "worker/session/printed_output.h"

#include "worker/executor/job_messages.h"

namespace galley::worker {

std::string TailOfLog(std::string log) {
  if (log.size() > kLogTailBytesMax) log.erase(0, log.size() - kLogTailBytesMax);
  return log;
}

void PrintedOutput::AddToTail(std::string_view text) {
  tail_ = TailOfLog(std::move(tail_) + std::string(text));
}

void PrintedOutput::Add(std::string_view bytes,
                        absl::FunctionRef<void(const std::string& line)> take_line) {
  AddToTail(bytes);
  for (const char c : bytes) {
    if (c != '\n' && rest_.size() < kLineBytesMax) {
      rest_ += c;
      continue;
    }
    if (!rest_.empty()) take_line(rest_);
    rest_.clear();
    if (c != '\n') rest_ += c;
  }
}

}  // namespace galley::worker
