#include "director/core/workers/eligibility.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"

namespace galley::director {
namespace {

bool Contains(const std::vector<uint32_t>& sorted, uint32_t kind) {
  return std::binary_search(sorted.begin(), sorted.end(), kind);
}

}  // namespace

Eligibility::Eligibility(const JobGround& ground, Grants& grants, Attempts& attempts,
                         PackageProgress& package_progress, HeldResults& held_results)
    : JobPart(ground),
      grants_(grants),
      attempts_(attempts),
      package_progress_(package_progress),
      held_results_(held_results) {
  kinds_.resize(kNeedsFiles + 1);
  demands_.resize(1);
  has_lacking_ = !options_.fleet.lacks.empty();
  for (const std::string& cooker : options_.fleet.lacks)
    fleet_lacks_.insert(Number(cooker, cooker));
}

uint32_t Eligibility::NewNumber() {
  if (free_.empty()) {
    kinds_.emplace_back();
    return static_cast<uint32_t>(kinds_.size() - 1);
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  return number;
}

uint32_t Eligibility::Number(std::string_view name, std::string_view cooker) {
  if (const auto found = numbers_.find(std::string(name)); found != numbers_.end())
    return found->second;
  const uint32_t number = NewNumber();
  numbers_.emplace(std::string(name), number);
  kinds_[number] = {.of_cooker = number,
                    .of_all = number,
                    .name = std::string(name),
                    .cooker = std::string(cooker),
                    .refusal = ""};
  return number;
}

uint32_t Eligibility::KindOf(const CatalogEntry& entry, uint32_t group) {
  uint32_t kind = Number(entry.cooker, entry.cooker);
  if (!entry.programs.empty()) {
    const uint32_t of_cooker = kind;
    kind = Number(entry.cooker + '\n' + entry.programs, entry.cooker);
    kinds_[kind].of_cooker = of_cooker;
  }
  if (entry.labels.empty() && group == 0) return kind;
  const uint32_t demand = DemandOf(entry.labels, group);
  // Other jobs of the cooker may need files.
  if (!entry.programs.empty()) Demanding(kNeedsFiles, demand);
  return Demanding(kind, demand);
}

// O(demands); O(workers) for a new demand.
uint32_t Eligibility::DemandOf(const std::vector<std::string>& labels, uint32_t group) {
  const auto found = std::ranges::find_if(
      demands_, [&](const Demand& one) { return one.group == group && one.labels == labels; });
  const auto number = static_cast<uint32_t>(found - demands_.begin());
  if (found != demands_.end()) return number;
  Demand demand{.labels = labels, .group = group};
  demand.is_of_local = Meets(options_.local_offer, demand);
  demand.is_of_fleet = Meets(options_.fleet.offer, demand);
  has_lacking_ |= options_.fleet.max > 0 && !demand.is_of_fleet;
  for (const WorkerId id : workers_.attached().ring()) {
    Worker& worker = *workers_.Find(id);
    if (Meets(worker.offer, demand)) continue;
    worker.unmet.push_back(number);
    has_lacking_ = true;
  }
  demands_.push_back(std::move(demand));
  return number;
}

// The kind of the same jobs with this demand.
uint32_t Eligibility::Demanding(uint32_t kind, uint32_t demand) {
  if (demand == 0) return kind;
  const auto [at, is_new] = demanding_.try_emplace({kind, demand});
  if (!is_new) return at->second;
  at->second = NewNumber();
  Kind& one = kinds_[at->second];
  one = kinds_[kind];
  one.demand = demand;
  one.name.clear();
  return at->second;
}

bool Eligibility::Meets(const record::WorkerOffer& offer, const Demand& demand) const {
  return offer.HasLabels(demand.labels) && grants_.CanEver(demand.group, offer.resources);
}

void Eligibility::SetOffer(WorkerId id, const std::string& machine,
                           const record::WorkerOffer& offer) {
  Worker& worker = *workers_.Find(id);
  worker.offer = offer;
  worker.unmet.clear();
  for (uint32_t i = 1; i < demands_.size(); ++i) {
    if (!Meets(offer, demands_[i])) worker.unmet.push_back(i);
  }
  has_lacking_ |= !worker.unmet.empty() || !offer.resources.empty();
  grants_.SetOffer(id, machine, offer.resources);
}

// REQUIRES: the package is in the works.
uint32_t Eligibility::KindOf(PackageId package) const {
  const Work& work = *packages_[package].work;
  const Kind& kind = kinds_[work.job_kind];
  if (!work.needs_files && !NeedsFiles(kind.of_all)) return work.job_kind;
  return kind.demand == 0 ? kNeedsFiles : demanding_.at({kNeedsFiles, kind.demand});
}

void Eligibility::SetLacks(WorkerId id, const std::vector<std::string>& cookers) {
  std::vector<uint32_t> lacks;
  for (const std::string& cooker : cookers) lacks.push_back(Number(cooker, cooker));
  std::ranges::sort(lacks);
  has_lacking_ |= !lacks.empty();
  if (PoolOf(id) == Pool::kLaunched) fleet_lacks_ = {lacks.begin(), lacks.end()};
  workers_.Find(id)->lacks = std::move(lacks);
}

void Eligibility::Refuse(WorkerId id, PackageId package, const std::string& error) {
  Worker& worker = *workers_.Find(id);
  const uint32_t kind = kinds_[packages_[package].work->job_kind].of_all;
  kinds_[kind].refusal = error;
  if (IsSabotaged(Sabotage::kForgetRefusal)) return;
  has_lacking_ = true;
  if (PoolOf(id) == Pool::kLaunched) fleet_refuses_.insert(kind);
  if (Contains(worker.refuses, kind)) return;
  worker.refuses.insert(std::upper_bound(worker.refuses.begin(), worker.refuses.end(), kind), kind);
  for (const AttemptId waits : worker.jobs.Queue()) {
    // A job that holds a resource would hold it twice.
    if (attempts_.Current(waits) == nullptr || attempts_.at(waits).group != 0) continue;
    const PackageId same = attempts_.at(waits).package;
    if (same == package || kinds_[packages_[same].work->job_kind].of_all != kind) continue;
    attempts_.EndAttempt(waits, Tell::kRetract);
    claimants_.Count(same, &Counters::jobs_retracted);
    package_progress_.Advance(same);
  }
}

bool Eligibility::NeedFiles(PackageId package, const std::string& error) {
  const uint32_t kind = Demanding(kNeedsFiles, kinds_[packages_[package].work->job_kind].demand);
  if (!MayBeLocal(kind) && !HasAttached(kind)) return false;
  kinds_[kNeedsFiles].refusal = error;
  has_lacking_ = true;
  Work& work = *packages_[package].work;
  work.needs_files = true;
  Kind& all = kinds_[kinds_[work.job_kind].of_all];
  // A cooker as a whole is not counted: its jobs may start different programs.
  if (all.of_cooker != all.of_all) ++all.needed_files;
  return true;
}

void Eligibility::NoteMade(WorkerId worker, PackageId package) {
  if (PoolOf(worker) != Pool::kLocal && packages_[package].work != nullptr)
    kinds_[kinds_[packages_[package].work->job_kind].of_all].needed_files = 0;
}

// The tools may have been made equal since the last cook. The refusals of a worker that is away and
// comes back are remembered longer.
void Eligibility::ForgetRefusals() {
  fleet_refuses_.clear();
  workers_.ForgetRefusals();  // of lost workers, too: numbers of kinds are given again
  for (Kind& kind : kinds_) kind.needed_files = 0;
  if (graph_.lifecycle().in_works() == 0) ForgetPrograms();
}

// REQUIRES: no package is in the works, and no worker is known to refuse any.
void Eligibility::ForgetPrograms() {
  for (uint32_t number = kNeedsFiles + 1; number < kinds_.size(); ++number) {
    Kind& kind = kinds_[number];
    if (kind.name.empty() || kind.of_cooker == number) continue;
    numbers_.erase(kind.name);
    Free(number);
  }
  absl::erase_if(demanding_, [this](const auto& one) {
    const auto& [of, number] = one;
    if (of.first == kNeedsFiles || !kinds_[of.first].cooker.empty()) return false;
    Free(number);
    return true;
  });
}

void Eligibility::Free(uint32_t number) {
  kinds_[number] = {};
  free_.push_back(number);
}

bool Eligibility::Lacks(WorkerId id, const Worker& worker, uint32_t kind) const {
  const Kind& of = kinds_[kind];
  if (of.demand != 0 && !IsSabotaged(Sabotage::kPlaceAnywhere) && Contains(worker.unmet, of.demand))
    return true;
  if (WantsFiles(of)) return PoolOf(id) != Pool::kLocal;
  return Contains(worker.refuses, of.of_all) ||
         (!IsSabotaged(Sabotage::kOfferToAll) && Contains(worker.lacks, of.of_cooker));
}

bool Eligibility::Has(WorkerId id, const Worker& worker, PackageId package) const {
  return !worker.is_held && (!has_lacking_ || !Lacks(id, worker, KindOf(package))) &&
         held_results_.MayCook(worker, package);
}

// A draining worker gets no more jobs, and does not count.
bool Eligibility::HasAttached(uint32_t kind) const {
  return std::ranges::any_of(workers_.attached().ring(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return !worker.is_draining && !Lacks(id, worker, kind);
  });
}

// HasAttached for workers that are no helpers.
bool Eligibility::HasElsewhere(uint32_t kind) const {
  return std::ranges::any_of(workers_.attached().ring(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return PoolOf(id) != Pool::kLocal && !worker.is_draining && !Lacks(id, worker, kind);
  });
}

// True: a worker that is started on this machine has the kind.
bool Eligibility::MayBeLocal(uint32_t kind) const {
  return (options_.workers > 0 || options_.fleet.helpers_max > 0) && DemandOf(kind).is_of_local;
}

bool Eligibility::MayBeLaunched(uint32_t kind) const {
  return options_.fleet.max > 0 && !FleetLacks(kind);
}

// A worker that is about to start may have the kind, or a worker that comes by itself. It is known
// whether a launcher's workers meet the demand.
bool Eligibility::IsOffered(uint32_t kind) const {
  if (MayBeLocal(kind) || HasAttached(kind)) return true;
  if (kinds_[kind].demand == 0) return workers_.attached().count() == 0;
  const bool has_launcher = options_.workers > 0 || options_.fleet.max > 0;
  return MayBeLaunched(kind) || (!has_launcher && workers_.attached().count() == 0);
}

// While some machine can do a kind that others refused, the kind waits for that machine.
bool Eligibility::FleetLacks(uint32_t kind) const {
  if (options_.fleet.max == 0) return false;
  const Kind& of = kinds_[kind];
  return WantsFiles(of) || !DemandOf(kind).is_of_fleet || fleet_lacks_.contains(of.of_cooker) ||
         (fleet_refuses_.contains(of.of_all) && !HasElsewhere(kind));
}

std::string Eligibility::WantedText(uint32_t kind) const {
  const Demand& demand = DemandOf(kind);
  const std::string& cooker = kinds_[kind].cooker;
  return record::OfferText(demand.labels, grants_.WantedBy(demand.group)) +
         (cooker.empty() ? "" : " for the cooker \"" + cooker + "\"");
}

// The offers of the workers, equal offers together.
std::string Eligibility::OfferedText() const {
  constexpr size_t kToldMax = 8;
  absl::btree_map<std::string, size_t> attached;
  for (const WorkerId id : workers_.attached().ring()) {
    const record::WorkerOffer& offer = workers_.Find(id)->offer;
    ++attached[record::OfferText(offer.labels, offer.resources)];
  }
  std::string text;
  const auto add = [&text](const std::string& who, const std::string& what) {
    text += (text.empty() ? "" : " | ") + who + ": " + what;
  };
  size_t told = 0;
  for (const auto& [offer, count] : attached) {
    if (told++ == kToldMax) {
      add("others", "other things");
      break;
    }
    add(count == 1 ? "1 worker" : std::to_string(count) + " workers", offer);
  }
  if (attached.empty()) text = "no worker is attached";
  if (options_.workers > 0 || options_.fleet.max > 0) {
    const record::WorkerOffer& offer =
        options_.workers > 0 ? options_.local_offer : options_.fleet.offer;
    add("[farm] says of each that it starts", record::OfferText(offer.labels, offer.resources));
  }
  if (!grants_.totals().empty())
    add("[resources], for the whole farm", record::OfferText({}, grants_.totals()));
  return text;
}

std::string Eligibility::WhyUnoffered(uint32_t kind) const {
  const size_t attached = workers_.attached().count();
  const std::string none_has =
      attached == 1 ? "the only worker that is attached does not have "
                    : "none of the " + std::to_string(attached) + " workers that are attached has ";
  // A kind that no worker can do although it meets the demand is not missing for the demand.
  const bool is_demanded = kinds_[kind].demand != 0 &&
                           std::ranges::none_of(workers_.attached().ring(), [&](WorkerId id) {
                             return !Contains(workers_.Find(id)->unmet, kinds_[kind].demand);
                           });
  if (is_demanded)
    return "no worker can cook it, and no launcher brings up one that could. Wanted: " +
           WantedText(kind) + ". Offered: " + OfferedText() +
           ". Start a worker that has it (`galley worker --label L --resource R=N`), or say in "
           "[farm] labels and resources what the launcher's workers have";
  if (WantsFiles(kinds_[kind]))
    return "no worker can cook it: its program failed on a machine without the project, and none "
           "with the project's files is attached, or started: " +
           kinds_[kNeedsFiles].refusal;
  const bool is_refused = std::ranges::any_of(workers_.attached().ring(), [&](WorkerId id) {
    return Contains(workers_.Find(id)->refuses, kinds_[kind].of_all);
  });
  if (is_refused)
    return "no worker can cook it: " + none_has +
           "its tools as the director has them, and no launcher "
           "starts others: " +
           kinds_[kinds_[kind].of_all].refusal;
  return "no worker can cook it: wanted is the cooker \"" + kinds_[kind].cooker +
         "\" as this director knows it; " + none_has +
         "it (another build, or a machine on which programs cannot "
         "be watched), and no launcher starts others";
}

// Counts resources anew, from the workers' hands.
void Eligibility::CheckInvariants() const {
  record::ResourceCounts of_farm;
  absl::btree_map<std::string, record::ResourceCounts> of_machines;
  for (const WorkerId id : workers_.Holding()) {
    const Worker& worker = *workers_.Find(id);
    const std::string* const machine = grants_.MachineOf(id);
    for (const AttemptId held : worker.jobs.All()) {
      const Attempt& attempt = attempts_.at(held);
      const Kind& kind = kinds_[packages_[attempt.package].work->job_kind];
      GALLEY_CHECK(worker.offer.HasLabels(demands_[kind.demand].labels));
      for (const auto& [name, count] : grants_.WantedBy(attempt.group)) {
        of_farm[name] += count;
        if (machine != nullptr) of_machines[*machine][name] += count;
      }
    }
    if (machine == nullptr) continue;
    for (const auto& [name, count] : of_machines[*machine]) {
      const auto offered = worker.offer.resources.find(name);
      GALLEY_CHECK(offered == worker.offer.resources.end() || count <= offered->second);
    }
  }
  for (const auto& [name, total] : grants_.totals())
    GALLEY_CHECK(!of_farm.contains(name) || of_farm.at(name) <= total);
}

}  // namespace galley::director
