// What the store lost under a cook: looked for in the whole, wherever it was met (staging, a
// worker), made again once for each package, and all roots are built, published and staged again.
#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "director/core/cook_core_impl.h"

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

// All that is to be published is.
void CookCore::Impl::StageOrEnd() {
  if (!request->is_staged) return End("");
  is_staging = true;
  turn.roots.emplace_back(StageRoots{losses_of_store.rounds});
}

void CookCore::Impl::OnRootsStaged(const RootsStaged& event) {
  if (!request.has_value() || !is_staging || event.round != losses_of_store.rounds) return;
  if (event.loss.empty()) return End("");
  losses_of_store.from_staging = event.loss;
  if (!LeaveUnstaged()) SendLookForLost();
}

// True: somebody interrupted the cook since its roots were published. What staging lacks is for the
// next cook then.
bool CookCore::Impl::LeaveUnstaged() {
  if (!losses_of_store.is_interrupted) return false;
  OpenAgain();
  Stop(Ending::kInterrupted);
  return true;
}

// What is missing in roots that are being published is met when they are staged.
void CookCore::Impl::OnLossSeen(const LossSeen& /*event*/) {
  if (request.has_value() && ending == Ending::kNone && !is_publishing) SendLookForLost();
}

// One at a time. What is not committed yet the store does not know: a commit looks itself whether
// what it takes for known is there.
void CookCore::Impl::SendLookForLost() {
  if (std::exchange(losses_of_store.is_looking, true)) {
    losses_of_store.is_seen_again = true;
    return;
  }
  LookForLost look;
  look.look = ++looks_for_lost;
  for (uint32_t i = 0; i < packages.size(); ++i) {
    const PackageData& package = packages[PackageId(i)];
    if (!package.is_in_cook) continue;
    for (const Slot& slot : package.slots) {
      if (slot.phase == Phase::kDone && slot.result != nullptr && !slot.result->is_verdict)
        look.packages.emplace_back(PackageId(i), slot.result->id);
    }
  }
  turn.roots.emplace_back(std::move(look));
}

void CookCore::Impl::OnLostFound(const LostFound& event) {
  if (event.look != looks_for_lost || !losses_of_store.is_looking) return;
  losses_of_store.is_looking = false;
  if (!request.has_value() || ending != Ending::kNone) return;
  if (!event.error.empty()) return End("looking for what the store lost: " + event.error);
  std::vector<RootBuilt::Lost> lost;
  for (const RootBuilt::Lost& one : event.lost) {
    if (IsStillNamed(one)) lost.push_back(one);
  }
  const bool is_for_staging = is_staging;
  if (is_for_staging && LeaveUnstaged()) return;
  if (is_for_staging && lost.empty() && ++losses_of_store.fruitless > options.lost_rounds_max)
    return End("the roots are published, and cannot be staged: " + losses_of_store.from_staging +
               std::string(kWhatToDo));
  if (is_for_staging || !lost.empty()) MakeAgain(lost);
  if (!request.has_value()) return;
  if (std::exchange(losses_of_store.is_seen_again, false)) return SendLookForLost();
  if (is_settling && !is_publishing) PublishIfBuilt();
}

// Else it is being made again already.
bool CookCore::Impl::IsStillNamed(const RootBuilt::Lost& lost) const {
  if (!packages.Has(lost.package)) return false;
  const PackageData& package = packages[lost.package];
  return std::any_of(package.slots.begin(), package.slots.end(), [&](const Slot& slot) {
    return slot.phase == Phase::kDone && slot.result != nullptr && slot.result->id == lost.result;
  });
}

// Roots are built anew, also when no package lost anything: their folders may be lost.
void CookCore::Impl::MakeAgain(const std::vector<RootBuilt::Lost>& lost) {
  absl::btree_set<PackageId> losers;
  std::vector<const RootBuilt::Lost*> hopeless;
  for (const RootBuilt::Lost& one : lost) {
    if (!packages.Has(one.package)) continue;
    uint32_t& times = losses_of_store.made_again[one.package];
    times += losers.insert(one.package).second;
    if (times > options.lost_rounds_max) hopeless.push_back(&one);
  }
  if (hopeless.empty() && losses_of_store.rounds >= options.lost_rounds_in_all_max) {
    for (const RootBuilt::Lost& one : lost) hopeless.push_back(&one);
    if (hopeless.empty())
      return End("the roots cannot be staged: " + losses_of_store.from_staging +
                 std::string(kWhatToDo));
  }
  if (!hopeless.empty()) {
    return End(
        "the store dropped what this cook's roots name, and again what was made in its place, " +
        std::to_string(std::min(losses_of_store.rounds, options.lost_rounds_max)) +
        " times: " + ListOf(hopeless) + std::string(kWhatToDo));
  }
  ++losses_of_store.rounds;
  OpenAgain();
  absl::btree_set<PackageId> done;
  for (const PackageId package : losers) {
    const bool is_first = losses_of_store.made_again.at(package) == 1;
    if (IsSabotaged(Sabotage::kMakeAgainOnce) && !is_first) continue;
    RequeueWithReaders(package, done);
  }
  TakeLateChanges();
}

}  // namespace galley::director
