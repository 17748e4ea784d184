// Streams: sends messages to workers for the core's Desire effects: complete jobs, retractions,
// acknowledgements and questions. It notes each job that is given.
//
// Threads: the loop's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "director/core/cook_core.h"
#include "director/core/effects.h"
#include "director/journal/journal.h"
#include "director/shell/job_builder.h"
#include "director/shell/lookup.h"
#include "director/shell/progress_notes.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/stored_reads.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class Streams {
 public:
  // Given: a job that is about to be sent.
  struct Given {
    const Desire::Start& start;
    const std::string& worker;
    const AttemptInfo& info;
    bool has_files = true;  // the worker reads the project's files itself
    v1::Job& job;           // the message to send; the simulation changes it
  };
  // Everything in Deps outlives Streams.
  struct Deps {
    const CookCore& core;
    const ResultTable& results;
    ReportReader& reports;
    store::Store& store;
    Journal& journal;
    PresentSources sources;
    const StoredReads* reads = nullptr;  // reads that look-ups found; null: only the journal's
    ProgressNotes& notes;
    std::function<std::string(WorkerId worker)> name_of;
    std::function<bool(const std::string& worker)> has_files;
    std::function<void(const Given& given)> note_given;
    std::function<void(const std::string& worker, v1::ToWorker message)> send;
  };
  explicit Streams(Deps deps) : deps_(std::move(deps)) {}

  void TellWorker(const Desire& effect);
  // Returns the complete questions of the effect.
  std::vector<LookUpItem> LookUpItemsOf(const LookUp& effect) const;
  // Returns a builder for the present state of the project.
  JobBuilder Builder() const;

 private:
  void GiveJob(const JobBuilder& builder, const Desire::Start& start, const std::string& worker,
               v1::ToWorker& message);

  const Deps deps_;
};

}  // namespace galley::director
