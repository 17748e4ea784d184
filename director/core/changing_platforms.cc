// Platforms come and go under a cook.
#include <bit>
#include <utility>

#include "common/base/status_macros.h"
#include "director/core/cook_core_impl.h"

namespace galley::director {

// One pass over what is stored, and one in which packages get on: what one does may look at
// another.
void CookCore::Impl::OnPlatformsChanged(const PlatformsChanged& event) {
  GALLEY_CHECK(event.mapping.size() == platform_count);
  GALLEY_CHECK(event.platform_count >= 1 && event.platform_count <= 32);
  if (event.catalog != nullptr) catalog = event.catalog;
  const PlatformMap map(event.mapping);
  platform_sets.Add(map);
  platform_count = event.platform_count;
  // Once roots are being published the cook is over but for that.
  const bool is_open = request.has_value() && ending == Ending::kNone && !is_publishing;
  const PlatformMask added = is_open ? event.added : 0;
  if (added != 0) quarantined.clear();  // one more chance
  if (request.has_value()) request->platforms = map.Mask(request->platforms) | added;
  for (CookRequested& waiting : waiting_requests) waiting.platforms = map.Mask(waiting.platforms);
  for (auto& [key, commit] : commits) {
    if (commit.platform.has_value()) commit.platform = map.Index(*commit.platform);
  }
  agenda.Remap(map);
  unpublished = map.Mask(unpublished);
  for (auto& [package, platforms] : judged) platforms = map.Mask(platforms);
  judged_epoch = 0;  // an Explore that the agenda lost may have stood for other platforms
  if (is_open) OpenAgain();
  lifecycle.equal_work().Clear();
  for (uint32_t i = 0; i < packages.size(); ++i) RemapPackage(PackageId(i), map, added);
  for (uint32_t i = 0; i < packages.size(); ++i) GoOnWithPlatforms(PackageId(i), added);
  if (is_open) TakeLateChanges();
  if (is_publishing && !is_staging && unpublished == 0) StageOrEnd();
}

void CookCore::Impl::RemapPackage(PackageId id, const PlatformMap& map, PlatformMask added) {
  PackageData& package = packages[id];
  if (!package.is_in_cook) return;
  // Answers that are on their way speak of other numbers. (Nobody may wait for them any more: what
  // was asked for came from a worker. The next question must not take them.) Jobs are as they were.
  const uint64_t asked = package.generation++;
  lifecycle.Remap(id, map, added,
                  request.has_value() && request->force ? Phase::kToCook : Phase::kToLookUp);
  edges.Remap(id, map);
  for (Problem& problem : package.problems) problem.platforms = map.Mask(problem.platforms);
  package.problems.EraseIf([](const Problem& problem) { return problem.platforms == 0; });
  // What was retracted and goes on is as good as before.
  if (const auto found = retracted.find(id); found != retracted.end()) {
    for (const AttemptId attempt : found->second)
      attempts.at(attempt).generation += attempts.at(attempt).generation == asked;
  }
  if (package.work == nullptr) return;
  std::erase_if(package.work->waits, [&](Wait& wait) {
    const std::optional<PlatformIndex> platform = map.Index(wait.platform);
    wait.platform = platform.value_or(0);
    return !platform.has_value();
  });
  for (const AttemptId current : AttemptsAt(id)) {
    Attempt& attempt = attempts.at(current);
    attempt.generation += attempt.generation == asked;
    const PlatformMask remaining = map.Mask(attempt.remaining);
    attempt.is_partial |= std::popcount(remaining) != std::popcount(attempt.remaining);
    attempt.remaining = remaining;
  }
}

void CookCore::Impl::GoOnWithPlatforms(PackageId id, PlatformMask added) {
  PackageData& package = packages[id];
  if (!package.is_in_cook) return;
  if (package.work != nullptr) {
    for (const AttemptId attempt : AttemptsAt(id)) {
      if (attempts.at(attempt).remaining == 0) EndAttempt(attempt, Tell::kCancel);
    }
    return Advance(id);
  }
  if (package.outcome == Outcome::kNone && !package.is_skipped) return;  // not begun
  if (added == 0) {
    if (!package.is_skipped) Conclude(id);
    return;
  }
  lifecycle.SetOutcome(id, Outcome::kNone);
  lifecycle.SetUpToDate(id, false);
  lifecycle.SetSkipped(id, false);
  agenda.Push(package.urgency, {AgendaItem::Kind::kBegin, id});
}

}  // namespace galley::director
