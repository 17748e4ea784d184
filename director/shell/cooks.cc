#include "director/shell/cooks.h"

#include <bit>
#include <utility>

#include "common/base/log.h"
#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "director/shell/difference_root.h"

namespace galley::director {

absl::StatusOr<ShellOutcome> Cooks::Run(CookOrder order, CookEventSink& sink, Cancellation& stop) {
  const auto cook = std::make_shared<ActiveCook>(std::move(order));
  deps_.inbox.PostTask([this, cook] { Begin(cook); });
  // The cancellation is posted after Begin: no cook is cancelled before the loop knows the cook.
  const Cancellation::Hook on_stop(&stop, [this, number = cook->number()] {
    deps_.inbox.PostTask([this, number] { Cancel(number); });
  });
  return cook->told.Hear(sink);
}

void Cooks::Cancel(uint64_t number) {
  if (deps_.active.IsRunning(number)) deps_.inbox.HandleNow(CancelRequested{number});
}

// ------------------------------------------------------------------ begin

void Cooks::Begin(const std::shared_ptr<ActiveCook>& cook) {
  cook->began = deps_.clock.Now();
  deps_.active.Add(cook);
  deps_.active.NoteCompany();
  deps_.before_begin(*cook);
  deps_.inbox.HandleNow(RequestOf(*cook));
  if (!cook->outcome.refusal.empty()) CancelRefused();
  deps_.after_begin();
}

// Another cook may have brought other files or another galley.toml since the cook was prepared.
CookRequested Cooks::RequestOf(ActiveCook& cook) const {
  const WorldPtr world = deps_.world();
  CookRequested request = cook.order.request;
  const bool is_other = cook.order.world != nullptr && cook.order.world != world;
  if (is_other && cook.order.select) {
    // When the new world allows no selection, the packages of the old selection fail by name.
    auto selected = cook.order.select(*world);
    if (!selected.empty()) request.selected = std::move(selected);
  }
  cook.platforms = PlatformsIn(cook, *world, request.platforms);
  request.platforms = cook.platforms;
  if (cook.outcome.refusal.empty()) TellPlatforms(cook);
  return request;
}

// Returns the platforms of the cook in `world`; `otherwise`: the platforms of a cook without an
// opinion. A cook whose platforms do not exist is refused.
PlatformMask Cooks::PlatformsIn(ActiveCook& cook, const World& world, PlatformMask otherwise) {
  if (!cook.order.platforms) return otherwise;
  const absl::StatusOr<PlatformMask> platforms = cook.order.platforms(world);
  if (platforms.ok()) return *platforms;
  if (cook.outcome.refusal.empty()) cook.outcome.refusal = MessageOf(platforms.status());
  return otherwise != 0 ? otherwise : 1;  // until the next step, which cancels the cook
}

void Cooks::CancelRefused() {
  std::vector<uint64_t> refused;
  deps_.active.ForEach([&](const ActiveCook& cook) {
    if (!cook.outcome.refusal.empty()) refused.push_back(cook.number());
  });
  for (const uint64_t number : refused) Cancel(number);
}

std::vector<std::string> Cooks::PlatformNames(PlatformMask platforms) const {
  const PlatformsPtr all = deps_.sources()->platforms();
  std::vector<std::string> names;
  for (PlatformMask left = platforms; left != 0; left &= left - 1)
    names.push_back(all->at(static_cast<size_t>(std::countr_zero(left))).name);
  return names;
}

void Cooks::TellPlatforms(ActiveCook& cook) const {
  cook.told.AddEvent({CookEvent::Platforms{PlatformNames(cook.platforms)}});
}

// ------------------------------------------------------------------ while it runs

std::vector<PlatformsChanged::Added> Cooks::AdoptPlatforms(const World& world,
                                                           const PlatformMap& map) {
  std::vector<PlatformsChanged::Added> all;
  deps_.active.ForEach([&](ActiveCook& cook) {
    if (cook.has_ended) return;
    const PlatformMask kept = map.Mask(cook.platforms);
    cook.platforms = kept;
    if (deps_.core.is_publishing(cook.number())) return;
    cook.platforms = PlatformsIn(cook, world, kept);
    if (!cook.outcome.refusal.empty()) return;
    if (const PlatformMask added = cook.platforms & ~kept; added != 0)
      all.push_back({cook.number(), added});
    TellPlatforms(cook);
  });
  CancelRefused();
  return all;
}

void Cooks::TellProgress(const WorkersOnTheWay& on_the_way) {
  deps_.active.ForEach([&](ActiveCook& cook) {
    if (!cook.slot || cook.has_ended) return;
    Progress progress = deps_.core.progress(cook.number());
    progress.on_the_way = on_the_way;
    cook.told.SetProgress(deps_.core.counters(cook.number()), progress);
  });
}

// ------------------------------------------------------------------ end

// The cook ends when its last group is committed, and that commit may still fail.
void Cooks::End(const std::shared_ptr<ActiveCook>& cook, const CookEnded& ended) {
  if (cook->slot) {
    cook->outcome.counters = deps_.core.counters(cook->number());
    cook->told.SetProgress(cook->outcome.counters, deps_.core.progress(cook->number()));
  }
  cook->has_ended = true;
  cook->outcome.ended = ended;
  if (ended.is_empty) cook->outcome.roots.clear();
  InstigatorNotes notes;
  if (cook->slot) notes = NoteInstigators(*cook);
  deps_.commits.BeginAll();
  deps_.tasks.Post([this, cook, notes = std::move(notes)] {
    const absl::Status remembered = RecordInstigators(*cook, notes);
    deps_.inbox.RunOnLoop([this, cook, remembered] { Close(cook, remembered); }, [] {});
  });
}

// Called in the step in which the cook ended, because the core then drops the reasons of the cook.
InstigatorNotes Cooks::NoteInstigators(const ActiveCook& cook) const {
  const CookEnded& ended = cook.outcome.ended;
  const bool is_whole = cook.order.request.by_the_book && !ended.is_interrupted &&
                        !ended.is_fail_fast && ended.infrastructure_error.empty();
  // In a difference only the packages that are new in the cook have reasons of this cook alone.
  using Of = InstigatorNotes::Of;
  InstigatorNotes notes(cook.outcome.is_difference ? Of::kDifference
                        : is_whole                 ? Of::kWhole
                                                   : Of::kPart,
                        PlatformNames(cook.platforms));
  deps_.core.ForEachReasonIn(cook.number(), [&](PackageId package, const InstigatorView& why) {
    if (cook.outcome.is_difference && cook.order.base->WasInCook(deps_.core.NameOf(package)))
      return;
    notes.Add(deps_.core.NameOf(package), why.category,
              why.referencer.valid() ? &deps_.core.NameOf(why.referencer) : nullptr);
  });
  return notes;
}

absl::Status Cooks::RecordInstigators(const ActiveCook& cook, const InstigatorNotes& notes) {
  absl::Status recorded = notes.Record(deps_.journal);
  if (!cook.outcome.is_difference) return recorded;
  std::vector<InstigatorChange> changes = ChangesOf(cook.references);
  AddGone(*cook.order.base, changes);
  recorded.Update(RecordInstigatorChanges(deps_.journal, changes));
  return recorded;
}

// The thread of the commits waits meanwhile, so that nothing else is written.
void Cooks::Close(const std::shared_ptr<ActiveCook>& cook, const absl::Status& remembered) {
  ShellOutcome& outcome = cook->outcome;
  outcome.lost_blobs = cook->lost_blobs.size();
  outcome.lost_packages = cook->lost_packages.size();
  outcome.world = cook->judged ? cook->judged->world : deps_.world();
  outcome.is_overtaken = outcome.world != deps_.world();
  outcome.loss_epoch = deps_.journal.meta().loss_epoch;
  outcome.remembered = remembered;
  deps_.before_close(*cook);
  deps_.active.Remove(cook->number());
  deps_.after_close();
  if (deps_.active.empty()) {
    // No cook is left that did not end by itself: the next cook blames packages anew.
    if (const absl::Status forgotten = deps_.journal.ForgetProgress(); !forgotten.ok())
      LogWarning("journal: {}", MessageOf(forgotten));
  }
  cook->told.End(std::move(outcome));
  if (IsSabotaged(Sabotage::kTellClosedCook)) TellPlatforms(*cook);
}

}  // namespace galley::director
