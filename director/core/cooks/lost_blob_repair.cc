#include "director/core/cooks/lost_blob_repair.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"

namespace galley::director {
namespace {

constexpr size_t kLostToldMax = 4;

std::string ListOf(const std::vector<const RootBuilt::Lost*>& lost) {
  std::string text;
  for (size_t i = 0; i < std::min(lost.size(), kLostToldMax); ++i)
    text += (i == 0 ? "" : ", ") + lost[i]->path + " (" + lost[i]->digest.ToString() + ")";
  if (lost.size() > kLostToldMax)
    text += " and " + std::to_string(lost.size() - kLostToldMax) + " more";
  return text;
}

constexpr std::string_view kWhatToDo =
    ": see what else uses the store and drops from it (`galley store verify`, `galley store gc`), "
    "and cook again";

}  // namespace

void LostBlobRepair::OnUnstaged(const std::string& loss) {
  from_staging_ = loss;
  if (!LeaveUnstaged()) SendLookForLost();
}

// True: somebody interrupted the cook after its roots were published. The files that staging lacks
// are left to the next cook.
bool LostBlobRepair::LeaveUnstaged() {
  if (!is_interrupted_) return false;
  cook_.is_publishing = cook_.is_staging = false;
  claimants_.NoteState();
  package_progress_.StopCook(cook_, Claimant::Ending::kInterrupted);
  return true;
}

// Missing files of roots that are being published are found when the roots are staged.
void LostBlobRepair::OnLossSeen(const LossSeen& /*event*/) {
  if (!cook_.is_over && !cook_.is_ending() && !cook_.is_publishing) SendLookForLost();
}

// Only one look is under way at a time. Results that are not committed yet are not looked for: a
// commit itself checks that the bytes which it takes for known are there.
void LostBlobRepair::SendLookForLost() {
  if (std::exchange(is_looking_, true)) {
    is_seen_again_ = true;
    return;
  }
  LookForLost look;
  look.look = look_ = ++step_.looks_for_lost;
  look.request = cook_.request.request;
  AddResults(look);
  effects_.roots.emplace_back(std::move(look));
}

void LostBlobRepair::AddResults(LookForLost& look) const {
  if (cook_.manifest != nullptr) {
    return cook_.manifest->ForEachUsable(
        [&](PackageId id, ResultId result) { look.packages.emplace_back(id, result); });
  }
  for (const PackageId id : cook_.Wanted()) {
    const PackageData& package = packages_[id];
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if (IsWanted(id, p)) look.packages.emplace_back(id, package.slots[p].result->id);
    }
  }
}

bool LostBlobRepair::OnLostFound(const LostFound& event) {
  if (event.look != look_ || !is_looking_) return false;
  is_looking_ = false;
  if (cook_.is_over || cook_.is_ending()) return false;
  if (!event.error.empty())
    return cook_.Conclude("looking for what the store lost: " + event.error), false;
  std::vector<RootBuilt::Lost> lost;
  for (const RootBuilt::Lost& one : event.lost) {
    if (IsStillNamed(one)) lost.push_back(one);
  }
  const bool is_for_staging = cook_.is_staging;
  if (is_for_staging && LeaveUnstaged()) return false;
  if (is_for_staging && lost.empty() && ++fruitless_ > options_.lost_rounds_max) {
    cook_.Conclude("the roots are published, and cannot be staged: " + from_staging_ +
                   std::string(kWhatToDo));
    return false;
  }
  if (is_for_staging || !lost.empty()) MakeAgain(lost);
  if (cook_.conclusion.has_value()) return false;
  if (std::exchange(is_seen_again_, false)) return SendLookForLost(), false;
  return cook_.is_settling && !cook_.is_publishing;
}

// A root may name the platform's outputs.
bool LostBlobRepair::IsWanted(PackageId id, PlatformIndex platform) const {
  const Slot& slot = packages_[id].slots[platform];
  return (cook_.request.platforms & MaskOf(platform)) && slot.phase == Phase::kDone &&
         slot.result != nullptr && !slot.result->is_verdict &&
         (cook_.JudgedOf(id) & MaskOf(platform)) == 0;
}

// False: the cook has another result of the package, or it is being made again already.
bool LostBlobRepair::IsStillNamed(const RootBuilt::Lost& lost) const {
  if (cook_.manifest != nullptr) return cook_.manifest->Names(lost.package, lost.result);
  if (!packages_.Has(lost.package) || !cook_.Wants(lost.package)) return false;
  const PackageData& package = packages_[lost.package];
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (IsWanted(lost.package, p) && package.slots[p].result->id == lost.result) return true;
  }
  return false;
}

// Roots are built anew, also when no package lost anything: their folders may be lost.
void LostBlobRepair::MakeAgain(const std::vector<RootBuilt::Lost>& lost) {
  absl::btree_set<PackageId> losers;
  std::vector<const RootBuilt::Lost*> hopeless;
  for (const RootBuilt::Lost& one : lost) {
    if (!packages_.Has(one.package) || !cook_.IsMember(one.package)) continue;
    uint32_t& times = made_again_[one.package];
    times += losers.insert(one.package).second;
    if (times > options_.lost_rounds_max) hopeless.push_back(&one);
  }
  if (hopeless.empty() && cook_.rounds >= options_.lost_rounds_in_all_max) {
    for (const RootBuilt::Lost& one : lost) hopeless.push_back(&one);
    if (hopeless.empty()) {
      cook_.Conclude("the roots cannot be staged: " + from_staging_ + std::string(kWhatToDo));
      return;
    }
  }
  if (!hopeless.empty()) {
    cook_.conclusion =
        "the store dropped what this cook's roots name, and again what was made in its place, " +
        std::to_string(std::min(cook_.rounds, options_.lost_rounds_max)) +
        " times: " + ListOf(hopeless) + std::string(kWhatToDo);
    return;
  }
  ++cook_.rounds;
  claims_.OpenAgain(cook_);
  cook_only_failures_.TakeBack(cook_);  // changes by other cooks count from now on
  absl::btree_set<PackageId> done;
  for (const PackageId package : losers) {
    const bool is_first = made_again_.at(package) == 1;
    if (IsSabotaged(Sabotage::kMakeAgainOnce) && !is_first) continue;
    // The file of the package may be gone since the cook was judged.
    if (cook_.Wants(package)) claims_.MakeAgain(package, done);
  }
}

}  // namespace galley::director
