#include "director/cli/remote_cook.h"

#include <atomic>
#include <thread>
#include <utility>

#include "common/base/status_macros.h"
#include "director/cli/director_of_project.h"
#include "director/host/outcome_status.h"
#include "director/resident/event_wire.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using director::CookReader;
using director::CookStream;
using director::DirectorClient;

// OnStop: calls `act` on a thread of its own when `stop` is cancelled during its life. The call may
// take long, and a hook must be short.
class OnStop {
 public:
  OnStop(Cancellation& stop, std::function<void()> act)
      : thread_([this, act = std::move(act)] {
          while (!wake_.is_cancelled()) wake_.Pause(absl::Hours(1));
          if (!is_over_) act();
        }),
        hook_(&stop, [this] { wake_.Cancel(); }) {}
  ~OnStop() {
    is_over_ = true;
    wake_.Cancel();
    thread_.join();
  }

 private:
  Cancellation wake_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
  const Cancellation::Hook hook_;
};

}  // namespace

absl::Status RemoteCook::Cook(DirectorClient& client, const v1::CookAsk& ask, Cancellation& stop) {
  const std::unique_ptr<CookStream> stream = client.Cook(ask);
  const OnStop on_stop(stop, [&] {
    const uint64_t number = number_;
    // A cook that has not begun goes with its client. A cook that cannot be cancelled has ended.
    if (number == 0 || absl::IsUnavailable(client.Cancel(number))) stream->Leave();
  });
  const absl::Status end = Listen(client, *stream);
  return stop.is_cancelled() && !report_.has_value() ? director::Interrupted() : end;
}

absl::Status RemoteCook::Follow(DirectorClient& client, uint64_t cook, Cancellation& stop) {
  const std::unique_ptr<CookStream> stream = client.Follow(cook);
  const OnStop on_stop(stop, [&] { stream->Leave(); });
  const absl::Status end = Listen(client, *stream);
  if (!stop.is_cancelled() || report_.has_value()) return end;
  return director::Interrupted(fmt::format("cook {} goes on without this terminal", cook));
}

absl::Status RemoteCook::Read(CookReader& reader) {
  v1::CookEvent event;
  while (reader.Next(absl::ZeroDuration(), event) == CookReader::Got::kEvent) {
    if (!Take(event)) break;
  }
  return report_.has_value() ? report_->end : damaged_;
}

absl::Status RemoteCook::Listen(DirectorClient& client, CookStream& stream) {
  v1::CookEvent event;
  while (!is_left_ && stream.Next(event)) is_left_ = !Take(event);
  if (is_left_) return absl::OkStatus();
  const absl::Status end = stream.End();
  RETURN_IF_ERROR(damaged_);
  if (report_.has_value()) return report_->end;
  if (absl::IsInvalidArgument(end) || absl::IsNotFound(end) || absl::IsPermissionDenied(end) ||
      absl::IsUnauthenticated(end))
    return director::WrongUse(end);
  if (absl::IsResourceExhausted(end)) return director::Infrastructure(end);
  return Gone(client);
}

bool RemoteCook::Take(const v1::CookEvent& event) {
  if (event.has_begun()) {
    number_ = event.begun().cook();
    return begun_(event.begun());
  }
  if (event.has_progress()) {
    const v1::CookCounters& counters = event.progress().counters();
    done_ = counters.results_cooked() + counters.results_cached() + counters.results_up_to_date() +
            counters.results_failed();
    wanted_ = counters.results_wanted();
  } else if (event.has_missed()) {
    sink_.Warn(record::WarningKind::kCookNotKept,
               fmt::format("{} lines of this cook were not kept", event.missed()));
  } else if (event.has_trace()) {
    if (report_.has_value()) report_->trace += event.trace();
  } else if (event.has_report()) {
    auto report = director::FromWire(event.report());
    if (report.ok()) {
      report_ = *std::move(report);
    } else {
      damaged_ = director::Infrastructure("the report of the cook", report.status());
    }
  }
  if (const auto told = director::FromWire(event)) sink_.TakeEvent(*told);
  return true;
}

absl::Status RemoteCook::Gone(const DirectorClient& client) const {
  return director::Infrastructure(fmt::format(
      "the director ({}) is gone; the cook was at {} of {} results, and what was finished is kept: "
      "ask again",
      NameOf(client), done_, wanted_));
}

}  // namespace galley::cli
