#include "director/serve/device_face/change_stream.h"

#include <vector>

#include "director/serve/device_face/device_json.h"
#include "fmt/format.h"

namespace galley::director {

std::string EventText(const devices::ChangeEvent& event) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", devices::TextOf(event.id),
                     event.is_snapshot ? "snapshot" : "change", EventJson(event));
}

std::optional<std::string> ChangeStream::TakeEvents(size_t bytes_max) {
  std::string text;
  if (!has_begun_) text = fmt::format("retry: {}\n\n", kEventRetryMs);
  has_begun_ = true;
  while (!is_over_ && text.size() < bytes_max) {
    const std::optional<std::vector<devices::ChangeEventPtr>> events = events_->Take(1);
    is_over_ = !events.has_value();
    if (is_over_ || events->empty()) break;
    for (const devices::ChangeEventPtr& event : *events) text += EventText(*event);
  }
  if (text.empty() && is_over_) return std::nullopt;
  return text;
}

}  // namespace galley::director
