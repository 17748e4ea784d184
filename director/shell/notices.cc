#include "director/shell/notices.h"

#include <memory>
#include <utility>
#include <variant>

#include "director/core/packages/platforms.h"

namespace galley::director {

void Notices::Tell(const Notify& effect) {
  std::visit([&](const auto& notice) { TellCooks(effect.cooks, notice); }, effect.notice);
}

void Notices::WarnCooks(CookMask cooks, record::WarningKind kind, const std::string& text) {
  deps_.cooks.ForEachOf(cooks, [&](ActiveCook& cook) { cook.Warn(kind, text); });
}

// ------------------------------------------------------------------ packages

void Notices::TellCooks(CookMask cooks, const PackageFailed& notice) {
  PackageFailed told = notice;
  if (notice.cause == FailureCause::kLimit) told.error += deps_.keep_limit(notice);
  const CookEvent event{
      CookEvent::Failed{notice.package.valid() ? deps_.core.NameOf(notice.package) : "",
                        deps_.sources()->PlatformName(notice.platform), told}};
  deps_.cooks.ForEachOf(cooks, [&](ActiveCook& cook) {
    if (notice.package.valid()) NoteFailure(cook, told);
    cook.told.AddEvent(event);
    if (notice.verdict.valid()) LookAtResult(cook, deps_.results.Get(notice.verdict));
  });
}

std::string Notices::WorkerOf(const PackageFailed& failed) const {
  return failed.worker.valid() ? deps_.name_of(failed.worker) : "";
}

void Notices::NoteFailure(ActiveCook& cook, const PackageFailed& failed) const {
  const FailureRecord record =
      FailureRecordOf(failed, cook.number(), deps_.clock.Now(), WorkerOf(failed));
  const PlatformsPtr platforms = deps_.sources()->platforms();
  for (PlatformIndex p = 0; p < platforms->size(); ++p) {
    if (!failed.platform ? (cook.platforms & MaskOf(p)) == 0 : *failed.platform != p) continue;
    cook.failures.Failed({deps_.core.NameOf(failed.package), (*platforms)[p].name}, record);
  }
}

void Notices::TellCooks(CookMask cooks, const PackageWarned& notice) {
  const CookEvent event{CookEvent::Warned{deps_.core.NameOf(notice.package),
                                          deps_.sources()->PlatformName(notice.platform),
                                          {notice.kind, notice.text},
                                          notice.is_passing}};
  deps_.cooks.ForEachOf(cooks, [&](ActiveCook& cook) { cook.told.AddEvent(event); });
}

void Notices::TellCooks(CookMask cooks, const PackageDone& notice) {
  const StoredResultPtr stored = deps_.results.Get(notice.result);
  if (stored == nullptr) return;
  deps_.ask_failures.Forget({stored->package, stored->platform_name});
  deps_.cooks.ForEachOf(cooks, [&](ActiveCook& cook) {
    cook.failures.Done({stored->package, stored->platform_name}, stored->has_failed_before);
    LookAtResult(cook, stored);
    cook.told.AddEvent({CookEvent::Done{stored, notice.source}});
  });
}

void Notices::TellCooks(CookMask cooks, const PackageLeft& notice) {
  const std::string& package = deps_.core.NameOf(notice.package);
  deps_.cooks.ForEachOf(cooks, [&](ActiveCook& cook) {
    cook.failures.Left(package);
    cook.told.AddEvent({CookEvent::Left{package}});
  });
}

void Notices::TellCooks(CookMask, const PackageBlamed& notice) {
  deps_.notes.NoteBlame(deps_.core.NameOf(notice.package), notice);
}

// Ends a cook that refuses the result. The loop hears of the refusal before it hears of built
// roots.
void Notices::LookAtResult(ActiveCook& cook, const StoredResultPtr& result) {
  if (result != nullptr) cook.outcome.observed.Note(result->observed);
  if (!cook.order.refuses || !cook.outcome.refusal.empty() || result == nullptr) return;
  cook.outcome.refusal = cook.order.refuses(*result);
  if (cook.outcome.refusal.empty()) return;
  deps_.inbox.PostTask([this, number = cook.number()] {
    if (deps_.cooks.IsRunning(number)) deps_.inbox.HandleNow(CancelRequested{number});
  });
}

// ------------------------------------------------------------------ workers

void Notices::TellCooks(CookMask cooks, const WorkerQuarantined& notice) {
  WarnCooks(cooks, record::WarningKind::kWorkerQuarantined, deps_.quarantine(notice));
}

void Notices::TellCooks(CookMask cooks, const WorkerHeld& notice) {
  const std::string text = deps_.hold(notice);
  if (!notice.is_over) WarnCooks(cooks, record::WarningKind::kMachineHeld, text);
}

void Notices::TellCooks(CookMask cooks, const WorkerViolated& notice) {
  WarnCooks(cooks, record::WarningKind::kWorkerEnded, deps_.end_process(notice));
}

// ------------------------------------------------------------------ cooks

void Notices::TellCooks(CookMask, const CookBegan& notice) {
  deps_.cooks.TakeSlot(notice.request, notice.slot);
}

void Notices::TellCooks(CookMask, const CookEnded& notice) {
  deps_.end_cook(deps_.cooks.LeaveSlot(notice.request), notice);
}

void Notices::TellCooks(CookMask, const AskEnded& notice) {
  AskEnded told = notice;
  if (told.failed.has_value() && told.failed->cause == FailureCause::kLimit)
    told.failed->error += deps_.keep_limit(*told.failed);
  NoteAsked(told);
  deps_.end_ask(told);
}

// Whoever asks why a package is no package, or cannot be one, finds that in the project.
void Notices::NoteAsked(const AskEnded& ended) const {
  const absl::Time now = deps_.clock.Monotonic();
  if (ended.failed.has_value()) {
    const PackageFailed& failed = *ended.failed;
    if (failed.cause == FailureCause::kProject && failed.stage == Stage::kRequest) return;
    return deps_.ask_failures.Failed(
        {deps_.core.NameOf(ended.package), deps_.sources()->PlatformName(ended.platform)},
        FailureRecordOf(failed, 0, deps_.clock.Now(), WorkerOf(failed)), now);
  }
  if (!ended.result.valid()) return;
  const StoredResultPtr stored = deps_.results.Get(ended.result);
  if (stored == nullptr) return;
  deps_.ask_failures.Done({stored->package, stored->platform_name}, stored->has_failed_before, now);
}

}  // namespace galley::director
