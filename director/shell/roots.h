// Roots: makes published and staged roots from the results of cooks, and finds what the store lost
// of them. Roots tells the core the outcome (RootBuilt, RootPublished, RootsStaged, LostFound).
//
//   Build     the Directories go into the store, after the commits that are asked for by then
//   Publish   the root becomes the platform's last root, and the journal learns of it. A root
//             without a file is never published: whoever reads there would lose all that was good
//   Stage     the thread that asked for the cook stages the roots
//
// Threads: the loop's. The thread of the commits builds, publishes and looks, in order with the
// commits; the thread that asked for the cook stages.
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
    Tasks& tasks;  // the tasks of the commits
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
  // Looks for lost blobs after the commits that are posted already.
  void LookForLostBlobs(const LookForLost& effect);

 private:
  HeldResults Hold(const std::vector<std::pair<PackageId, ResultId>>& packages) const;
  void BuildWhole(const Sources& sources, const BuildRoot& effect, const std::string& platform);
  void BuildOfDifference(const ActiveCook& cook, const BuildRoot& effect, HeldResults results,
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
};

}  // namespace galley::director
