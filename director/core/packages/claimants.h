// Claimants: the cooks as all parts of the core see them: what each cook asks for, how far it is,
// and its counters.
//
// A Claimant is the state of one cook. Cook and its parts write it; all parts of the core may read
// it. A cook that is over keeps its slot until its claims are let go, so that its results can still
// be asked for. While other cooks run, the next steps let the claims go, within the units of a
// step. When no cook runs, all claims are let go when the next cook begins.
//
// Beside the cooks there are asks for single packages (cooks/asks.h). All asks together have the
// bit kAsksBit in the masks: they are running and active as long as somebody asks, also where all
// ask ahead of need. Asks have no Claimant; PackageInCook::asked has their platforms.
// Cost: O(cooks) for each question about several cooks.
// Threads: none; owned by its layer.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "director/core/cook_filter.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/packages/cook_manifest.h"
#include "director/core/packages/core_counts.h"
#include "director/core/packages/edges.h"
#include "director/core/packages/notes.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/tally.h"

namespace galley::director {

struct Claimant {
  enum class Ending : uint8_t { kNone, kInterrupted, kFailFast };

  // An empty cook that is over; stands for "the last cook" before the first request.
  explicit Claimant(const PackageTable& package_table) : packages(package_table), is_over(true) {}
  Claimant(const PackageTable& package_table, CookSlot of_slot, CookRequested of_request)
      : packages(package_table), slot(of_slot), request(std::move(of_request)) {}

  CookMask bit() const { return BitOf(slot); }
  // The cook is to end now, with this infrastructure error; empty: without an error.
  void Conclude(std::string infrastructure_error) { conclusion = std::move(infrastructure_error); }
  bool is_ending() const { return ending != Ending::kNone && !is_over; }
  // True: packages can join, and changes of the project reach the cook. False once its roots are
  // being built.
  bool CanStillChange() const { return !is_over && !is_ending() && !is_settling; }
  // Published roots count: a failure while lost bytes are made again does not stop the cook.
  bool FailsFast() const { return !is_over && request.fail_fast && !has_published; }
  bool IsAllSelected() const { return selected == request.selected.size(); }
  bool Wants(PackageId package) const { return (packages[package].cooks & bit()) != 0; }
  // The package is in the roots of the last cook (CookRequested::standing), and not looked at.
  bool Stands(PackageId package) const {
    return request.standing != nullptr && !Wants(package) &&
           request.standing->Has(packages[package].name);
  }
  // The cook contains a package of this name, whether or not the cook looks at the package.
  bool Holds(std::string_view name) const;
  // The cook follows the reference to its target.
  bool Follows(const Edge& edge) const {
    return (edge.platforms & request.platforms) != 0 && (edge.cooks & bit()) != 0 &&
           (request.follow_soft || edge.category != InstigatorCategory::kSoftDependency);
  }
  // True: the reason is one of this cook, not only of other cooks. `edges`: those of the package.
  bool HasReason(PackageId package, const InstigatorView& why, const Edges& edges) const;
  // The package is in the cook: in its manifest, when there is one.
  bool IsMember(PackageId package) const {
    return manifest != nullptr ? manifest->Has(package) : Wants(package);
  }
  // The numbers of the cook, for people: a settled cook has those of its judgement.
  const Tally& shown_tally() const { return manifest != nullptr ? manifest->tally() : tally; }
  // The platforms on which the package failed in this cook alone (`judged` and `settled`).
  PlatformMask JudgedOf(PackageId package) const;
  // The platforms on which the package reads, directly or not, what this cook leaves out.
  PlatformMask BarredOf(PackageId package) const;
  // The cook leaves out the package, or a package that generates it (CookFilter). Then the package
  // is never among the packages that the cook wants.
  bool IsNever(PackageId package) const;
  bool IsNever(std::string_view name) const;
  // True: the cook leaves out some packages.
  bool has_never() const { return request.filter != nullptr && request.filter->has_never(); }
  const Cultures& cultures() const;
  // The packages that the cook wants, each once, by id.
  std::vector<PackageId> Wanted() const;
  // The packages that the cook wants, each once, by name.
  std::vector<PackageId> WantedByName() const;

