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
const Counters& CookCore::counters() const {
  return core_->packages.claimants.last().shown_tally().counters;
}
Progress CookCore::progress() const {
  return core_->ViewProgress(core_->packages.claimants.last());
}
const Counters& CookCore::counters(uint64_t request) const {
  return core_->packages.claimants.At(request).shown_tally().counters;
}
Progress CookCore::progress(uint64_t request) const {
  return core_->ViewProgress(core_->packages.claimants.At(request));
}
uint64_t CookCore::held_workers() const { return core_->workers.breakers.held(); }
CoreFigures CookCore::figures() { return core_->ViewFigures(); }
bool CookCore::is_publishing(uint64_t request) const {
  const Claimant* const cook = core_->packages.claimants.Find(request);
  return cook != nullptr && cook->is_publishing;
}
size_t CookCore::package_count() const { return core_->packages.table.known(); }
uint32_t CookCore::package_ids() const { return core_->packages.table.size(); }
const std::string& CookCore::NameOf(PackageId package) const {
  return core_->packages.table[package].name;
}
PackageId CookCore::Find(std::string_view name_or_file) const {
  const PackageId package = core_->packages.table.Find(name_or_file);
  return package.valid() ? package
                         : core_->packages.table.Find(core_->jobs.claims.NameAsked(name_or_file));
}

std::vector<InstigatorView> CookCore::InstigatorsOf(PackageId package) const {
  std::vector<InstigatorView> reasons;
  core_->packages.graph.edges().ForEachInstigator(
      package, [&](const InstigatorView& why) { reasons.push_back(why); });
  return reasons;
}

void CookCore::ForEachReasonIn(
    uint64_t request, absl::FunctionRef<void(PackageId, const InstigatorView&)> visit) const {
  const Claimant& cook = core_->packages.claimants.At(request);
  std::vector<PackageId> members = cook.members;
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  for (const PackageId package : members) {
    const Edges& edges = core_->packages.graph.edges();
    edges.ForEachInstigator(package, [&](const InstigatorView& why) {
      if (cook.HasReason(package, why, edges)) visit(package, why);
    });
  }
}

const record::Generated* CookCore::GeneratedOf(PackageId package) const {
  return core_->packages.table[package].generated.get();
}

std::string CookCore::StateText(PackageId id) const { return core_->cooks.queries.StateTextOf(id); }

Holdings CookCore::holdings() const {
  return {.attempts = core_->jobs.attempts.size(),
          .workers = core_->jobs.worker_table.size(),
          .attached = core_->jobs.worker_table.attached().count(),
          .commits = core_->jobs.commits.size(),
          .changed_files = core_->packages.graph.pending_changes().stale_files(),
          .job_kinds = core_->workers.eligibility.kinds()};
}

Urgency CookCore::UrgencyOf(PackageId package) const {
  return core_->packages.table[package].urgency;
}

bool CookCore::IsReady(PackageId id) const {
  const Lifecycle& lifecycle = core_->packages.graph.lifecycle();
  const bool is_queued =
      lifecycle.queues().loads().Contains(id) || lifecycle.queues().saves().Contains(id);
  return is_queued && core_->workers.job_queue.HasResources(id) &&
         !core_->jobs.resumed_attempts.Has(id) && !core_->workers.exclusive_run.WaitsToBeAlone(id);
}

bool CookCore::Knows(AttemptId attempt) const {
  return core_->jobs.attempts.Find(attempt) != nullptr;
}

void CookCore::CheckInvariants() const { core_->CheckInvariants(); }

}  // namespace galley::director
