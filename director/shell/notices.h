// Notices: passes the core's notices about packages, workers and cooks to the cooks, and the ends
// of asks to PackageAsks. Records failures, blames and observed values.
//
// Threads: the loop's.
#pragma once

#include <functional>
#include <string>

#include "common/base/clock.h"
#include "director/core/cook_core.h"
#include "director/core/effects.h"
#include "director/shell/active_cooks.h"
#include "director/shell/ask_failures.h"
#include "director/shell/inbox.h"
#include "director/shell/progress_notes.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"

namespace galley::director {

class Notices {
 public:
  // Everything in Deps outlives Notices.
  struct Deps {
    const CookCore& core;
    const ResultTable& results;
    Clock& clock;
    Inbox& inbox;
    ActiveCooks& cooks;
    ProgressNotes& notes;
    AskFailures& ask_failures;
    PresentSources sources;
    std::function<std::string(WorkerId worker)> name_of;
    // Keeps the limit that a package exceeded. Returns a text for people about that.
    std::function<std::string(const PackageFailed& failed)> keep_limit;
    // Act on the worker, and return the text for the cooks (WorkerNotices).
    std::function<std::string(const WorkerQuarantined& notice)> quarantine;
    std::function<std::string(const WorkerHeld& notice)> hold;
    std::function<std::string(const WorkerViolated& notice)> end_process;
    // Ends a cook that has left its slot.
    std::function<void(const std::shared_ptr<ActiveCook>& cook, const CookEnded& ended)> end_cook;
    // Ends an ask for one package (PackageAsks).
    std::function<void(const AskEnded& ended)> end_ask;
  };
  explicit Notices(Deps deps) : deps_(std::move(deps)) {}

  void Tell(const Notify& effect);

 private:
  void TellCooks(CookMask cooks, const PackageFailed& notice);
  void TellCooks(CookMask cooks, const PackageWarned& notice);
  void TellCooks(CookMask cooks, const PackageDone& notice);
  void TellCooks(CookMask cooks, const PackageLeft& notice);
  void TellCooks(CookMask cooks, const PackageBlamed& notice);
  void TellCooks(CookMask cooks, const WorkerQuarantined& notice);
  void TellCooks(CookMask cooks, const WorkerHeld& notice);
  void TellCooks(CookMask cooks, const WorkerViolated& notice);
  void TellCooks(CookMask cooks, const CookBegan& notice);
  void TellCooks(CookMask cooks, const CookEnded& notice);
  void TellCooks(CookMask cooks, const AskEnded& notice);
  void WarnCooks(CookMask cooks, record::WarningKind kind, const std::string& text);
  void NoteFailure(ActiveCook& cook, const PackageFailed& failed) const;
  void NoteAsked(const AskEnded& ended) const;
  // Empty: the failure was in no attempt.
  std::string WorkerOf(const PackageFailed& failed) const;
  void LookAtResult(ActiveCook& cook, const StoredResultPtr& result);

  const Deps deps_;
};

}  // namespace galley::director
