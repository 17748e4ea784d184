#include "common/vfs/event_parser.h"

namespace galley::vfs {

bool EventParser::Feed(std::string_view bytes, std::vector<ServerEvent>& events) {
  for (const char c : bytes) {
    const bool is_second_half = c == '\n' && ended_in_cr_;
    ended_in_cr_ = c == '\r';
    if (is_second_half) continue;
    if (c == '\n' || c == '\r') {
      TakeLine(events);
      line_.clear();
    } else {
      line_ += c;
    }
    if (line_.size() + next_.data.size() > kEventBytesMax) return false;
  }
  return true;
}

void EventParser::TakeLine(std::vector<ServerEvent>& events) {
  if (line_.empty()) {
    if (has_data_) events.push_back(next_);
    next_.event.clear();
    next_.data.clear();
    has_data_ = false;
    return;
  }
  const std::string_view line = line_;
  const size_t colon = line.find(':');
  if (colon == 0) return;  // a comment
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") next_.event = value;
  if (field == "id" && value.find('\0') == std::string_view::npos) next_.id = value;
  if (field != "data") return;
  if (has_data_) next_.data += '\n';
  next_.data += value;
  has_data_ = true;
}

}  // namespace galley::vfs
