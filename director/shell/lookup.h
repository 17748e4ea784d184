// LookUpRunner: answers the core's LookUp effects from the journal, or else from the action cache.
//
//   up to date   the journal's record holds (AskJournal): no look-up in the action cache
//   cached       weak key -> observation sets; with present values -> action key -> result
//
// If two sets hit with different outputs, an alarm is raised, and neither result is used.
//
// The simulation runs the same code. Threads: any; Run blocks.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/stored_reads.h"

namespace galley::director {

struct LookUpItem {
  PackageId package;
  std::string name;
  PlatformMask platforms = 0;
  uint64_t generation = 0;
  std::optional<Digest> generated_source;
  RecipesPtr recipes;                 // nullptr: no longer a package
  std::vector<CookedOutputs> cooked;  // by platform index; may be shorter
  bool is_awaited = false;            // as in LookUp::Item
};

// Returns the digest of the package's source. ABORTED: the file has changed.
absl::StatusOr<Digest> SourceOf(const Sources& sources, const LookUpItem& item);

class LookUpRunner {
 public:
  struct Deps {
    PresentSources sources;
    store::Store* store;
    Journal* journal;
    ResultTable* results;
    std::function<void(const std::string&)> alarm;  // for people; any thread
    StoredReads* reads = nullptr;                   // null: no worker fetches ahead
  };
  struct Options {
    std::string trust_domain;
    std::vector<std::string> read_trust;
    bool retry_failed = false;
    uint64_t memory_bytes_default = 0;  // for a job whose rule sets none; 0: no limit
  };
  LookUpRunner(const Deps& deps, Options options)
      : deps_(deps), options_(std::move(options)), is_retried_(options_.retry_failed) {}
  // Replaces Options::retry_failed from now on; any thread.
  void RetryFailed(bool is_retried) { is_retried_ = is_retried; }

  // Returns an answer for each platform of each item, even if the item or platform is gone, because
  // the core counts answers.
  LookedUp Run(const std::vector<LookUpItem>& items) { return Run(items, deps_.sources()); }
  // Run with the files of `sources` instead of the present files.
  LookedUp Run(const std::vector<LookUpItem>& items, const SourcesPtr& sources);

  // The following functions make the questions to an upstream cache about items that Run missed;
  // any thread.
  //
  // Returns the weak keys of `items`, in the order of items, platforms and trust domains.
  std::vector<Digest> WeakKeysOf(const std::vector<LookUpItem>& items);
  // MoreSets: encoded observation sets by weak key, in addition to the sets in our own store.
  using MoreSets = std::map<Digest, std::vector<std::string>>;
  struct Wanted {
    Digest weak_key;
    std::string observation_set;  // encoded
    Digest action_key;
    auto operator<=>(const Wanted&) const = default;
  };
  // Returns the action keys that results would need in order to hold, one for each set whose values
  // are known now.
  std::vector<Wanted> WantedOf(const std::vector<LookUpItem>& items, const MoreSets& more);

 private:
  std::string TooLarge(const Sources& sources, const LookUpItem& item,
                       PlatformIndex platform) const;
  bool IsReadable(const PlatformRecord& record) const;
  bool IsRetried(const Digest& action_key) const;
  struct Question;  // an item and platform to look up in the action cache
  std::optional<LookedUp::Item> FromJournal(const Sources& sources, const LookUpItem& item,
                                            PlatformIndex platform, const PackageRecord& record);
  std::vector<Question> QuestionsOf(const LookUpItem& item, PlatformIndex platform,
                                    const Digest& source) const;
  std::vector<Question> QuestionsOf(const Sources& sources,
                                    const std::vector<LookUpItem>& items) const;
  void FindCandidates(const Sources& sources, const MoreSets& more,
                      std::vector<Question>& questions);
  void FromCache(const Sources& sources, std::vector<Question>& questions, LookedUp& answer);
  void Evaluate(const Sources& sources, Question& question);

  Deps deps_;
  Options options_;
  std::atomic<bool> is_retried_;
};

}  // namespace galley::director
