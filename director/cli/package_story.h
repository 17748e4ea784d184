// PackageStory: what happened to a package, for `galley logs PACKAGE`: its state on each platform,
// from the journal, and its last attempts, from the journal and the logs.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "director/journal/journal.h"
#include "director/logs/log_record.h"

namespace galley::cli {

struct PlatformStory {
  std::string platform;
  bool has_failed = false;
  uint32_t cook = 0;
  absl::Time time;
  std::string stage, error;  // of a failure
  std::string worker;        // empty: no attempt was made
  uint64_t attempt = 0;
  std::string log;                    // a digest, or empty
  std::vector<std::string> warnings;  // of its result
};

struct AttemptStory {
  uint64_t attempt = 0;
  std::string worker, machine;
  // InfinitePast: unknown.
  absl::Time from = absl::InfinitePast(), to = absl::InfinitePast();
  // Lines of the attempt, and the worker's own lines from `from` to `to`; by time.
  std::vector<director::LogRecord> lines;
};

struct PackageStory {
  std::vector<PlatformStory> platforms;  // by name
  std::vector<AttemptStory> attempts;    // last attempts, the latest last
};

inline constexpr size_t kAttemptsToldMax = 10;

// `lines`: lines of all workers, by time.
PackageStory StoryOf(const std::string& package, const director::PackageRecord& record,
                     const std::vector<director::LogRecord>& lines);

}  // namespace galley::cli
