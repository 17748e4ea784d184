// AheadPlan: which packages idle workers cook ahead of need, in which order: what devices are
// likely to ask for next.
//
//   1  references of what was asked for, those of the newest ask first; of one ask all direct
//      references before their references, down to depth_max
//   2  what was asked for, on other platforms
//   3  what a change made stale: first what a device has asked for, then other packages that were
//      cooked
//
//   Ask          /Game/town.level was asked for on pc, and refers to a.png and b.png
//   TakeNext     a.png on pc; it is open from now on
//   Succeed      a.png is cooked: what it refers to comes after b.png
//
// A package and platform is a candidate once, however many refer to it; the best of its ranks
// counts. A candidate that is known to be cooked when its turn comes is not returned: what it
// refers to is, in its place. A package that failed is not tried again until it changes.
//
// When there are too many candidates, the last of the order goes. When too much is remembered (what
// failed, what was asked for, whose references were taken), the memory begins anew, which costs
// time and never a result.
//
// Cost: O(log n) for each candidate, and some 300 bytes.
// Threads: none. Equal calls give equal candidates.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace galley::devices {

struct AheadKey {
  std::string package;
  std::string platform;
  auto operator<=>(const AheadKey&) const = default;
};

struct AheadPlanOptions {
  size_t candidates_max = 100'000;
  size_t remembered_max = 100'000;  // of each kind of memory
  int depth_max = 3;                // 1: direct references alone
  size_t judged_max = 256;          // by one TakeNext
};

class AheadPlan {
 public:
  explicit AheadPlan(AheadPlanOptions options) : options_(options) {}

  // Asked: a package that a device has asked for and that is cooked.
  struct Asked {
    AheadKey key;
    std::vector<std::string> references;  // packages
    std::vector<std::string> platforms;   // of the project
  };
  // The package is no candidate any more, also where it is open.
  void Ask(const Asked& asked);
  // True: Ask would change nothing, because the same was asked before.
  bool IsIdleFor(const AheadKey& key) const;
  // A change made the results of these packages stale.
  void AddStale(const std::vector<AheadKey>& keys);

  // Judgement: what is known of a candidate in the present world.
  struct Judgement {
    enum class Kind : uint8_t {
      kCook,   // it is to be cooked
      kKnown,  // it is cooked, and refers to `references`
      kDrop,   // nobody can cook it, or nobody wants it
    };
    Kind kind = Kind::kDrop;
    std::vector<std::string> references = {};
  };
  using Judge = std::function<Judgement(const AheadKey& key)>;
  // Returns the best candidate that is to be cooked, which is open until Succeed, Fail, PutBack,
  // Drop or Ask. nullopt: there is none, or judged_max candidates were looked at (has_waiting says
  // which). `judge` must not call this object.
  std::optional<AheadKey> TakeNext(const Judge& judge);
  // An open candidate is cooked. Does nothing if it is not open.
  void Succeed(const AheadKey& key, const std::vector<std::string>& references);
  // An open candidate fails.
  void Fail(const AheadKey& key);
  // An open candidate is to be tried again.
  void PutBack(const AheadKey& key);
  // Takes a candidate out, open or not.
  void Drop(const AheadKey& key);

  // Notes that these packages are made of something else now: failures are forgotten, references
  // are taken again, and candidates stay.
  void Change(std::span<const std::string> packages);
  // Notes that all packages are: what devices have asked for is stale.
  void ChangeAll();

  bool has_waiting() const { return !waiting_.empty(); }
  size_t waiting() const { return waiting_.size(); }
  size_t open() const { return candidates_.size() - waiting_.size(); }

 private:
  enum class Kind : uint8_t { kReference, kPlatform, kStaleAsked, kStale };
  // Rank: the least comes first.
  struct Rank {
    Kind kind = Kind::kStale;
    uint64_t age = 0;  // falls with each ask and each change
    int depth = 0;     // of a reference; 1: direct
    uint64_t order = 0;
    auto operator<=>(const Rank&) const = default;
  };
  struct Candidate {
    Rank rank;
    bool is_open = false;
  };
  using Candidates = std::map<AheadKey, Candidate>;

  Rank RankOf(Kind kind, uint64_t age, int depth) { return {kind, age, depth, ++last_order_}; }
  void Add(const AheadKey& key, const Rank& rank);
  void Hasten(const AheadKey& key, const Rank& rank);
  void SetRank(Candidates::iterator at, const Rank& rank);
  void Shrink();
  // False: the references were taken already, at this depth or above.
  bool NoteExpanded(const AheadKey& key, int depth);
  void Expand(const AheadKey& key, const Rank& rank, const std::vector<std::string>& references);
  // Takes an open candidate out. nullopt: it is not open.
  std::optional<Rank> TakeOpen(const AheadKey& key);

  const AheadPlanOptions options_;
  Candidates candidates_;                    // nodes never move
  std::map<Rank, const AheadKey*> waiting_;  // those that are not open; keys of candidates_
  std::map<AheadKey, int> expanded_;         // whose references were taken, with the least depth
  std::set<AheadKey> failed_;                // since they changed last
  std::set<AheadKey> asked_;                 // by devices
  uint64_t age_ = UINT64_MAX;
  uint64_t last_order_ = 0;
};

}  // namespace galley::devices
