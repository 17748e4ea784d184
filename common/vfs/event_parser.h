// EventParser: server-sent events from their bytes, in pieces as they come.
//
// An event has at most kEventBytesMax bytes. Source: HTML, 9.2.6. Threads: none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace galley::vfs {

struct ServerEvent {
  std::string id;  // the last one that was told, of this event or of an earlier one
  std::string event;
  std::string data;
};

class EventParser {
 public:
  static constexpr size_t kEventBytesMax = 16 << 20;

  // Takes bytes, and appends the events that they end. False: an event is too long.
  bool Feed(std::string_view bytes, std::vector<ServerEvent>& events);

 private:
  void TakeLine(std::vector<ServerEvent>& events);

  std::string line_;
  ServerEvent next_;
  bool has_data_ = false;
  bool ended_in_cr_ = false;
};

}  // namespace galley::vfs
