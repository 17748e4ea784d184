// Roots: builds, publishes and stages roots from the results of cooks, and finds lost blobs of
// results. Roots tells the core the outcome (RootBuilt, RootPublished, RootsStaged, LostFound).
//
//   Build     puts the Directories into the store, after all commits that were posted before.
//             Commits that are posted later do not wait for a whole root: it is built beside them.
//             A root that equals the newest published one is believed to have lost nothing if it is
//             the newest before and after it was built; otherwise the store is asked for all files
//   Publish   makes the root the platform's last root, and records it in the journal. A root
//             without files is never published, because it would replace the last good tree. A root
//             of an older world than the platform's latest root is published as one of a narrow
//             cook, so that it does not become the latest
//   Stage     stages the roots on the thread that asked for the cook
//
// The world of all three is the one that was present at the first Build of a judgement
// (JudgedWorld).
//
// Threads: the loop's. The thread of the commits publishes, looks and writes to the journal, in
// order with the commits, and builds roots of differences, which read the cook's order; the thread
// of the roots builds whole ones; the thread that asked for the cook stages.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/active_cooks.h"
#include "director/shell/commits.h"
#include "director/shell/difference_root.h"
#include "director/shell/inbox.h"
#include "director/shell/published_keys.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/tasks.h"
#include "director/shell/world.h"
#include "director/shell/world_order.h"

namespace galley::director {

class Roots {
 public:
  struct Options {
    std::string project_id;
    uint32_t keep_roots = 0;  // PublishedRoot::keep_roots
  };
  // Everything in Deps outlives Roots.
  struct Deps {
    store::Store& store;
    Journal& journal;
    ResultTable& results;
    Clock& clock;
    Tasks& tasks;       // the tasks of the commits
    Tasks& root_tasks;  // run beside the commits; may post tasks of the commits
    Inbox& inbox;
    Commits& commits;
    ActiveCooks& cooks;
    // Returns the present world.
    std::function<WorldPtr()> world;
    PresentSources sources;
  };
  Roots(Options options, const Deps& deps) : options_(std::move(options)), deps_(deps) {}

  void Build(const BuildRoot& effect);
  void Publish(const PublishRoot& effect);
  void Stage(const StageRoots& effect);
  // Looks for lost blobs, after all commits that were posted before.
  void LookForLostBlobs(const LookForLost& effect);

 private:
  const JudgedWorld& JudgedOf(ActiveCook& cook, const BuildRoot& effect) const;
  StoredResultsPtr Hold(const std::vector<std::pair<PackageId, ResultId>>& packages) const;
  void PostWhole(const SourcesPtr& sources, const BuildRoot& effect,
                 const std::optional<Digest>& whole, const StoredResultsPtr& results);
  void BuildWhole(const SourcesPtr& sources, const BuildRoot& effect,
                  const std::optional<Digest>& whole, const StoredResultsPtr& results);
  void DistrustAndTell(RootBuilt built, const BuildRoot& effect);
  void TellBuilt(RootBuilt built, const std::vector<std::string>& distrusted);
  void BuildOfDifference(const ActiveCook& cook, const BuildRoot& effect, StoredResultsPtr results,
                         const std::string& platform);
  void TakeOfDifference(DifferenceRoot made);
  void TakeTooNarrow(RootBuilt wider);
  void CountLost(const std::vector<RootBuilt::Lost>& lost,
                 const std::vector<std::string>& packages);
  std::optional<Digest> WholeRoot(const std::string& platform);
  std::optional<uint64_t> PublishedAlready(const std::string& platform, const PublishRoot& effect);
  std::string PublishAndRecord(const std::string& platform, const PublishRoot& effect,
                               const RootContent& content);
  void LookAndDistrust(const LookForLost& effect);

  const Options options_;
  const Deps deps_;
  WorldOrder published_;  // roots by the book, by platform
};

}  // namespace galley::director
