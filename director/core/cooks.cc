#include "director/core/cooks.h"

#include <utility>

#include "director/core/core.h"

namespace galley::director {

Cooks::Cooks(Core& core)
    : Part(core), current_(std::make_unique<Cook>(core)), graph_(std::make_unique<Graph>(core)) {}

void Cooks::OnCookRequested(const CookRequested& event) {
  waiting_.push_back(event);
  if (cook().is_over()) GoOn();
}

// A cook that waits for its turn is over before it began.
void Cooks::OnCancelRequested() {
  if (!cook().is_over()) return cook().Stop(Cook::Ending::kInterrupted);
  if (waiting_.empty()) return;
  Note(CookEnded{.request = waiting_.front().request,
                 .is_interrupted = true,
                 .is_fail_fast = false,
                 .infrastructure_error = ""});
  waiting_.pop_front();
}

void Cooks::OnDirectorUnfit(const DirectorUnfit& event) {
  if (!cook().is_over()) cook().End(event.reason);
}

void Cooks::GoOn() {
  if (!cook().is_over()) return cook().GoOn();
  if (!waiting_.empty() && core_.commits.empty()) BeginNext();
}

void Cooks::BeginNext() {
  CookRequested next = std::move(waiting_.front());
  waiting_.pop_front();
  ++begun_;
  core_.attempts.ForgetAllRetracted();
  core_.worker_lives.BeginCook();
  current_ = std::make_unique<Cook>(core_, std::move(next));
  graph_ = std::make_unique<Graph>(core_);
  for (CookRequested::Blamed& blamed : cook().request().blamed) {
    const PackageId package = graph().claims.FindOrAdd(blamed.package);
    graph().faults.AddEarlier(package, std::move(blamed));
  }
}

void Cooks::ForEach(PackageId package, absl::FunctionRef<void(const Claimant&)> visit) const {
  if (!packages_[package].is_in_cook) return;
  visit({.tally = cook().tally,
         .platforms = cook().request().platforms,
         .judged = cook().judging.JudgedOf(package)});
}

bool Cooks::HasAgenda() const {
  if (cook().is_over()) return !waiting_.empty() && core_.commits.empty();
  if (cook().is_ending()) return false;
  return !graph().agenda.empty() || lifecycle().equal_work().has_freed() ||
         !cook().selection.IsAllSelected() || (cook().IsQuiet() && !cook().roots.is_settling());
}

}  // namespace galley::director
