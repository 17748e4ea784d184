#include "director/cli/package_story.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/record/result.h"

namespace galley::cli {
namespace {

using director::LogRecord;

// The worker and the attempt.
using AttemptKey = std::pair<std::string, uint64_t>;

PlatformStory StoryOfResult(const std::string& platform, const director::PlatformRecord& record) {
  const director::LastCook& last = record.last_cook;
  PlatformStory story{.platform = platform,
                      .cook = last.cook,
                      .time = last.time,
                      .worker = last.worker,
                      .attempt = last.attempt};
  const auto result = record::DecodeResult(record.result);
  if (!result.ok()) return story;
  story.has_failed = result->is_verdict;
  story.error = result->error;
  story.warnings = result->details.warnings;
  if (result->log.has_value()) story.log = result->log->ToString();
  return story;
}

class Attempts {
 public:
  AttemptStory& Of(const std::string& worker, uint64_t attempt) {
    AttemptStory& story = attempts_[{worker, attempt}];
    story.worker = worker;
    story.attempt = attempt;
    return story;
  }
  static void Extend(AttemptStory& story, absl::Time from, absl::Time to) {
    if (from != absl::InfinitePast())
      story.from = story.from == absl::InfinitePast() ? from : std::min(story.from, from);
    story.to = std::max(story.to, to);
  }
  std::vector<AttemptStory> TakeLast() {
    std::vector<AttemptStory> all;
    for (auto& [key, story] : attempts_) all.push_back(std::move(story));
    std::ranges::stable_sort(all, [](const AttemptStory& a, const AttemptStory& b) {
      return std::pair(a.to, a.attempt) < std::pair(b.to, b.attempt);
    });
    if (all.size() > kAttemptsToldMax)
      all.erase(all.begin(), all.end() - static_cast<ptrdiff_t>(kAttemptsToldMax));
    return all;
  }

 private:
  std::map<AttemptKey, AttemptStory> attempts_;
};

}  // namespace

PackageStory StoryOf(const std::string& package, const director::PackageRecord& record,
                     const std::vector<LogRecord>& lines) {
  PackageStory story;
  Attempts attempts;
  std::map<std::string, PlatformStory> platforms;
  for (const auto& [platform, one] : record.platforms) {
    platforms[platform] = StoryOfResult(platform, one);
    const director::LastCook& last = one.last_cook;
    if (last.attempt == 0) continue;
    Attempts::Extend(attempts.Of(last.worker, last.attempt), last.time - last.in_hand_time,
                     last.time);
  }
  for (const auto& [platform, failure] : record.failures) {
    PlatformStory& one = platforms[platform];
    // The result of a verdict names the worker and the attempt.
    if (!failure.worker.empty() || !one.has_failed) {
      one.worker = failure.worker;
      one.attempt = failure.attempt;
    }
    one.platform = platform;
    one.has_failed = true;
    one.cook = failure.cook;
    one.time = failure.time;
    one.stage = failure.stage;
    one.error = failure.error;
    one.log = failure.log;
    if (failure.attempt != 0)
      Attempts::Extend(attempts.Of(failure.worker, failure.attempt), absl::InfinitePast(),
                       failure.time);
  }
  for (auto& [platform, one] : platforms) story.platforms.push_back(std::move(one));
  for (const LogRecord& line : lines) {
    if (line.package != package || line.attempt == 0) continue;
    AttemptStory& one = attempts.Of(line.worker, line.attempt);
    Attempts::Extend(one, line.since == absl::InfinitePast() ? line.time : line.since, line.time);
    if (!line.machine.empty()) one.machine = line.machine;
  }
  story.attempts = attempts.TakeLast();
  for (AttemptStory& one : story.attempts) {
    for (const LogRecord& line : lines) {
      const bool is_its_own = line.package == package && line.attempt == one.attempt;
      const bool is_within = line.attempt == 0 && one.from != absl::InfinitePast() &&
                             line.time >= one.from && line.time <= one.to;
      if (line.worker == one.worker && (is_its_own || is_within)) one.lines.push_back(line);
    }
  }
  return story;
}

}  // namespace galley::cli
