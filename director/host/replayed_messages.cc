#include "director/host/replayed_messages.h"

#include <algorithm>

namespace galley::director {
namespace {

// Says whether another cook would judge as this cook did. Limits are kept only for some days.
bool Stands(FailureCause cause) {
  return cause == FailureCause::kProject || cause == FailureCause::kVerdict;
}

}  // namespace

void ReplayedMessages::Failed(const std::string& package, const std::string& platform,
                              const PackageFailed& failed) {
  // Nobody knows what an attempt without a result had looked at.
  if (!Stands(failed.cause) || failed.attempt != 0) Passing();
  failures_.insert({.package = package,
                    .platform = platform,
                    .stage = static_cast<uint32_t>(failed.stage),
                    .cause = static_cast<uint32_t>(failed.cause),
                    .error = failed.error,
                    .log = failed.log});
}

void ReplayedMessages::Warned(const std::string& package, const std::string& platform,
                              const std::string& text) {
  warnings_.push_back({package, platform, text, is_scanning_});
}

void ReplayedMessages::Done(const std::string& package, const std::string& platform) {
  const auto first = failures_.lower_bound({.package = package});
  for (auto at = first; at != failures_.end() && at->package == package;) {
    // A failure of all platforms is taken back in part; the part that is left is not known here.
    if (at->platform.empty()) Passing();
    at = at->platform == platform ? failures_.erase(at) : std::next(at);
  }
}

void TellAgain(const Standing& standing, CookEventSink& sink) {
  for (const StandingFailure& failure : standing.failures) {
    PackageFailed failed;
    failed.stage =
        static_cast<enum Stage>(std::min(failure.stage, static_cast<uint32_t>(Stage::kStage)));
    failed.cause = static_cast<FailureCause>(
        std::min(failure.cause, static_cast<uint32_t>(kLastFailureCause)));
    failed.error = failure.error;
    failed.log = failure.log;
    sink.Tell(CookEvent::Failed{failure.package, failure.platform, failed});
  }
  for (const StandingWarning& warning : standing.warnings)
    sink.Tell(
        CookEvent::Warned{warning.package, warning.platform, record::Warning::Parse(warning.text)});
}

}  // namespace galley::director
