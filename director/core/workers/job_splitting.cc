#include "director/core/workers/job_splitting.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace galley::director {
void JobSplitting::Split() {
  for (const Share& share : Shares()) {
    if (workers_.attached().idle().empty()) return;
    Attempt& whole = attempts_.at(share.attempt);
    const WorkerId worker = stragglers_.IdleFor(whole, /*is_elsewhere=*/false);
    // Another part of the same package may have gone just now.
    if (!worker.valid() || !MayHaveAnother(whole.package)) continue;
    const PackageId package = whole.package;
    effects_.DesireFor(whole.worker).retract_part.push_back({share.attempt, share.platforms});
    whole.remaining &= ~share.platforms;
    whole.is_partial = whole.is_split = true;
    const AttemptId other =
        job_handover_.Give(package, {.worker = worker}, share.platforms, share.expected);
    attempts_.at(other).is_partial = true;
    Work& work = *packages_[package].work;
    work.others.push_back(other);
    ++work.attempts;
    claimants_.Count(package, &Counters::jobs_split);
  }
}

// The shares, ordered by their gain.
std::vector<JobSplitting::Share> JobSplitting::Shares() const {
  std::vector<Share> shares;
  for (const WorkerId id : workers_.attached().ring()) {
    for (const AssignedJobs::Running& one : workers_.Find(id)->jobs.running()) {
      const Attempt& attempt = attempts_.at(one.attempt);
      if (std::popcount(attempt.remaining) < 2 || attempt.group != 0 ||
          attempt.platform_set != step_.platform_sets.present() ||
          !MayHaveAnother(attempt.package) || graph_.blame().Of(attempt.package).own > 0)
        continue;
      const Share share = ShareOf(one.attempt, step_.awake - one.began_at);
      if (share.gain >= options_.split_min) shares.push_back(share);
    }
  }
  std::ranges::sort(shares, [](const Share& a, const Share& b) {
    return std::tie(b.gain, a.attempt) < std::tie(a.gain, b.attempt);
  });
  return shares;
}

bool JobSplitting::MayHaveAnother(PackageId id) const {
  const std::vector<AttemptId> current = attempts_.At(id);
  return retry_.MayHaveAnotherAtATime(current.size() + attempts_.RetractedAt(id).size()) &&
         std::ranges::none_of(current, [&](AttemptId one) { return attempts_.at(one).is_backup; });
}

JobSplitting::Share JobSplitting::ShareOf(AttemptId id, absl::Duration ran) const {
  const Attempt& attempt = attempts_.at(id);
  const PackageData& package = packages_[attempt.package];
  absl::Duration load = attempt.load;
  for (PlatformIndex p = 0; p < package.slots.size() && !attempt.is_loaded; ++p) {
    if (attempt.granted & MaskOf(p)) load = std::max(load, package.slots[p].last_load);
  }
  // Platforms of unknown cost take equally long, and at least as long as the present one has taken.
  const absl::Duration guess = std::max((attempt.expected - load) / std::popcount(attempt.granted),
                                        ran / (attempt.saves + 1));
  const auto save_of = [&](PlatformIndex p) {
    const absl::Duration known = package.slots[p].last_save;
    return known > absl::ZeroDuration() ? known : guess;
  };
  if (load == absl::ZeroDuration() && !attempt.is_loaded) load = guess;
  absl::Duration stays;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (attempt.remaining & MaskOf(p)) stays += save_of(p);
  }
  Share share{.attempt = id, .platforms = 0, .expected = load, .gain = absl::ZeroDuration()};
  const absl::Duration whole = stays;
  absl::Duration end = whole;
  for (PlatformIndex p = static_cast<PlatformIndex>(package.slots.size()); p-- > 0;) {
    if (!(attempt.remaining & MaskOf(p))) continue;
    const absl::Duration save = save_of(p);
    const absl::Duration end_without = std::max(stays - save, share.expected + save);
    const bool is_first = (attempt.remaining & (MaskOf(p) - 1)) == 0;  // the platform has begun
    if (is_first || end_without >= end) break;
    end = end_without;
    share.platforms |= MaskOf(p);
    share.expected += save;
    stays -= save;
  }
  share.gain = whole - end;
  return share;
}

}  // namespace galley::director
