// Graph: the state of all packages that some cook wants: their edges, ranks, states and queues, the
// agenda, faults, and pending changes. The graph begins anew with a cook that begins while no other
// cook runs.
// Threads: none; owned by its layer.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "director/core/core_options.h"
#include "director/core/packages/agenda.h"
#include "director/core/packages/blame.h"
#include "director/core/packages/claimants.h"
#include "director/core/packages/edges.h"
#include "director/core/packages/lifecycle.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/pending_changes.h"
#include "director/core/packages/ranks.h"
#include "director/core/packages/step_context.h"

namespace galley::director {

class Graph {
 public:
  Graph(const CookOptions& options, const StepContext& step, PackageTable& packages,
        const Claimants& claimants);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Forgets all packages. REQUIRES: no package is in the works.
  void BeginAnew();
  // Forgets the packages for which `is_kept` is false, by package, with their edges, and all
  // references of the others, which are explored again when a cook joins. REQUIRES: what Forget of
  // PackageTable requires holds for each of them; no cook runs. O(packages + edges).
  void ForgetUnless(const std::vector<bool>& is_kept);
  uint64_t rounds() const { return rounds_; }  // how often the graph began anew, or forgot packages

  Edges& edges() { return round_->edges; }
  const Edges& edges() const { return round_->edges; }
  Ranks& ranks() { return round_->ranks; }
  Lifecycle& lifecycle() { return round_->lifecycle; }
  const Lifecycle& lifecycle() const { return round_->lifecycle; }
  const PackageQueues& queues() const { return round_->lifecycle.queues(); }
  const Agenda& agenda() const { return round_->agenda; }
  Blame& blame() { return round_->blame; }
  const Blame& blame() const { return round_->blame; }
  PendingChanges& pending_changes() { return round_->pending_changes; }
  const PendingChanges& pending_changes() const { return round_->pending_changes; }

  PackageId FindOrAdd(std::string_view name);

  // Puts an item on the agenda, with the package's urgency. The cooks that want the package wait
  // for the item.
  void Push(const AgendaItem& item);
  // REQUIRES: the agenda is not empty.
  AgendaItem Pop();
  void ClearAgenda();
  void RemapAgenda(const PlatformMap& map);
  // Puts a kExplore item on the agenda, if a result of the package is known: its references are
  // followed again, by the present catalog.
  void PushExploreAnew(PackageId package);

  // Adds the reason, or finds it, and makes it bind ranks.
  void BindRanks(PackageId dependent, PackageId dependency, InstigatorCategory category);
  void PlaceInRanks(PackageId dependent, const std::vector<PackageId>& dependencies,
                    bool are_cooked_inputs);
  // Ranks all packages in one pass (Ranks::BulkRank) when it is due and some queue needs the ranks.
  void RankAnewIfDue();

  // NoteNoGenerator: the package failed because its generator does not exist. It begins again when
  // the generator does (ForEachWithReaders). ForgetNoGenerator: the package begins again.
  void NoteNoGenerator(PackageId package);
  void ForgetNoGenerator(PackageId package);
  // visit(PackageId) for each package of NoteNoGenerator, and for the generator.
  template <typename Visit>
  void ForEachWithoutGenerator(Visit visit) const {
    for (const auto& [generator, packages] : round_->without_generator) {
      visit(generator);
      for (const PackageId package : packages) visit(package);
    }
  }
  // Visits the package, and all packages whose cooks read its output, or wait for its list or for
  // its file. Skips packages in `done`, and adds the visited packages to `done`.
  void ForEachWithReaders(PackageId package, absl::btree_set<PackageId>& done,
                          absl::FunctionRef<void(PackageId)> visit) const;

 private:
  void RankAnew();

  struct Round {
    Round(const CookOptions& options, const StepContext& step, PackageTable& packages,
          const Claimants& claimants);

    Edges edges;
    Ranks ranks;
    Lifecycle lifecycle;
    Agenda agenda;
    Blame blame;
    PendingChanges pending_changes;
    // NoteNoGenerator: the packages that failed, by their missing generator.
    absl::btree_map<PackageId, absl::btree_set<PackageId>> without_generator;
  };

  const CookOptions& options_;
  const StepContext& step_;
  PackageTable& packages_;
  const Claimants& claimants_;
  uint64_t rounds_ = 0;
  std::unique_ptr<Round> round_;
};

}  // namespace galley::director
