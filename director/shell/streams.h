// Streams: writes what the core desires of each worker as messages: jobs in full, and what is taken
// back, acknowledged or asked for. Streams notes each job that is handed over, because
// somebody may ask.
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
  // Given: a job that is about to be handed over.
  struct Given {
    const Desire::Start& start;
    const std::string& worker;
    const AttemptInfo& info;
    bool has_files = true;  // the worker reads files in their places
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
    const StoredReads* reads = nullptr;  // what look-ups learned; null: the journal is asked
    ProgressNotes& notes;
    std::function<std::string(WorkerId worker)> name_of;
    std::function<bool(const std::string& worker)> has_files;
    std::function<void(const Given& given)> note_given;
    std::function<void(const std::string& worker, v1::ToWorker message)> send;
  };
  explicit Streams(Deps deps) : deps_(std::move(deps)) {}

  void TellWorker(const Desire& effect);
  // Returns the questions of the effect, in full.
  std::vector<LookUpItem> LookUpItemsOf(const LookUp& effect) const;
  // Returns a builder for the present state of the project.
  JobBuilder Builder() const;

 private:
  void GiveJob(const JobBuilder& builder, const Desire::Start& start, const std::string& worker,
               v1::ToWorker& message);

  const Deps deps_;
};

}  // namespace galley::director
