#include "director/resident/event_wire.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/time/time.h"

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

void Put(const CookEvent::Said& said, v1::CookEvent& event) {
  said.is_always_told ? event.set_said_always(said.text) : event.set_said(said.text);
}

void Put(const CookEvent::Scanned& scanned, v1::CookEvent& event) {
  v1::CookEvent::Scanned& out = *event.mutable_scanned();
  out.set_files(scanned.files);
  out.set_packages(scanned.packages);
  out.set_unmatched(scanned.unmatched);
  out.set_seconds(scanned.seconds);
  if (scanned.listed) out.set_listed(*scanned.listed);
}

void Put(const CookEvent::Stands& stands, v1::CookEvent& event) {
  v1::CookEvent::Stands& out = *event.mutable_stands();
  out.set_packages(stands.packages);
  out.set_failed(stands.failed);
  out.set_results(stands.results);
  out.set_seconds(stands.seconds);
  out.set_is_rest(stands.is_rest);
}

void Put(const CookEvent::Failed& failed, v1::CookEvent& event) {
  const PackageFailed& failure = failed.failure;
  v1::CookFailure& out = *event.mutable_failed();
  out.set_package(failed.package);
  out.set_platform(failed.platform);
  out.set_stage(static_cast<uint32_t>(failure.stage));
  out.set_error(failure.error);
  out.set_log(failure.log);
  out.set_cause(static_cast<uint32_t>(failure.cause));
  out.set_attempt(failure.attempt);
  out.set_attempts(failure.attempts);
  out.set_own_faults(failure.own_faults);
  out.set_infrastructure_faults(failure.infrastructure_faults);
}

void Put(const CookEvent::Warned& warned, v1::CookEvent& event) {
  v1::CookEvent::Warned& out = *event.mutable_warned();
  out.set_package(warned.package);
  out.set_platform(warned.platform);
  out.set_text(warned.warning.ToText());
}

void Put(const CookEvent::Done& done, v1::CookEvent& event) {
  v1::CookEvent::Done& out = *event.mutable_done();
  out.set_package(done.result->package);
  out.set_platform(done.result->platform_name);
  out.set_source(static_cast<uint32_t>(done.source));
}

void Put(const CookEvent::Left& left, v1::CookEvent& event) {
  event.mutable_left()->set_package(left.package);
}

void Put(const CookEvent::Platforms& platforms, v1::CookEvent& event) {
  event.mutable_platforms()->mutable_names()->Assign(platforms.names.begin(),
                                                     platforms.names.end());
}

void Put(const CookEvent::Progressed& progressed, v1::CookEvent& event) {
  const Progress& progress = progressed.progress;
  v1::CookProgress& out = *event.mutable_progress();
  ToWire(progressed.counters, *out.mutable_counters());
  out.set_remote_down(progressed.remote_down);
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
}

CookEvent::Done DoneOf(const v1::CookEvent::Done& done) {
  auto result = std::make_shared<StoredResult>();
  result->package = done.package();
  result->platform_name = done.platform();
  return {std::move(result), static_cast<ResultSource>(std::min(done.source(), 2u))};
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

}  // namespace

v1::CookEvent ToWire(const CookEvent& event) {
  v1::CookEvent out;
  std::visit([&](const auto& what) { Put(what, out); }, event.what);
  return out;
}

std::optional<CookEvent> FromWire(const v1::CookEvent& event) {
  switch (event.what_case()) {
    case v1::CookEvent::kSaid:
      return CookEvent{CookEvent::Said{event.said()}};
    case v1::CookEvent::kSaidAlways:
      return CookEvent{CookEvent::Said{event.said_always(), true}};
    case v1::CookEvent::kScanned:
      return CookEvent{CookEvent::Scanned{.files = event.scanned().files(),
                                          .packages = event.scanned().packages(),
                                          .unmatched = event.scanned().unmatched(),
                                          .seconds = event.scanned().seconds(),
                                          .listed = event.scanned().has_listed()
                                                        ? std::optional(event.scanned().listed())
                                                        : std::nullopt}};
    case v1::CookEvent::kStands:
      return CookEvent{CookEvent::Stands{.packages = event.stands().packages(),
                                         .failed = event.stands().failed(),
                                         .results = event.stands().results(),
                                         .seconds = event.stands().seconds(),
                                         .is_rest = event.stands().is_rest()}};
    case v1::CookEvent::kFailed:
      return CookEvent{CookEvent::Failed{event.failed().package(), event.failed().platform(),
                                         FailureOf(event.failed())}};
    case v1::CookEvent::kWarned:
      return CookEvent{CookEvent::Warned{event.warned().package(), event.warned().platform(),
                                         record::Warning::Parse(event.warned().text())}};
    case v1::CookEvent::kDone:
      return CookEvent{DoneOf(event.done())};
    case v1::CookEvent::kLeft:
      return CookEvent{CookEvent::Left{event.left().package()}};
    case v1::CookEvent::kPlatforms:
      return CookEvent{CookEvent::Platforms{
          {event.platforms().names().begin(), event.platforms().names().end()}}};
    case v1::CookEvent::kProgress:
      return CookEvent{CookEvent::Progressed{FromWire(event.progress().counters()),
                                             ProgressOf(event.progress()),
                                             event.progress().remote_down()}};
    case v1::CookEvent::kBegun:
    case v1::CookEvent::kMissed:
    case v1::CookEvent::kReport:
    case v1::CookEvent::kTrace:
    case v1::CookEvent::WHAT_NOT_SET:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace galley::director
