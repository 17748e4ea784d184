#include "director/core/offers.h"

#include <algorithm>

#include "common/base/sabotage.h"
#include "director/core/core.h"

namespace galley::director {
namespace {

bool Contains(const std::vector<uint32_t>& sorted, uint32_t kind) {
  return std::binary_search(sorted.begin(), sorted.end(), kind);
}

}  // namespace

Offers::Offers(Core& core) : Part(core) {
  kinds_.resize(kNeedsFiles + 1);
  has_lacking_ = !options_.fleet.lacks.empty();
  for (const std::string& cooker : options_.fleet.lacks) fleet_lacks_.insert(KindOf(cooker, ""));
}

uint32_t Offers::Number(std::string_view name, std::string_view cooker) {
  if (const auto found = numbers_.find(std::string(name)); found != numbers_.end())
    return found->second;
  auto number = static_cast<uint32_t>(kinds_.size());
  if (free_.empty()) {
    kinds_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  numbers_.emplace(std::string(name), number);
  kinds_[number] = {
      .of_cooker = number, .name = std::string(name), .cooker = std::string(cooker), .refusal = ""};
  return number;
}

uint32_t Offers::KindOf(std::string_view cooker, std::string_view programs) {
  const uint32_t of_cooker = Number(cooker, cooker);
  if (programs.empty()) return of_cooker;
  const uint32_t kind = Number(std::string(cooker) + '\n' + std::string(programs), cooker);
  kinds_[kind].of_cooker = of_cooker;
  return kind;
}

// REQUIRES: it is in the works.
uint32_t Offers::KindOf(PackageId package) const {
  const Work& work = *packages_[package].work;
  return work.needs_files || NeedsFiles(work.job_kind) ? kNeedsFiles : work.job_kind;
}

void Offers::SetLacks(WorkerId id, const std::vector<std::string>& cookers) {
  std::vector<uint32_t> lacks;
  for (const std::string& cooker : cookers) lacks.push_back(KindOf(cooker, ""));
  std::sort(lacks.begin(), lacks.end());
  has_lacking_ |= !lacks.empty();
  if (PoolOf(id) == Pool::kLaunched) fleet_lacks_ = {lacks.begin(), lacks.end()};
  workers_.Find(id)->lacks = std::move(lacks);
}

void Offers::Refuse(WorkerId id, PackageId package, const std::string& error) {
  Worker& worker = *workers_.Find(id);
  const uint32_t kind = packages_[package].work->job_kind;
  kinds_[kind].refusal = error;
  if (IsSabotaged(Sabotage::kForgetRefusal)) return;
  has_lacking_ = true;
  if (PoolOf(id) == Pool::kLaunched) fleet_refuses_.insert(kind);
  if (Contains(worker.refuses, kind)) return;
  worker.refuses.insert(std::upper_bound(worker.refuses.begin(), worker.refuses.end(), kind), kind);
  for (const AttemptId waits : worker.hand.Queue()) {
    // (One that holds a resource would hold it twice.)
    if (core_.attempts.Current(waits) == nullptr || core_.attempts.at(waits).group != 0) continue;
    const PackageId same = core_.attempts.at(waits).package;
    if (same == package || packages_[same].work->job_kind != kind) continue;
    core_.attempts.EndAttempt(waits, Tell::kRetract);
    core_.cooks.Count(same, &Counters::jobs_retracted);
    core_.advancing.Advance(same);
  }
}

bool Offers::NeedFiles(PackageId package, const std::string& error) {
  const bool may_come = options_.workers > 0 || options_.fleet.helpers_max > 0;
  if (!may_come && !HasAttached(kNeedsFiles)) return false;
  kinds_[kNeedsFiles].refusal = error;
  has_lacking_ = true;
  Work& work = *packages_[package].work;
  work.needs_files = true;
  Kind& kind = kinds_[work.job_kind];
  // (Of a cooker as a whole that says nothing.)
  if (kind.of_cooker != work.job_kind) ++kind.needed_files;
  return true;
}

void Offers::NoteMade(WorkerId worker, PackageId package) {
  if (PoolOf(worker) != Pool::kLocal && packages_[package].work != nullptr)
    kinds_[packages_[package].work->job_kind].needed_files = 0;
}

// The tools may have been made equal since. (Of a worker that is away and comes back they are
// remembered longer.)
void Offers::ForgetRefusals() {
  fleet_refuses_.clear();
  for (const WorkerId id : workers_.ring()) workers_.Find(id)->refuses.clear();
  for (Kind& kind : kinds_) kind.needed_files = 0;
  if (lifecycle().in_works() == 0) ForgetPrograms();
}

// REQUIRES: no package is in the works, and nobody is known to refuse any.
void Offers::ForgetPrograms() {
  for (uint32_t number = kNeedsFiles + 1; number < kinds_.size(); ++number) {
    Kind& kind = kinds_[number];
    if (kind.name.empty() || kind.of_cooker == number) continue;
    numbers_.erase(kind.name);
    unoffered_since_.erase(number);
    kind = {};
    free_.push_back(number);
  }
}

bool Offers::Lacks(WorkerId id, const Worker& worker, uint32_t kind) const {
  if (kind == kNeedsFiles) return PoolOf(id) != Pool::kLocal;
  return Contains(worker.refuses, kind) ||
         (!IsSabotaged(Sabotage::kOfferToAll) && Contains(worker.lacks, kinds_[kind].of_cooker));
}

bool Offers::Has(WorkerId id, const Worker& worker, PackageId package) const {
  return (!has_lacking_ || !Lacks(id, worker, KindOf(package))) &&
         core_.proofs.MayCook(worker, package);
}

// (One that drains gets no more jobs.)
bool Offers::HasAttached(uint32_t kind) const {
  return std::any_of(workers_.ring().begin(), workers_.ring().end(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return !worker.is_draining && !Lacks(id, worker, kind);
  });
}

// The same of workers that are no helpers.
bool Offers::HasElsewhere(uint32_t kind) const {
  return std::any_of(workers_.ring().begin(), workers_.ring().end(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return PoolOf(id) != Pool::kLocal && !worker.is_draining && !Lacks(id, worker, kind);
  });
}

// A worker that is about to start may have it; one of this machine has it.
bool Offers::IsOffered(uint32_t kind) const {
  return options_.workers > 0 || options_.fleet.helpers_max > 0 || workers_.attached() == 0 ||
         HasAttached(kind);
}

// (While some machine can do what others refused, it waits for that one.)
bool Offers::FleetLacks(uint32_t kind) const {
  if (options_.fleet.max == 0) return false;
  return kind == kNeedsFiles || fleet_lacks_.contains(kinds_[kind].of_cooker) ||
         (fleet_refuses_.contains(kind) && !HasElsewhere(kind));
}

size_t Offers::CountForHelpers() const {
  size_t count = 0;
  for (const auto& [kind, queue] : lifecycle().parked()) {
    const bool needs_helper = Proofs::IsQueue(kind) ? core_.proofs.NeedsHome(queue.Top())
                                                    : FleetLacks(kind) || !HasElsewhere(kind);
    count += needs_helper ? queue.size() : 0;
  }
  return count;
}

bool Offers::Park(PackageId package) {
  if (parked_ >= kParkedMax) return false;
  if (core_.proofs.IsHeld(package)) {
    lifecycle().Park(package, core_.proofs.QueueOf(package));
    ++parked_;
    return true;
  }
  if (!has_lacking_) return false;
  const uint32_t kind = KindOf(package);
  const bool holds_up = FleetLacks(kind) ||
                        std::any_of(workers_.with_room().begin(), workers_.with_room().end(),
                                    [&](const Workers::Load& load) {
                                      return Lacks(load.worker, *workers_.Find(load.worker), kind);
                                    });
  if (!holds_up) return false;
  lifecycle().Park(package, kind);
  ++parked_;
  return true;
}

void Offers::ParkForHelpers() {
  parked_ = 0;
  if (options_.fleet.max == 0) return;
  const LoadQueue& loads = lifecycle().loads();
  while (!loads.empty() && parked_ < kParkedMax && FleetLacks(KindOf(loads.Top()))) {
    const PackageId first = loads.Top();
    lifecycle().Park(first, KindOf(first));
    ++parked_;
  }
}

void Offers::Unpark() {
  if (lifecycle().parked().empty()) return unoffered_since_.clear();
  std::vector<uint32_t> kinds;
  for (const auto& [kind, queue] : lifecycle().parked()) kinds.push_back(kind);
  for (const uint32_t kind : kinds) {
    if (Proofs::IsQueue(kind)) {
      // (Settling one queue may let go of another.)
      if (lifecycle().parked().contains(kind) && core_.proofs.IsOffered(kind)) UnparkOf(kind);
    } else if (IsOffered(kind)) {
      unoffered_since_.erase(kind);
      UnparkOf(kind);
    } else if (core_.awake - unoffered_since_.try_emplace(kind, core_.awake).first->second >=
               options_.unoffered_max) {
      FailUnoffered(kind);
    }
  }
}

void Offers::UnparkOf(uint32_t kind) {
  for (size_t i = 0; i < kUnparkedMax; ++i) {
    const auto queue = lifecycle().parked().find(kind);
    if (queue == lifecycle().parked().end()) return;
    const PackageId first = queue->second.Top();
    if (!core_.placing.Place(first).worker.valid()) return;
    lifecycle().Unpark(first);
  }
}

std::string Offers::WhyUnoffered(uint32_t kind) const {
  const std::string attached = std::to_string(workers_.attached());
  if (kind == kNeedsFiles)
    return "no worker can cook it: its program failed on a machine without the project, and none "
           "with the project's files is attached, or started: " +
           kinds_[kind].refusal;
  const bool is_refused =
      std::any_of(workers_.ring().begin(), workers_.ring().end(),
                  [&](WorkerId id) { return Contains(workers_.Find(id)->refuses, kind); });
  if (is_refused)
    return "no worker can cook it: none of the " + attached +
           " workers that are attached has its tools as the director has them, and no launcher "
           "starts others: " +
           kinds_[kind].refusal;
  return "no worker can cook it: wanted is the cooker \"" + kinds_[kind].cooker +
         "\" as this director knows it; none of the " + attached +
         " workers that are attached has it (another build, or a machine on which programs cannot "
         "be watched), and no launcher starts others";
}

void Offers::FailUnoffered(uint32_t kind) {
  for (size_t i = 0; i < kFailedMax && !core_.cooks.has_stopped(); ++i) {
    const auto queue = lifecycle().parked().find(kind);
    if (queue == lifecycle().parked().end()) return;
    const PackageId package = queue->second.Top();
    lifecycle().Unpark(package);
    core_.advancing.FailPlatforms(package, core_.advancing.InPhase(package, Phase::kToCook),
                                  Stage::kLoad, WhyUnoffered(kind), "", FailureCause::kMachine);
    core_.advancing.Advance(package);
  }
}

}  // namespace galley::director
