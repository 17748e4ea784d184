// Part: what each part of the core can reach.
//
// A part owns what its name says. All that parts share is in Core; the packages that cooks want are
// in Graph.
// Threads: none.
#pragma once

#include <string>
#include <utility>

#include "director/core/claimants.h"
#include "director/core/core_counts.h"
#include "director/core/graph.h"
#include "director/core/package_data.h"
#include "director/core/today.h"
#include "director/core/turn.h"
#include "director/core/worker_table.h"

namespace galley::director {

struct Core;
struct CookOptions;

class Part {
 public:
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 protected:
  explicit Part(Core& core);

  Lifecycle& lifecycle() const { return graph_.lifecycle(); }
  Desire& DesireFor(WorkerId worker) const { return turn_.DesireFor(worker); }
  template <typename T>
  void Note(T notice, CookMask cooks) const {
    turn_.notices.push_back({std::move(notice), cooks});
  }
  const std::string& NameOf(PackageId package) const { return packages_[package].name; }

  Core& core_;
  const CookOptions& options_;
  Today& today_;
  PackageTable& packages_;
  Graph& graph_;
  Claimants& claimants_;
  CoreCounts& counts_;
  Notes& notes_;
  WorkerTable& workers_;
  Turn& turn_;
};

}  // namespace galley::director