  const PackageTable& packages;
  const CookSlot slot = 0;
  CookRequested request;
  size_t selected = 0;  // packages of request.selected that were taken so far
  // The tally of the packages as they are now, also while the cook is settled.
  Tally tally;
  // From the cook's judgement on; null while the cook is open.
  std::unique_ptr<CookManifest> manifest;
  // Files that got other names while the cook was settled, in the order of the changes.
  std::vector<std::vector<FilesChanged::Renamed>> missed_renames;
  // The packages that the cook wants or wanted, in the order found, some perhaps twice.
  std::vector<PackageId> members;
  // The failures in this cook alone, by package. `judged`: platforms whose results do not fit with
  // other packages; other cooks may read these results. `settled`: platforms that failed here, and
  // are tried again for another cook.
  absl::btree_map<PackageId, PlatformMask> judged, settled;
  // BarredOf, by package, as far as it is known. The packages failed for it in this cook.
  absl::btree_map<PackageId, PlatformMask> barred;
  // Packages that the cook names or reads, and leaves out: they failed, and the cook does not want
  // them. The tally counts them on all platforms of the cook.
  absl::btree_set<PackageId> refused;
  Ending ending = Ending::kNone;
  bool is_over = false;
  bool are_claims_released = false;
  bool is_settling = false;    // settled: its roots are being built, published or staged
  bool is_publishing = false;  // the cook's roots are being published, or staged
  bool is_staging = false;     // the cook's roots are being laid out in the sandboxes
  bool has_published = false;  // its roots were published; it may be open again
  bool was_widened = false;    // from a difference to all that it selects
  uint32_t judged_epoch = 0;   // epoch of the catalog at the cook's last judgement
  uint32_t rounds = 0;         // how often the cook's roots had to be built again
  std::optional<std::string> conclusion;

 private:
  enum class Never : uint8_t { kUnknown, kNo, kYes };
  mutable std::vector<Never> never_;  // IsNever, by package
};

// The cooks in each state, as Claimants::NoteState finds them. Asks are running and active.
struct CookMasks {
  CookMask running = 0;   // not over
  CookMask active = 0;    // running, not ending, not settled: packages join, and are cooked
  CookMask settling = 0;  // running, and settled: their packages may change for other cooks
  CookMask over = 0;      // over, with claims that are not let go
  // Running cooks whose requests have these options; fail_fast without the settled ones.
  CookMask fail_fast = 0, forcing = 0, follow_soft = 0, with_standing = 0, with_never = 0;
  uint32_t classes = 0;  // of the active cooks: a bit for each class

  bool has_several_classes() const { return (classes & (classes - 1)) != 0; }
};

class Claimants {
 public:
  Claimants(PackageTable& packages, CoreCounts& counts, Notes& notes);
  Claimants(const Claimants&) = delete;
  Claimants& operator=(const Claimants&) = delete;

  // A cook begins in this slot. REQUIRES: FreeSlot gave the slot.
  Claimant& Begin(CookSlot slot, CookRequested request);
  // nullopt: as many cooks run as are allowed.
  std::optional<CookSlot> FreeSlot(uint32_t cooks_max) const;
  // Marks all claims of cooks that are over as let go. REQUIRES: no cook runs.
  void ReleaseAllClaims();
  // Forgets the cooks that are over. REQUIRES: no cook runs.
  void Clear();
  // Stops the cook: nothing new begins in it. False: it was stopped before, is over, or its roots
  // are being published.
  bool Stop(Claimant& cook, Claimant::Ending how);
  // Opens the cook again: roots that are being built are discarded. Published roots stay. The
  // caller calls Claims::TakeUpAgain when the packages can be looked at.
  void OpenAgain(Claimant& cook);
  // No running cook can go on: all end when the note CooksFailed is handed on.
  void EndAll(const std::string& infrastructure_error) {
    notes_.cooks_failed.push_back({infrastructure_error});
  }
  // Computes the masks anew. Call it after any change of a cook's state.
  void NoteState();
  // Somebody asks for a package from now on, or nobody does any more. `is_now`: not only ahead of
  // need.
  void SetAsking(bool is_asking, bool is_now) {
    is_asking_ = is_asking;
    is_asking_now_ = is_now;
    NoteState();
  }

