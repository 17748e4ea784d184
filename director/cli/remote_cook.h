// RemoteCook: follows a cook of a resident director for a client: hands the events on to a sink,
// and has the report at the end.
//
// Threads: one; `stop` from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "director/resident/cook_wire.h"
#include "director/serve/client_calls.h"
#include "director/serve/director_client.h"
#include "director/shell/cook_event.h"

namespace galley::cli {

class RemoteCook {
 public:
  // Called when the director took the ask; returns false: no more is wanted.
  using Begun = std::function<bool(const v1::CookEvent::Begun&)>;
  RemoteCook(director::CookEventSink& sink, Begun begun) : sink_(sink), begun_(std::move(begun)) {}

  // Asks for a cook, which `stop` cancels; the report still comes. Errors: outcome_status.h.
  absl::Status Cook(director::DirectorClient& client, const v1::CookAsk& ask, Cancellation& stop);
  // Follows a cook; `stop` ends only the following.
  absl::Status Follow(director::DirectorClient& client, uint64_t cook, Cancellation& stop);
  // Reads the log of a cook that has ended.
  absl::Status Read(director::CookReader& reader);

  // The report; nullopt: the listening ended before it.
  const std::optional<director::CookReport>& report() const { return report_; }

 private:
  absl::Status Listen(director::DirectorClient& client, director::CookStream& stream);
  bool Take(const v1::CookEvent& event);  // false: no more is wanted
  absl::Status Gone(const director::DirectorClient& client) const;

  director::CookEventSink& sink_;
  const Begun begun_;
  std::atomic<uint64_t> number_ = 0;
  uint64_t done_ = 0, wanted_ = 0;
  bool is_left_ = false;
  absl::Status damaged_;
  std::optional<director::CookReport> report_;
};

}  // namespace galley::cli
