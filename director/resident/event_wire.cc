#include "director/resident/event_wire.h"

#include <algorithm>
#include <utility>

#include "director/resident/cook_wire.h"

namespace galley::director {
namespace {

PackageFailed FailureOf(const v1::CookFailure& failure) {
  return {.stage = static_cast<Stage>(std::min(failure.stage(), uint32_t{4})),
          .error = failure.error(),
          .log = failure.log(),
          .cause = static_cast<FailureCause>(
              std::min(failure.cause(), static_cast<uint32_t>(kLastFailureCause))),
          .attempt = failure.attempt(),
          .attempts = failure.attempts(),
          .own_faults = failure.own_faults(),
          .infrastructure_faults = failure.infrastructure_faults()};
}

}  // namespace

void EventSource::Say(std::string_view text) {
  v1::CookEvent event;
  event.set_said(std::string(text));
  sinks_.event(event);
}

void EventSource::SayAlways(std::string_view text) {
  v1::CookEvent event;
  event.set_said_always(std::string(text));
  sinks_.event(event);
}

void EventSource::Scanned(const ScanCounts& counts) {
  v1::CookEvent event;
  v1::CookEvent::Scanned& out = *event.mutable_scanned();
  out.set_files(counts.files);
  out.set_packages(counts.packages);
  out.set_unmatched(counts.unmatched);
  out.set_seconds(counts.seconds);
  if (counts.listed) out.set_listed(*counts.listed);
  sinks_.event(event);
}

void EventSource::Stands(const StandCounts& counts) {
  v1::CookEvent event;
  v1::CookEvent::Stands& out = *event.mutable_stands();
  out.set_packages(counts.packages);
  out.set_failed(counts.failed);
  out.set_results(counts.results);
  out.set_seconds(counts.seconds);
  out.set_is_rest(counts.is_rest);
  sinks_.event(event);
}

void EventSource::OnFailed(const std::string& package, const std::string& platform,
                           const PackageFailed& failed) {
  v1::CookEvent event;
  v1::CookFailure& out = *event.mutable_failed();
  out.set_package(package);
  out.set_platform(platform);
  out.set_stage(static_cast<uint32_t>(failed.stage));
  out.set_error(failed.error);
  out.set_log(failed.log);
  out.set_cause(static_cast<uint32_t>(failed.cause));
  out.set_attempt(failed.attempt);
  out.set_attempts(failed.attempts);
  out.set_own_faults(failed.own_faults);
  out.set_infrastructure_faults(failed.infrastructure_faults);
  sinks_.event(event);
}

void EventSource::OnWarning(const std::string& package, const std::string& platform,
                            const record::Warning& warning) {
  v1::CookEvent event;
  v1::CookEvent::Warned& out = *event.mutable_warned();
  out.set_package(package);
  out.set_platform(platform);
  out.set_text(warning.ToText());
  sinks_.event(event);
}

void EventSource::OnDone(const StoredResult& result, ResultSource source) {
  v1::CookEvent event;
  v1::CookEvent::Done& out = *event.mutable_done();
  out.set_package(result.package);
  out.set_platform(result.platform_name);
  out.set_source(static_cast<uint32_t>(source));
  sinks_.event(event);
}

void EventSource::OnLeft(const std::string& package) {
  v1::CookEvent event;
  event.mutable_left()->set_package(package);
  sinks_.event(event);
}

void EventSource::OnPlatforms(const std::vector<std::string>& platforms) {
  v1::CookEvent event;
  event.mutable_platforms()->mutable_names()->Assign(platforms.begin(), platforms.end());
  sinks_.event(event);
}

void EventSource::OnProgress(const Counters& counters, const Progress& progress) {
  v1::CookProgress out = ToWire(counters, progress);
  out.set_remote_down(sinks_.remote_down());
  sinks_.progress(std::move(out));
}

v1::CookProgress ToWire(const Counters& counters, const Progress& progress) {
  v1::CookProgress out;
  ToWire(counters, *out.mutable_counters());
  for (const auto& of_state : progress.packages) {
    for (const uint32_t count : of_state) out.add_packages(count);
  }
  out.set_results_per_second(progress.results_per_second);
  out.set_cooked_per_second(progress.cooked_per_second);
  out.set_to_cook(progress.to_cook);
  out.set_unknown(progress.unknown);
  out.set_pending(progress.pending);
  if (progress.left) out.set_left_us(absl::ToInt64Microseconds(*progress.left));
  out.set_longest(progress.longest);
  out.set_longest_us(absl::ToInt64Microseconds(progress.longest_for));
  out.set_is_alone(progress.is_alone);
  if (const WorkersOnTheWay& workers = progress.on_the_way; !workers.launcher.empty()) {
    out.mutable_on_the_way()->set_launcher(workers.launcher);
    out.mutable_on_the_way()->set_asked_for(workers.asked_for);
    out.mutable_on_the_way()->set_queued(workers.queued);
    out.mutable_on_the_way()->set_starting(workers.starting);
  }
  return out;
}

Progress ProgressOf(const v1::CookProgress& progress) {
  Progress read;
  int at = 0;
  for (auto& of_state : read.packages) {
    for (uint32_t& count : of_state) {
      if (at < progress.packages_size()) count = progress.packages(at);
      ++at;
    }
  }
  read.results_per_second = progress.results_per_second();
  read.cooked_per_second = progress.cooked_per_second();
  read.to_cook = progress.to_cook();
  read.unknown = progress.unknown();
  read.pending = progress.pending();
  read.on_the_way = {.launcher = progress.on_the_way().launcher(),
                     .asked_for = progress.on_the_way().asked_for(),
                     .queued = progress.on_the_way().queued(),
                     .starting = progress.on_the_way().starting()};
  if (progress.has_left_us()) read.left = absl::Microseconds(progress.left_us());
  read.longest = progress.longest();
  read.longest_for = absl::Microseconds(progress.longest_us());
  read.is_alone = progress.is_alone();
  return read;
}

void TellListener(const v1::CookEvent& event, CookListener& listener) {
  switch (event.what_case()) {
    case v1::CookEvent::kSaid:
      return listener.Say(event.said());
    case v1::CookEvent::kSaidAlways:
      return listener.SayAlways(event.said_always());
    case v1::CookEvent::kScanned:
      return listener.Scanned({.files = event.scanned().files(),
                               .packages = event.scanned().packages(),
                               .unmatched = event.scanned().unmatched(),
                               .seconds = event.scanned().seconds(),
                               .listed = event.scanned().has_listed()
                                             ? std::optional(event.scanned().listed())
                                             : std::nullopt});
    case v1::CookEvent::kStands:
      return listener.Stands({.packages = event.stands().packages(),
                              .failed = event.stands().failed(),
                              .results = event.stands().results(),
                              .seconds = event.stands().seconds(),
                              .is_rest = event.stands().is_rest()});
    case v1::CookEvent::kFailed:
      return listener.OnFailed(event.failed().package(), event.failed().platform(),
                               FailureOf(event.failed()));
    case v1::CookEvent::kWarned:
      return listener.OnWarning(event.warned().package(), event.warned().platform(),
                                record::Warning::Parse(event.warned().text()));
    case v1::CookEvent::kDone: {
      StoredResult result;
      result.package = event.done().package();
      result.platform_name = event.done().platform();
      return listener.OnDone(result,
                             static_cast<ResultSource>(std::min(event.done().source(), 2u)));
    }
    case v1::CookEvent::kLeft:
      return listener.OnLeft(event.left().package());
    case v1::CookEvent::kPlatforms:
      return listener.OnPlatforms(
          {event.platforms().names().begin(), event.platforms().names().end()});
    case v1::CookEvent::kProgress:
      return listener.OnProgress(FromWire(event.progress().counters()),
                                 ProgressOf(event.progress()));
    case v1::CookEvent::kBegun:
    case v1::CookEvent::kMissed:
    case v1::CookEvent::kReport:
    case v1::CookEvent::kTrace:
    case v1::CookEvent::WHAT_NOT_SET:
      return;
  }
}

}  // namespace galley::director
