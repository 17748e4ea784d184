#include "director/core/packages/claimants.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"

namespace galley::director {
namespace {

PlatformMask MaskIn(const absl::btree_map<PackageId, PlatformMask>& map, PackageId package) {
  const auto found = map.find(package);
  return found == map.end() ? 0 : found->second;
}

// A package has no source if a package that generates it is left out.
bool LeavesOut(const CookFilter& filter, std::string_view name) {
  for (; !name.empty(); name = GeneratorName(name)) {
    if (filter.IsNever(name)) return true;
  }
  return false;
}

}  // namespace

bool Claimant::Holds(std::string_view name) const {
  const PackageId package = packages.Find(name);
  return (package.valid() && IsMember(package)) ||
         (request.standing != nullptr && request.standing->WasInCook(name));
}

bool Claimant::HasReason(PackageId package, const InstigatorView& why, const Edges& edges) const {
  if (!why.referencer.valid()) return (packages[package].selected_by & bit()) != 0;
  if (!IsMember(why.referencer) || IsNever(package)) return false;
  if (why.category == InstigatorCategory::kCulture)
    return (edges.TakersOf(why.referencer, package) & bit()) != 0;
  return request.follow_soft || why.category != InstigatorCategory::kSoftDependency;
}

PlatformMask Claimant::JudgedOf(PackageId package) const {
  return MaskIn(judged, package) | MaskIn(settled, package);
}

PlatformMask Claimant::BarredOf(PackageId package) const { return MaskIn(barred, package); }

bool Claimant::IsNever(PackageId package) const {
  if (!has_never()) return false;
  if (never_.size() <= package.index()) never_.resize(packages.size(), Never::kUnknown);
  Never& known = never_[package.index()];
  if (known == Never::kUnknown)
    known = LeavesOut(*request.filter, packages[package].name) ? Never::kYes : Never::kNo;
  return known == Never::kYes;
}

bool Claimant::IsNever(std::string_view name) const {
  if (!has_never()) return false;
  const PackageId package = packages.Find(name);
  return package.valid() ? IsNever(package) : LeavesOut(*request.filter, name);
}

const Cultures& Claimant::cultures() const {
  static const Cultures of_project;
  return request.filter == nullptr ? of_project : request.filter->cultures();
}

std::vector<PackageId> Claimant::Wanted() const {
  std::vector<PackageId> wanted;
  wanted.reserve(members.size());
  for (const PackageId id : members) {
    if (Wants(id)) wanted.push_back(id);
  }
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

std::vector<PackageId> Claimant::WantedByName() const {
  std::vector<PackageId> wanted = Wanted();
  std::ranges::sort(wanted,
                    [&](PackageId a, PackageId b) { return packages[a].name < packages[b].name; });
  return wanted;
}

Claimants::Claimants(PackageTable& packages, CoreCounts& counts, Notes& notes)
    : packages_(packages), counts_(counts), notes_(notes), nothing_(packages) {}

Claimant& Claimants::Begin(CookSlot slot, CookRequested request) {
  last_ = &nothing_;
  slots_[slot] = std::make_unique<Claimant>(packages_, slot, std::move(request));
  last_ = slots_[slot].get();
  NoteState();
  return *last_;
}

std::optional<CookSlot> Claimants::FreeSlot(uint32_t cooks_max) const {
  const CookMask taken = (masks_.running | masks_.over) & kCooksBits;
  if (std::popcount(taken) >= static_cast<int>(std::min(cooks_max, kCooksMax))) return std::nullopt;
  return static_cast<CookSlot>(std::countr_one(taken));
}

void Claimants::ReleaseAllClaims() {
  for (const std::unique_ptr<Claimant>& over : slots_) {
    if (over == nullptr) continue;
    over->are_claims_released = true;
    over->manifest.reset();
  }
  NoteState();
}

void Claimants::Clear() {
  last_ = &nothing_;
  for (std::unique_ptr<Claimant>& over : slots_) over.reset();
  NoteState();
}

bool Claimants::Stop(Claimant& cook, Claimant::Ending how) {
  if (cook.is_over || cook.is_publishing) return false;
  if (cook.is_ending()) {
    if (how == Claimant::Ending::kInterrupted) cook.ending = how;
    return false;
  }
  cook.ending = how;
  NoteState();
  has_stopped_ = true;
  return true;
}

void Claimants::OpenAgain(Claimant& cook) {
  cook.is_settling = cook.is_publishing = cook.is_staging = false;
  NoteState();
}

void Claimants::NoteState() {
  masks_ = {};
  for (const std::unique_ptr<Claimant>& slot : slots_) {
    if (slot == nullptr) continue;
    const Claimant& cook = *slot;
    const CookMask bit = cook.bit();
    if (cook.is_over && !cook.are_claims_released) masks_.over |= bit;
    if (cook.is_over) continue;
    masks_.running |= bit;
    if (cook.is_settling) masks_.settling |= bit;
    if (cook.CanStillChange()) {
      masks_.active |= bit;
      masks_.classes |= 1u << static_cast<uint32_t>(cook.request.of_class);
    }
    if (cook.request.force) masks_.forcing |= bit;
    if (cook.FailsFast() && !cook.is_settling) masks_.fail_fast |= bit;
    if (cook.request.follow_soft) masks_.follow_soft |= bit;
    if (cook.request.standing != nullptr) masks_.with_standing |= bit;
    if (cook.has_never()) masks_.with_never |= bit;
  }
  if (!is_asking_) return;
  masks_.running |= kAsksBit;
  masks_.active |= kAsksBit;
  if (is_asking_now_) masks_.classes |= 1u << static_cast<uint32_t>(CookClass::kNow);
}

CookMask Claimants::ClaimersOn(PackageId package, PlatformMask platforms) const {
  CookMask claimers = 0;
  ForEachOf(UnsettledOf(package), [&](const Claimant& cook) {
    if (cook.request.platforms & platforms) claimers |= cook.bit();
  });
  if ((packages_[package].asked & platforms) != 0) claimers |= kAsksBit;
  return claimers;
}

CookMask Claimants::ListenersOn(PackageId package, PlatformIndex platform) const {
  CookMask listeners = 0;
  ForEachOf(UnsettledOf(package), [&](const Claimant& cook) {
    if (cook.request.platforms & ~cook.JudgedOf(package) & MaskOf(platform))
      listeners |= cook.bit();
  });
  if ((packages_[package].asked & MaskOf(platform)) != 0) listeners |= kAsksBit;
  if (IsSabotaged(Sabotage::kTellWrongCook) && std::popcount(masks_.running & kCooksBits) > 1)
    listeners = masks_.running & kCooksBits & ~listeners;
  return listeners;
}

CookMask Claimants::StandingIn(PackageId package, CookMask cooks) const {
  CookMask standing = 0;
  ForEachOf(cooks & masks_.with_standing, [&](const Claimant& cook) {
    if (cook.Stands(package)) standing |= cook.bit();
  });
  return standing;
}

CookMask Claimants::NeverIn(PackageId package, CookMask cooks) const {
  CookMask never = 0;
  ForEachOf(cooks & masks_.with_never, [&](const Claimant& cook) {
    if (cook.IsNever(package)) never |= cook.bit();
  });
  return never;
}

CookMask Claimants::NeverIn(std::string_view name, CookMask cooks) const {
  CookMask never = 0;
  ForEachOf(cooks & masks_.with_never, [&](const Claimant& cook) {
    if (cook.IsNever(name)) never |= cook.bit();
  });
  return never;
}

CookMask Claimants::FollowersOf(const Edge& edge, CookMask cooks) const {
  CookMask followers = 0;
  ForEachOf(cooks, [&](const Claimant& cook) {
    if (cook.Follows(edge)) followers |= cook.bit();
  });
  return followers;
}

PlatformMask Claimants::PlatformsOf(CookMask cooks) const {
  PlatformMask platforms = 0;
  ForEachOf(cooks, [&](const Claimant& cook) { platforms |= cook.request.platforms; });
  return platforms;
}

Urgency Claimants::UrgencyOf(CookMask cooks, InstigatorCategory category) const {
  Urgency urgency = Urgency::kLow;
  ForEachOf(cooks, [&](const Claimant& cook) {
    urgency = std::max(urgency, director::UrgencyOf(cook.request.of_class, category));
  });
  return urgency;
}

const Claimant* Claimants::FirstOf(PackageId package) const {
  const Claimant* first = nullptr;
  ForEachOf(UnsettledOf(package), [&](const Claimant& cook) {
    const auto rank = [](const Claimant& one) {
      return std::pair(-static_cast<int>(one.request.of_class), one.request.request);
    };
    if (first == nullptr || rank(cook) < rank(*first)) first = &cook;
  });
  return first;
}

bool Claimants::IsAllSelected() const {
  bool is_all = true;
  ForEachOf(masks_.active, [&](const Claimant& cook) { is_all &= cook.IsAllSelected(); });
  return is_all;
}

Claimant* Claimants::Find(uint64_t request) const {
  Claimant* found = nullptr;
  ForEachOf(masks_.running, [&](Claimant& cook) {
    if (cook.request.request == request) found = &cook;
  });
  return found;
}

Claimant& Claimants::At(uint64_t request) const {
  for (const std::unique_ptr<Claimant>& cook : slots_) {
    if (cook != nullptr && cook->request.request == request) return *cook;
  }
  GALLEY_CHECK(false && "no such cook");
}

void Claimants::Count(PackageId package, uint64_t Counters::*counter, uint64_t by) const {
  for (CookMask cooks = packages_[package].cooks & (masks_.running | masks_.over) & kCooksBits;
       cooks != 0; cooks &= cooks - 1) {
    Claimant& cook = *slots_[static_cast<size_t>(std::countr_zero(cooks))];
    cook.tally.counters.*counter += by;
    if (cook.manifest != nullptr)
      cook.manifest->CountOf(package, packages_[package].content, counter, by);
  }
}

void Claimants::CountForAll(uint64_t Counters::*counter, uint64_t by) const {
  ForEachOf(masks_.running, [&](Claimant& cook) {
    cook.tally.counters.*counter += by;
    if (cook.manifest != nullptr) cook.manifest->Count(counter, by);
  });
}

void Claimants::CountRetry(PackageId package, RetryCause cause) const {
  Count(package, &Counters::jobs_retried);
  ++counts_.figures.retried[static_cast<size_t>(cause)];
}

void Claimants::CountAttached(uint32_t attached) const {
  ForEachOf(masks_.running, [&](Claimant& cook) {
    cook.tally.counters.workers_attached = attached;
    if (cook.manifest != nullptr) cook.manifest->SetWorkersAttached(attached);
  });
}

}  // namespace galley::director
