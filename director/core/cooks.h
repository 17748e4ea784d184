// Cooks: which cook runs, and which wait for their turn.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "director/core/claimants.h"
#include "director/core/cook.h"
#include "director/core/graph.h"
#include "director/core/part.h"

namespace galley::director {

class Cooks : Part, public Claimants {
 public:
  explicit Cooks(Core& core);

  void OnCookRequested(const CookRequested& event);
  void OnCancelRequested();
  void OnDirectorUnfit(const DirectorUnfit& event);
  // At the end of a step: a cook that is done is settled or ended, and the next one begins.
  void GoOn();
  bool HasAgenda() const;

  // Claimants:
  void ForEach(PackageId package, absl::FunctionRef<void(const Claimant&)> visit) const override;

  // The one that runs, or the last one while none does.
  Cook& current() const { return *current_; }
  // The packages that it wants.
  Graph& graph() const { return *graph_; }
  std::deque<CookRequested>& waiting() { return waiting_; }
  uint64_t begun() const { return begun_; }

 private:
  void BeginNext();

  std::unique_ptr<Cook> current_;
  std::unique_ptr<Graph> graph_;
  std::deque<CookRequested> waiting_;
  uint64_t begun_ = 0;
};

}  // namespace galley::director
