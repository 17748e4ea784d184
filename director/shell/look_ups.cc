#include "director/shell/look_ups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "common/base/give_back_memory.h"

namespace galley::director {
namespace {

constexpr size_t kRemoteThreads = 4;
// Few packages at a time, so that a large one holds up few others.
constexpr size_t kAskedOfRemote = 16;

// Takes the misses out of `answer`; `items` are then those that missed, with their platforms.
LookedUp TakeMisses(LookedUp& answer, std::vector<LookUpItem>& items) {
  LookedUp missed;
  std::map<PackageId, PlatformMask> platforms;
  for (LookedUp::Item& one : answer.items) {
    if (!std::holds_alternative<LookedUp::Miss>(one.outcome)) continue;
    platforms[one.package] |= MaskOf(one.platform);
    missed.items.push_back(std::move(one));
  }
  std::erase_if(answer.items, [](const LookedUp::Item& one) {
    return std::holds_alternative<LookedUp::Miss>(one.outcome);
  });
  std::erase_if(items, [&](const LookUpItem& item) { return !platforms.contains(item.package); });
  for (LookUpItem& item : items) item.platforms = platforms.at(item.package);
  return missed;
}

}  // namespace

LookUps::LookUps(Deps deps, LookUpRunner::Options options)
    : deps_(std::move(deps)),
      runner_({.sources = deps_.sources,
               .store = &deps_.store,
               .journal = &deps_.journal,
               .results = &deps_.results,
               .alarm = deps_.alarm,
               .reads = deps_.reads},
              std::move(options)) {
  if (deps_.remote == nullptr) return;
  remote_look_up_.emplace(RemoteLookUp::Deps{.look_ups = &runner_,
                                             .store = &deps_.store,
                                             .remote = deps_.remote,
                                             .cancellation = &remote_cancellation_});
  remote_threads_.emplace(kRemoteThreads);
}

void LookUps::GiveBackMemory() { thread_.Post(galley::GiveBackMemory); }

void LookUps::Ask(std::vector<LookUpItem> items) {
  thread_.Post([this, items = std::move(items)]() mutable {
    const uint64_t number = deps_.sources()->number();
    LookedUp answer = runner_.Run(items);
    std::vector<LookUpItem> asked = items;
    LookedUp missed;
    if (remote_look_up_) {
      missed = TakeMisses(answer, asked);
    } else {
      deps_.limits.Answer(items, deps_.clock.Now(), answer);
    }
    deps_.post([this, number, items = std::move(items), asked = std::move(asked),
                answer = std::move(answer), missed = std::move(missed)]() mutable {
      // An answer that a new snapshot overtook is not given: the question is asked again.
      if (deps_.sources()->number() != number) return Ask(std::move(items));
      if (!missed.items.empty()) AskRemote(std::move(asked), std::move(missed));
      deps_.answer(std::move(answer));
    });
  });
}

// The core gets the answers to these items when the remote gave one, or had nothing: local answers
// do not wait for that.
void LookUps::AskRemote(std::vector<LookUpItem> items, LookedUp missed) {
  for (size_t begin = 0; begin < items.size(); begin += kAskedOfRemote) {
    const size_t end = std::min(begin + kAskedOfRemote, items.size());
    std::vector<LookUpItem> part(std::make_move_iterator(items.begin() + static_cast<long>(begin)),
                                 std::make_move_iterator(items.begin() + static_cast<long>(end)));
    LookedUp misses;
    for (const LookUpItem& item : part) {
      for (const LookedUp::Item& one : missed.items) {
        if (one.package == item.package) misses.items.push_back(one);
      }
    }
    const uint64_t number = deps_.sources()->number();
    remote_threads_->Post(
        [this, number, part = std::move(part), misses = std::move(misses)]() mutable {
          if (!remote_look_up_->Bring(part))
            return Answer(number, std::move(part), std::move(misses));
          thread_.Post([this, number, part = std::move(part)]() mutable {
            LookedUp answer = runner_.Run(part);
            Answer(number, std::move(part), std::move(answer));
          });
        });
  }
}

// The core gets this answer when the remote was asked, too; for misses that are left, kept limits
// answer.
void LookUps::Answer(uint64_t world_number, std::vector<LookUpItem> items, LookedUp answer) {
  deps_.limits.Answer(items, deps_.clock.Now(), answer);
  deps_.post([this, world_number, items = std::move(items), answer = std::move(answer)]() mutable {
    if (deps_.sources()->number() != world_number) return Ask(std::move(items));
    deps_.answer(std::move(answer));
  });
}

}  // namespace galley::director
