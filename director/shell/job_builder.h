// JobBuilder: says in full what the core's effects name by ids: the questions of look-ups, the jobs
// of workers and what is remembered of them.
//
// Threads: that of the core. Made anew for each batch of effects: it holds one state of the
// project.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "director/core/cook_core.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/lookup.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/stored_reads.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

// An attempt as it is handed over.
struct BuiltJob {
  v1::Job job;
  std::shared_ptr<const AttemptInfo> info;  // for the ReportReader
  // For the journal. nullopt: it is no package any more, and nobody could go on with it.
  std::optional<AttemptRecord> record;
};

class JobBuilder {
 public:
  struct Deps {
    const CookCore* core;
    const ResultTable* results;
    const ReportReader* reports;  // where blobs lie that the store does not know yet
    store::Store* store;
    Journal* journal;  // what the last cooks read
    SourcesPtr sources;
    const StoredReads* reads = nullptr;  // as look-ups have told
  };
  explicit JobBuilder(Deps deps) : deps_(std::move(deps)) {}

  LookUpItem ItemOf(const LookUp::Item& item) const;
  // A job that lacks the place of a blob is built all the same: its worker says that it cannot read
  // the blob, and the blob's producer is cooked again.
  // Blocking: the store is asked once, or the journal, for a worker without files of whose package
  // no look-up has told.
  // `has_files`: the worker reads files in their places.
  BuiltJob Build(const Desire::Start& start, const std::string& worker, bool has_files) const;
  // The attempt of an earlier director, as it would be given today; nullptr: its recipes or
  // platforms are others now.
  std::shared_ptr<const AttemptInfo> InfoOf(const AttemptRecord& given) const;

 private:
  std::vector<CookedOutputs> CookedOf(const std::vector<CookedResult>& cooked) const;
  void AddTargets(const AttemptInfo& info, BuiltJob& built) const;
  void AddBlobs(const std::vector<Digest>& digests, v1::Job& job) const;
  PackageRecord LastReadBy(const AttemptInfo& info) const;
  void AddReads(const AttemptInfo& info, v1::Job& job) const;

  const Deps deps_;
};

}  // namespace galley::director
