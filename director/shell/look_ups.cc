#include "director/shell/look_ups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "common/base/give_back_memory.h"
#include "common/base/sort_unique.h"

namespace galley::director {
namespace {

constexpr size_t kRemoteThreads = 4;  // of each lane
// Few packages at a time, so that a large package holds up few others.
constexpr size_t kAskedOfRemote = 16;

// Takes the misses out of `answer`, and leaves in `items` only the items that missed, with their
// platforms.
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
      runner_({.sources = [this] { return Stoppable(deps_.sources()); },
               .store = &deps_.store,
               .journal = &deps_.journal,
               .results = &deps_.results,
               .alarm = deps_.alarm,
               .reads = deps_.reads},
              std::move(options)),
      for_cooks_(cancellation_, deps_.remote == nullptr ? 0 : kRemoteThreads),
      awaited_(cancellation_, deps_.remote == nullptr ? 0 : kRemoteThreads) {
  if (deps_.remote == nullptr) return;
  remote_look_up_.emplace(RemoteLookUp::Deps{.look_ups = &runner_,
                                             .store = &deps_.store,
                                             .remote = deps_.remote,
                                             .cancellation = &cancellation_});
}

LookUps::Lane::Lane(const Cancellation& stop, size_t remote_threads) : hashing(stop) {
  if (remote_threads > 0) remote.emplace(remote_threads);
}

void LookUps::GiveBackMemory() {
  for_cooks_.thread.Post(galley::GiveBackMemory);
  awaited_.thread.Post(galley::GiveBackMemory);
}

void LookUps::Ask(std::vector<LookUpItem> items) {
  const auto rest = std::stable_partition(items.begin(), items.end(),
                                          [](const LookUpItem& item) { return item.is_awaited; });
  std::vector<LookUpItem> of_cooks(std::make_move_iterator(rest),
                                   std::make_move_iterator(items.end()));
  items.erase(rest, items.end());
  PostItems(std::move(items));
  PostItems(std::move(of_cooks));
}

// REQUIRES: all items are of one kind.
LookUps::Lane& LookUps::LaneOf(const std::vector<LookUpItem>& items) {
  return items.front().is_awaited ? awaited_ : for_cooks_;
}

void LookUps::PostItems(std::vector<LookUpItem> items) {
  if (items.empty()) return;
  Lane& lane = LaneOf(items);
  lane.thread.Post([this, &lane, items = std::move(items)]() mutable {
    AnswerItems(lane, std::move(items), {});
  });
}

// Hashes files of any size, and stops when nobody waits any more.
SourcesPtr LookUps::Stoppable(SourcesPtr sources) const {
  return std::make_shared<QuickSources>(QuickSources::Options{
      .sources = std::move(sources), .stop = cancellation_, .hashed_max = UINT64_MAX});
}

// Runs on the lane's thread of our own store.
void LookUps::AnswerItems(Lane& lane, std::vector<LookUpItem> items, const FailedHashes& failed) {
  if (cancellation_.is_cancelled()) return;
  const SourcesPtr sources = deps_.sources();
  std::vector<Waiting> waiting;
  LookedUp answer = RunQuickly(items, sources, failed, waiting);
  for (Waiting& one : waiting) AwaitFiles(lane, sources, std::move(one), failed);
  if (!items.empty()) TakeAnswer(sources->number(), std::move(items), std::move(answer));
}

// Returns the answers to `items`. Items that need the digests of large files go to `waiting`
// instead.
LookedUp LookUps::RunQuickly(std::vector<LookUpItem>& items, const SourcesPtr& sources,
                             const FailedHashes& failed, std::vector<Waiting>& waiting) {
  const auto run = [&](const std::vector<LookUpItem>& asked, std::vector<std::string>& wanted) {
    const auto quick = std::make_shared<QuickSources>(
        QuickSources::Options{.sources = sources, .stop = cancellation_, .failed = failed});
    LookedUp answer = runner_.Run(asked, quick);
    wanted = quick->wanted();
    return answer;
  };
  std::vector<std::string> wanted;
  LookedUp all = run(items, wanted);
  if (wanted.empty()) return all;
  // Some items wait: asking each item alone shows which.
  LookedUp answer;
  std::vector<LookUpItem> answered;
  for (LookUpItem& item : items) {
    LookedUp one = run({item}, wanted);
    if (!wanted.empty()) {
      waiting.push_back({std::move(item), std::move(wanted)});
      continue;
    }
    std::move(one.items.begin(), one.items.end(), std::back_inserter(answer.items));
    answered.push_back(std::move(item));
  }
  items = std::move(answered);
  return answer;
}

void LookUps::AwaitFiles(Lane& lane, const SourcesPtr& sources, Waiting waiting,
                         const FailedHashes& failed) {
  SortUnique(waiting.files);
  lane.hashing.Hash(sources, std::move(waiting.files),
                    [this, &lane, item = std::move(waiting.item), failed](FailedHashes more) {
                      more.insert(failed.begin(), failed.end());
                      lane.thread.Post([this, &lane, item, more = std::move(more)] {
                        AnswerItems(lane, {item}, more);
                      });
                    });
}

void LookUps::TakeAnswer(uint64_t world_number, std::vector<LookUpItem> items, LookedUp answer) {
  std::vector<LookUpItem> asked = items;
  LookedUp missed;
  if (remote_look_up_) {
    missed = TakeMisses(answer, asked);
  } else {
    deps_.limits.Answer(items, deps_.clock.Now(), answer);
  }
  deps_.post([this, world_number, items = std::move(items), asked = std::move(asked),
              answer = std::move(answer), missed = std::move(missed)]() mutable {
    // Answers that a new snapshot overtook are dropped: the questions are asked again.
    if (deps_.sources()->number() != world_number) return Ask(std::move(items));
    if (!missed.items.empty()) AskRemote(std::move(asked), std::move(missed));
    deps_.answer(std::move(answer));
  });
}

// Gives the core the answers to these items when the remote has answered; local answers do not wait
// for the remote.
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
    Lane& lane = LaneOf(part);
    lane.remote->Post(
        [this, &lane, number, part = std::move(part), misses = std::move(misses)]() mutable {
          if (!remote_look_up_->Bring(part))
            return Answer(number, std::move(part), std::move(misses));
          lane.thread.Post([this, number, part = std::move(part)]() mutable {
            LookedUp answer = runner_.Run(part);
            Answer(number, std::move(part), std::move(answer));
          });
        });
  }
}

// Gives the core an answer for which the remote was asked as well; kept limits answer the misses
// that are left.
void LookUps::Answer(uint64_t world_number, std::vector<LookUpItem> items, LookedUp answer) {
  deps_.limits.Answer(items, deps_.clock.Now(), answer);
  deps_.post([this, world_number, items = std::move(items), answer = std::move(answer)]() mutable {
    if (deps_.sources()->number() != world_number) return Ask(std::move(items));
    deps_.answer(std::move(answer));
  });
}

}  // namespace galley::director
