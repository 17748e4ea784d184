// ChangeStream: the changes of a session as server-sent events.
//
//   retry: 1000
//
//   id: 3-17
//   event: change
//   data: {"root":"<hex>/<size>","stale":["Game/a.png.ktx2"],"world":7}
//
// An event `snapshot` stands for all events up to its id. The reader is asked for events one by
// one, when the client can take some, so that a slow client costs what one TakeEvents gave.
// Threads: as HttpEventStream.   Source: HTML, 9.2.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "director/devices/change_event.h"
#include "director/serve/device_calls.h"
#include "director/serve/http/http_answer.h"

namespace galley::director {

// The time after which a client connects again.
inline constexpr int kEventRetryMs = 1'000;

// An event with the empty line that ends it.
std::string EventText(const devices::ChangeEvent& event);

class ChangeStream final : public HttpEventStream {
 public:
  explicit ChangeStream(std::unique_ptr<DeviceEvents> events) : events_(std::move(events)) {}

  void SetWake(std::function<void()> wake) override { events_->SetWake(std::move(wake)); }
  std::optional<std::string> TakeEvents(size_t bytes_max) override;

 private:
  const std::unique_ptr<DeviceEvents> events_;
  bool has_begun_ = false;
  bool is_over_ = false;
};

}  // namespace galley::director
