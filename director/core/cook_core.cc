#include "director/core/cook_core.h"

#include <algorithm>

#include "director/core/core.h"

namespace galley::director {

CookCore::CookCore(const CookOptions& options, std::shared_ptr<const Catalog> catalog)
    : core_(std::make_unique<Core>(options, std::move(catalog))) {}
CookCore::~CookCore() = default;

void CookCore::Step(absl::Time now, const Event& event, std::vector<Effect>& effects) {
  core_->Step(now, event, effects);
}
bool CookCore::has_agenda() const { return core_->HasAgenda(); }
bool CookCore::has_jobs() const { return core_->HasJobs(); }
const Counters& CookCore::counters() const { return core_->claimants.last().tally.counters; }
Progress CookCore::progress() const { return core_->ViewProgress(core_->claimants.last()); }
const Counters& CookCore::counters(uint64_t request) const {
  return core_->claimants.At(request).tally.counters;
}
Progress CookCore::progress(uint64_t request) const {
  return core_->ViewProgress(core_->claimants.At(request));
}
uint64_t CookCore::held_workers() const { return core_->breakers.held(); }
CoreFigures CookCore::figures() { return core_->ViewFigures(); }
bool CookCore::is_publishing(uint64_t request) const {
  const Claimant* const cook = core_->claimants.Find(request);
  return cook != nullptr && cook->is_publishing;
}
size_t CookCore::package_count() const { return core_->packages.size(); }
const std::string& CookCore::NameOf(PackageId package) const {
  return core_->packages[package].name;
}
PackageId CookCore::Find(std::string_view name_or_file) const {
  const PackageId package = core_->packages.Find(name_or_file);
  return package.valid() ? package : core_->packages.Find(core_->claims.NameAsked(name_or_file));
}

std::vector<InstigatorView> CookCore::InstigatorsOf(PackageId package) const {
  std::vector<InstigatorView> reasons;
  core_->graph.edges().ForEachInstigator(
      package, [&](const InstigatorView& why) { reasons.push_back(why); });
  return reasons;
}

void CookCore::ForEachReasonIn(
    uint64_t request, absl::FunctionRef<void(PackageId, const InstigatorView&)> visit) const {
  const Claimant& cook = core_->claimants.At(request);
  std::vector<PackageId> members = cook.members;
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  for (const PackageId package : members) {
    core_->graph.edges().ForEachInstigator(package, [&](const InstigatorView& why) {
      if (cook.HasReason(package, why)) visit(package, why);
    });
  }
}

const record::Generated* CookCore::GeneratedOf(PackageId package) const {
  return core_->packages[package].generated.get();
}

std::string CookCore::StateText(PackageId id) const { return core_->queries.StateTextOf(id); }

Holdings CookCore::holdings() const {
  return {.attempts = core_->attempts.size(),
          .workers = core_->workers.size(),
          .commits = core_->commits.size(),
          .changed_files = core_->graph.pending_changes().stale_files(),
          .job_kinds = core_->eligibility.kinds()};
}

Urgency CookCore::UrgencyOf(PackageId package) const { return core_->packages[package].urgency; }

bool CookCore::IsReady(PackageId id) const {
  const Lifecycle& lifecycle = core_->graph.lifecycle();
  const bool is_queued =
      lifecycle.queues().loads().Contains(id) || lifecycle.queues().saves().Contains(id);
  return is_queued && core_->job_queue.HasResources(id) && !core_->resumed_attempts.Has(id) &&
         !core_->exclusive_run.WaitsToBeAlone(id);
}

bool CookCore::Knows(AttemptId attempt) const { return core_->attempts.Find(attempt) != nullptr; }

void CookCore::CheckInvariants() const { core_->CheckInvariants(); }

}  // namespace galley::director
