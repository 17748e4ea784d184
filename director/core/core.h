// Core: the implementation of CookCore. Core has the layers of parts, and the order of a step.
// A part with a file of its own has each family of events and decisions.
//
// A part calls the parts that it was given, which lie below it. Where a part above must act, the
// part leaves a note (notes.h), and Core hands the note on.
// Threads: none.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "director/core/catalog.h"
#include "director/core/cooks/cook_layer.h"
#include "director/core/core_figures.h"
#include "director/core/core_options.h"
#include "director/core/effects.h"
#include "director/core/events.h"
#include "director/core/workers/report_layer.h"

namespace galley::director {

struct Core {
  Core(const CookOptions& options, std::shared_ptr<const Catalog> catalog)
      : packages(options, std::move(catalog)) {}

  void Step(absl::Time time, const Event& event, std::vector<Effect>& effects);
  bool HasAgenda() const;
  bool HasJobs() const;
  Progress ViewProgress(const Claimant& cook) const;
  CoreFigures ViewFigures();
  void CheckInvariants() const;

  PackageLayer packages;
  JobLayer jobs{packages};
  WorkerLayer workers{jobs};
  ReportLayer reports{workers};
  CookLayer cooks{workers};

 private:
  void Apply(const Event& event);
  void EndAll(const std::string& infrastructure_error);
  void HandOnNotes();
  void RunAgenda(size_t units);  // `units`: done by the step before
  size_t RunNext();              // returns units
};

}  // namespace galley::director
