// DirectorShell's look-ups: the questions, and answers that a new snapshot overtook.

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "director/shell/director_shell.h"

namespace galley::director {

void DirectorShell::Do(const LookUp& effect) {
  const JobBuilder builder = Builder();
  std::vector<LookUpItem> items;
  for (const LookUp::Item& item : effect.items) items.push_back(builder.ItemOf(item));
  RunLookUps(std::move(items));
}

namespace {

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

void DirectorShell::RunLookUps(std::vector<LookUpItem> items) {
  look_up_thread_.Post([this, items = std::move(items)]() mutable {
    const uint64_t number = world_.Get()->number;
    LookedUp answer = look_ups_.Run(items);
    std::vector<LookUpItem> asked = items;
    LookedUp missed;
    if (remote_look_up_) {
      missed = TakeMisses(answer, asked);
    } else {
      limit_answers_.Answer(items, clock_.Now(), answer);
    }
    Post(Internal([this, number, items = std::move(items), asked = std::move(asked),
                   answer = std::move(answer), missed = std::move(missed)]() mutable {
      // An answer that a new snapshot overtook is not given: the question is asked again.
      if (world_.Get()->number != number) return RunLookUps(std::move(items));
      if (!missed.items.empty()) AskRemote(std::move(asked), std::move(missed));
      StepCore(std::move(answer));
    }));
  });
}

// The core gets the answers to these items when the remote gave one, or had nothing: local answers
// do not wait for that.
void DirectorShell::AskRemote(std::vector<LookUpItem> items, LookedUp missed) {
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
    const uint64_t number = world_.Get()->number;
    remote_threads_->Post(
        [this, number, part = std::move(part), misses = std::move(misses)]() mutable {
          if (!remote_look_up_->Bring(part))
            return AnswerLookUp(number, std::move(part), std::move(misses));
          look_up_thread_.Post([this, number, part = std::move(part)]() mutable {
            LookedUp answer = look_ups_.Run(part);
            AnswerLookUp(number, std::move(part), std::move(answer));
          });
        });
  }
}

// The core gets this answer when the remote was asked, too; for misses that are left, kept limits
// answer.
void DirectorShell::AnswerLookUp(uint64_t world_number, std::vector<LookUpItem> items,
                                 LookedUp answer) {
  limit_answers_.Answer(items, clock_.Now(), answer);
  Post(Internal(
      [this, world_number, items = std::move(items), answer = std::move(answer)]() mutable {
        if (world_.Get()->number != world_number) return RunLookUps(std::move(items));
        StepCore(std::move(answer));
      }));
}

}  // namespace galley::director
