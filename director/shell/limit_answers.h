// LimitAnswers: answers look-ups that found nothing from the limits that earlier cooks outgrew on
// this machine (director/journal/kept_limits.h), so that nobody pays for these cooks again, and
// keeps new failures of that kind.
//
// LimitAnswers comes after all caches: a result that another machine made counts more. A kept limit
// answers when everything that its attempt looked at has its old value and the limit is unchanged.
// With --retry-failed only limits that this director's own jobs outgrew answer, so that only one of
// several packages of equal work is tried.
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

  // Replaces misses in `answer`, which answers the questions `items`.
  void Answer(const std::vector<LookUpItem>& items, absl::Time now, LookedUp& answer) const;
  // `seen`: the limit that the attempt outgrew, without time, stage and words. The limit answers
  // from now on; the caller has the limit saved (KeptLimits::Save).
  absl::Status Keep(KeptLimit seen, const PackageFailed& failed, absl::Time now) const;
  // Says for people how long the failure is kept, and what makes Galley try again.
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
