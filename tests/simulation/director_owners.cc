// SimDirector::Owners: the shell's owners of effects, over the simulation's ports.

#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

SimDirector::Owners::Owners(SimDirector& of)
    : commits({.store = of.fenced_,
               .journal = of.journal_,
               .results = of.results_,
               .trace = of.trace_,
               .clock = of.clock_,
               .tasks = of.tasks_,
               .inbox = of.inbox_,
               .cooks = active,
               .reports = of.reports_,
               .holds =
                   [&of] {
                     return [snapshot = of.commit_snapshot_](const StoredResult& stored) {
                       return FilesStillHold(*snapshot, stored);
                     };
                   },
               .committed = [](const std::vector<ResultId>&) {}}),
      roots({.project_id = "project"}, {.store = of.fenced_,
                                        .journal = of.journal_,
                                        .results = of.results_,
                                        .clock = of.clock_,
                                        .tasks = of.tasks_,
                                        .root_tasks = of.root_tasks_,
                                        .inbox = of.inbox_,
                                        .commits = commits,
                                        .cooks = active,
                                        .world = [&of] { return of.world_; },
                                        .sources = [&of] { return of.snapshot_; }}),
      asks({.store = of.fenced_,
            .journal = of.journal_,
            .results = of.results_,
            .commit_tasks = of.tasks_,
            .tasks = of.device_tasks_,
            .inbox = of.inbox_,
            .sources = [&of] { return of.snapshot_; },
            .world = [&of] { return of.world_; }}),
      cooks({.core = *of.core_,
             .journal = of.journal_,
             .clock = of.clock_,
             .tasks = of.tasks_,
             .inbox = of.inbox_,
             .active = active,
             .commits = commits,
             .world = [&of] { return of.world_; },
             .sources = [&of] { return of.snapshot_; },
             .before_begin = [](ActiveCook&) {},
             .after_begin = [] {},
             .before_close =
                 [&of](const ActiveCook& cook) {
                   of.After(absl::ZeroDuration(),
                            [&of, ended = cook.outcome.ended, roots = cook.outcome.roots] {
                              of.callbacks_.ended(ended, roots);
                            });
                 },
             .after_close = [] {}}),
      notices({.core = *of.core_,
               .results = of.results_,
               .clock = of.clock_,
               .inbox = of.inbox_,
               .cooks = active,
               .notes = commits.notes(),
               .ask_failures = commits.ask_failures(),
               .sources = [&of] { return of.snapshot_; },
               .name_of = NameOf,
               .keep_limit = [](const PackageFailed&) { return std::string(); },
               .quarantine = [](const WorkerQuarantined&) { return std::string("quarantined"); },
               .hold = [](const WorkerHeld&) { return std::string("held"); },
               .end_process = [](const WorkerViolated&) { return std::string("ended"); },
               .end_cook = [this](const std::shared_ptr<ActiveCook>& cook,
                                  const CookEnded& ended) { cooks.End(cook, ended); },
               .end_ask = [this](const AskEnded& ended) { asks.TakeEnded(ended); }}),
      streams(
          {.core = *of.core_,
           .results = of.results_,
           .reports = of.reports_,
           .store = of.fenced_,
           .journal = of.journal_,
           .sources = [&of] { return of.snapshot_; },
           .notes = commits.notes(),
           .name_of = NameOf,
           .has_files = [&of](const std::string& worker) { return !of.remote_.contains(worker); },
           .note_given = [&of](const Streams::Given& given) { of.NoteGiven(given); },
           .send = [&of](const std::string& worker,
                         v1::ToWorker message) { of.Send(worker, std::move(message)); }}),
      repair({.store = of.fenced_,
              .journal = of.journal_,
              .tasks = of.tasks_,
              .inbox = of.inbox_,
              .cooks = active,
              .reports = of.reports_,
              .has_room = nullptr,
              .lies_at = [&of](const Digest& digest, const store::BlobLocation& at) {
                return of.store_.LiesAt(digest, at);
              }}) {}

}  // namespace galley::simulation
