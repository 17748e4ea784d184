// Splitting: platforms of what runs go to a worker that has nothing to do, which loads the package
// once more for them. The other is told to leave them out; one that has begun there goes on, and
// the first result counts.
//
// A worker cooks a package's platforms in their order, so the last ones go. What may be worth it is
// halved at each look, up to as many attempts as a package that kills its executors may have: it
// may yet turn out to be one. Not split: what holds a resource, which it would hold twice; what
// failed through its own fault, now or under an earlier director; what has a backup; what was
// handed over for another set of platforms.
#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "director/core/cook_core_impl.h"

namespace galley::director {

void CookCore::Impl::Split() {
  for (const Part& part : Parts()) {
    if (workers.idle().empty()) return;
    Attempt& whole = attempts.at(part.attempt);
    const WorkerId worker = IdleFor(whole, /*is_elsewhere=*/false);
    // (Another part of the same package may have gone just now.)
    if (!worker.valid() || !MayHaveAnother(whole.package)) continue;
    const PackageId package = whole.package;
    DesireFor(whole.worker).retract_part.push_back({part.attempt, part.platforms});
    whole.remaining &= ~part.platforms;
    whole.is_partial = whole.is_split = true;
    const AttemptId other = Give(package, {.worker = worker}, part.platforms, part.expected);
    attempts.at(other).is_partial = true;
    Work& work = *packages[package].work;
    work.others.push_back(other);
    ++work.attempts;
    ++counters.jobs_split;
  }
}

// By what is gained.
std::vector<CookCore::Impl::Part> CookCore::Impl::Parts() const {
  std::vector<Part> parts;
  for (const WorkerId id : workers.ring()) {
    for (const Hand::Running& one : workers.Find(id)->hand.running()) {
      const Attempt& attempt = attempts.at(one.attempt);
      if (std::popcount(attempt.remaining) < 2 || attempt.group != 0 ||
          attempt.platform_set != platform_sets.present() || !MayHaveAnother(attempt.package) ||
          blame.Of(attempt.package).own > 0)
        continue;
      const Part part = PartOf(one.attempt, awake - one.began_at);
      if (part.gain >= options.split_min) parts.push_back(part);
    }
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(b.gain, a.attempt) < std::tie(a.gain, b.attempt);
  });
  return parts;
}

bool CookCore::Impl::MayHaveAnother(PackageId id) const {
  const std::vector<AttemptId> current = AttemptsAt(id);
  const auto gone_on = retracted.find(id);
  return current.size() + (gone_on == retracted.end() ? 0 : gone_on->second.size()) <
             options.own_fault_attempts_max &&
         std::none_of(current.begin(), current.end(),
                      [&](AttemptId one) { return attempts.at(one).is_backup; });
}

CookCore::Impl::Part CookCore::Impl::PartOf(AttemptId id, absl::Duration ran) const {
  const Attempt& attempt = attempts.at(id);
  const PackageData& package = packages[attempt.package];
  absl::Duration load = attempt.load;
  for (PlatformIndex p = 0; p < package.slots.size() && !attempt.is_loaded; ++p) {
    if (attempt.granted & MaskOf(p)) load = std::max(load, package.slots[p].last_load);
  }
  // Of what is not known each takes as long as any, and at least what the present one has taken.
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
  Part part{.attempt = id, .platforms = 0, .expected = load, .gain = absl::ZeroDuration()};
  const absl::Duration whole = stays;
  absl::Duration end = whole;
  for (PlatformIndex p = static_cast<PlatformIndex>(package.slots.size()); p-- > 0;) {
    if (!(attempt.remaining & MaskOf(p))) continue;
    const absl::Duration save = save_of(p);
    const absl::Duration end_without = std::max(stays - save, part.expected + save);
    const bool is_first = (attempt.remaining & (MaskOf(p) - 1)) == 0;  // it has begun
    if (is_first || end_without >= end) break;
    end = end_without;
    part.platforms |= MaskOf(p);
    part.expected += save;
    stays -= save;
  }
  part.gain = whole - end;
  return part;
}

}  // namespace galley::director