  // visit(Claimant&) for each running cook among `cooks`, by slot; not for asks.
  template <typename Visit>
  void ForEachOf(CookMask cooks, Visit visit) const {
    for (cooks &= masks_.running & kCooksBits; cooks != 0; cooks &= cooks - 1)
      visit(*slots_[static_cast<size_t>(std::countr_zero(cooks))]);
  }
  const CookMasks& masks() const { return masks_; }
  bool is_asking() const { return is_asking_; }
  bool is_asking_now() const { return is_asking_now_; }
  // Running cooks, and asks that somebody waits for: who counts as others beside a cook.
  CookMask awaited() const { return masks_.running & (is_asking_now_ ? ~CookMask{0} : kCooksBits); }
  // A cook was stopped since TakeStopped was called last.
  bool has_stopped() const { return has_stopped_; }
  bool TakeStopped() { return std::exchange(has_stopped_, false); }
  // A cook ended in this step.
  bool has_ended() const { return has_ended_; }
  void BeginStep() { has_ended_ = false; }
  void NoteOver(Claimant& cook) {
    cook.is_over = has_ended_ = true;
    NoteState();
  }

  // Some active cook wants the package.
  bool IsWanted(PackageId package) const { return (packages_[package].cooks & masks_.active) != 0; }
  // An active cook with `force` wants the package.
  bool IsForced(PackageId package) const {
    return (packages_[package].cooks & masks_.active & masks_.forcing) != 0;
  }
  // The running cooks that want the package, without the settled ones: what becomes of the package
  // is of these cooks.
  CookMask UnsettledOf(PackageId package) const {
    return packages_[package].cooks & masks_.running & ~masks_.settling;
  }
  // UnsettledOf, without the cooks that want none of these platforms.
  CookMask ClaimersOn(PackageId package, PlatformMask platforms) const;
  // ClaimersOn without the cooks in which the package failed on the platform already.
  CookMask ListenersOn(PackageId package, PlatformIndex platform) const;
  // The cooks among `cooks` in which the package stands.
  CookMask StandingIn(PackageId package, CookMask cooks) const;
  // The running cooks among `cooks` that leave the package out (Claimant::IsNever).
  CookMask NeverIn(PackageId package, CookMask cooks) const;
  CookMask NeverIn(std::string_view name, CookMask cooks) const;
  // The cooks among `cooks` that follow the reference.
  CookMask FollowersOf(const Edge& edge, CookMask cooks) const;
  // The platforms that the requests of these cooks have; not those of asks.
  PlatformMask PlatformsOf(CookMask cooks) const;
  // For cooks alone; Claims knows how urgent asks are.
  Urgency UrgencyOf(CookMask cooks, InstigatorCategory category) const;
  // The cook of UnsettledOf for which a result of the package counts (Persist::Item::cook). Null:
  // none.
  const Claimant* FirstOf(PackageId package) const;
  bool IsAllSelected() const;
  // The running cook with that number. Null: none.
  Claimant* Find(uint64_t request) const;
  // The cook with that number, running or over. REQUIRES: it still has its slot.
  Claimant& At(uint64_t request) const;
  // REQUIRES: a cook has the slot.
  Claimant& InSlot(CookSlot slot) const { return *slots_[slot]; }
  // The cook that began last; before the first cook, a cook of nothing.
  Claimant& last() const { return *last_; }

  // Count adds to the counter of each cook that wants the package, CountForAll of each running one.
  void Count(PackageId package, uint64_t Counters::*counter, uint64_t by = 1) const;
  void CountForAll(uint64_t Counters::*counter, uint64_t by = 1) const;
  void CountRetry(PackageId package, RetryCause cause) const;
  void CountAttached(uint32_t attached) const;

 private:
  PackageTable& packages_;
  CoreCounts& counts_;
  Notes& notes_;
  Claimant nothing_;
  Claimant* last_ = &nothing_;
  std::array<std::unique_ptr<Claimant>, kCooksMax> slots_;
  bool has_stopped_ = false, has_ended_ = false;
  bool is_asking_ = false, is_asking_now_ = false;
  CookMasks masks_;
};

// The phase in which a platform of the package begins: to be cooked if forced, else looked up.
inline Phase FirstPhaseOf(const Claimants& claimants, PackageId package) {
  return claimants.IsForced(package) ? Phase::kToCook : Phase::kToLookUp;
}

// The platforms on which an active cook, or one of the cooks `joining`, wants the package, or
// somebody waits for it: everything but asks ahead of need.
inline PlatformMask WantedByOthers(const Claimants& claimants, const PackageData& package,
                                   CookMask joining = 0) {
  return claimants.PlatformsOf((package.cooks | joining) & claimants.masks().active) |
         package.asked_now;
}

}  // namespace galley::director
