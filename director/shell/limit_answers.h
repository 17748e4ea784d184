// LimitAnswers: remembers jobs that exceeded a limit of memory or time on this machine
// (director/journal/kept_limits.h), and answers look-ups with these failures, so that the job does
// not run again.
//
// LimitAnswers comes after all caches, because another machine may have made a result. A kept limit
// answers if everything that its attempt observed has the same value and the limit is unchanged.
// With --retry-failed only limits that were exceeded since that cook began answer, so that only one
// of several packages with equal work is tried.
//
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/journal/kept_limits.h"
#include "director/shell/default_limits.h"
#include "director/shell/lookup.h"
#include "director/shell/sources.h"

namespace galley::director {

class LimitAnswers {
 public:
  struct Deps {
    PresentSources sources;
    KeptLimits* kept;
  };
  struct Options {
    std::string trust_domain;
    bool retry_failed = false;
    DefaultLimits defaults;
    std::string machine;  // as in KeptLimit::machine
  };
  LimitAnswers(const Deps& deps, Options options)
      : deps_(deps), options_(std::move(options)), is_retried_(options_.retry_failed) {}
  // Replaces Options::retry_failed from now on; any thread.
  void RetryFailed(bool is_retried) { is_retried_ = is_retried; }

  // Replaces misses in `answer`, the answer to `items`, by kept failures.
  void Answer(const std::vector<LookUpItem>& items, absl::Time now, LookedUp& answer) const;
  // Keeps a limit, which answers from now on; the caller calls KeptLimits::Save. `seen`: the
  // exceeded limit, without time, stage and texts.
  absl::Status Keep(KeptLimit seen, const PackageFailed& failed, absl::Time now) const;
  // Returns for people how long the failure is kept, and how to try the package again.
  static std::string WhatIsKept(KeptLimit::Kind kind);

 private:
  std::optional<LookedUp::Kept> Judge(const Sources& sources, const LookUpItem& item,
                                      PlatformIndex platform, const KeptLimit& kept,
                                      std::vector<std::string>& needs) const;
  void AnswerOne(const Sources& sources, const LookUpItem& item, absl::Time now,
                 LookedUp::Item& one) const;

  Deps deps_;
  Options options_;
  std::atomic<bool> is_retried_;
};

}  // namespace galley::director
