// PackageStory: what happened to a package, for `galley logs PACKAGE`: how it stands on each
// platform, by the journal, and its last attempts, by the journal and what was logged.
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
  // The infinite past: not known.
  absl::Time from = absl::InfinitePast(), to = absl::InfinitePast();
  // Those of the attempt, and the worker's own from `from` to `to`; by time.
  std::vector<director::LogRecord> lines;
};

struct PackageStory {
  std::vector<PlatformStory> platforms;  // by name
  std::vector<AttemptStory> attempts;    // the last ones, the latest last
};

inline constexpr size_t kAttemptsToldMax = 10;

// `lines`: of all workers, by time.
PackageStory StoryOf(const std::string& package, const director::PackageRecord& record,
                     const std::vector<director::LogRecord>& lines);

}  // namespace galley::cli
