// LookUpRunner: answers the core's LookUp effects: first from the journal (the difference), else
// from the action cache.
//
//   up to date   the journal's record is trusted, the recipe is the same, and what the difference
//   does not cover (platform parameters,
//                tools, environment, cooked inputs, a generated source) has its old value: no
//                look-up at all
//   cached       weak key -> observation sets; today's values; action key -> result
//
// Two sets that hit with different outputs raise an alarm and neither is used.
// Threads: Run on one thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/observer.h"
#include "director/shell/result_table.h"
#include "director/shell/world.h"

namespace galley::director {

struct LookUpItem {
  PackageId package;
  std::string name;
  PlatformMask platforms = 0;
  uint64_t generation = 0;
  std::optional<Digest> generated_source;
  RecipesPtr recipes;
  std::vector<CookedOutputs> cooked;  // by platform index; may be shorter
};

class LookUpRunner {
 public:
  struct Deps {
    WorldHolder* world;
    store::Store* store;
    Journal* journal;
    ToolDigests* tools;
    ResultTable* results;
    std::function<void(const std::string&)> alarm;  // for people; any thread
  };
  struct Options {
    std::string trust_domain;
    std::vector<std::string> read_trust;
    bool retry_failed = false;
  };
  LookUpRunner(const Deps& deps, Options options) : deps_(deps), options_(std::move(options)) {}

  LookedUp Run(const std::vector<LookUpItem>& items);

 private:
  bool IsReadable(const PlatformRecord& record) const;
  struct Question;  // one (item, platform) that goes to the action cache
  std::optional<LookedUp::Item> FromJournal(const World& world, const LookUpItem& item,
                                            PlatformIndex platform, const PackageRecord& record);
  void FromCache(const World& world, std::vector<Question>& questions, LookedUp& answer);
  void Evaluate(const World& world, Question& question);

  Deps deps_;
  Options options_;
};

}  // namespace galley::director
