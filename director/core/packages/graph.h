// Graph: the packages that some cook wants, and what is known of them together: why they are
// wanted, their order, their queues, failures, and changes of the project. The graph begins anew
// when no cook is left that wants any package.
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
  uint64_t rounds() const { return rounds_; }  // how often the graph began anew

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

  // Puts an item on the agenda, by the package's urgency. The item counts for the cooks that want
  // the package.
  void Push(const AgendaItem& item);
  // REQUIRES: the agenda is not empty.
  AgendaItem Pop();
  void ClearAgenda();
  void RemapAgenda(const PlatformMap& map);
  // Explores the package by the present files when its turn comes, if any result of it is known.
  void PushExploreAnew(PackageId package);

  // Makes the reason bind ranks.
  void BindRanks(PackageId dependent, PackageId dependency, InstigatorCategory category);
  void PlaceInRanks(PackageId dependent, const std::vector<PackageId>& dependencies,
                    bool are_cooked_inputs);
  // Ranks all packages in one pass when so many edges were put aside that the edges justify its
  // cost.
  void RankAnewIfDue();

  // The package failed since nothing has the name of its generator; the package may be tried again.
  void NoteNoGenerator(PackageId package);
  void ForgetNoGenerator(PackageId package);
  // Visits the package, and all packages whose cooks read its output, or wait for its list, or for
  // its file to come. Packages in `done` are passed over; `done` grows.
  void ForEachWithReaders(PackageId package, absl::btree_set<PackageId>& done,
                          absl::FunctionRef<void(PackageId)> visit) const;

 private:
  struct Round {
    Round(const CookOptions& options, const StepContext& step, PackageTable& packages,
          const Claimants& claimants);

    Edges edges;
    Ranks ranks;
    Lifecycle lifecycle;
    Agenda agenda;
    Blame blame;
    PendingChanges pending_changes;
    // Packages that failed since nothing has the name of their generator, by that name's package.
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
