// JobBuilder: builds complete look-up questions, jobs and attempt records from the core's effects,
// which hold only ids.
//
// Threads: the core's. A new JobBuilder is made for each batch of effects, because it holds one
// state of the project.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "director/core/cook_core.h"
#include "director/core/effects.h"
#include "director/journal/journal.h"
#include "director/shell/lookup.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/stored_reads.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

// BuiltJob: an attempt as it is handed over.
struct BuiltJob {
  v1::Job job;
  std::shared_ptr<const AttemptInfo> info;  // for the ReportReader
  // For the journal. nullopt: the package is gone, so no director could go on with the attempt.
  std::optional<AttemptRecord> record;
};

class JobBuilder {
 public:
  struct Deps {
    const CookCore* core;
    const ResultTable* results;
    const ReportReader* reports;  // finds blobs that the store does not know yet
    store::Store* store;
    Journal* journal;  // has the reads of the last cooks
    SourcesPtr sources;
    const StoredReads* reads = nullptr;  // reads that look-ups found; null: only the journal's
  };
  explicit JobBuilder(Deps deps) : deps_(std::move(deps)) {}

  LookUpItem ItemOf(const LookUp::Item& item) const;
  // Builds a job, even if a blob is not found: then the worker reports that it cannot read the
  // blob, and the blob's package is cooked again. `has_files`: the worker reads the project's files
  // itself. Blocks: asks the store once, or, for a worker without files, the journal if `reads`
  // lacks the package.
  BuiltJob Build(const Desire::Start& start, const std::string& worker, bool has_files) const;
  // Returns the attempt of an earlier director with the present recipes and platforms; nullptr: its
  // recipes or platforms have changed.
  std::shared_ptr<const AttemptInfo> InfoOf(const AttemptRecord& given) const;

 private:
  std::vector<CookedOutputs> CookedOf(const std::vector<CookedResult>& cooked) const;
  RecipesPtr RecipesOf(const std::string& name, const record::Generated* generated) const;
  void AddTargets(const AttemptInfo& info, BuiltJob& built) const;
  void AddBlobs(const std::vector<Digest>& digests, v1::Job& job) const;
  PackageRecord LastReadBy(const AttemptInfo& info) const;
  void AddReads(const AttemptInfo& info, v1::Job& job) const;

  const Deps deps_;
};

}  // namespace galley::director
