// Workers: what workers say, from when they attach: it goes to the core as events, and to whoever
// keeps something of it (log, views, clocks, the ledger of their bytes).
//
// Threads: Announce: the loop's; the rest: any, for one worker one at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/shell/attached_workers.h"
#include "director/shell/clock_offsets.h"
#include "director/shell/collection_counts.h"
#include "director/shell/inbox.h"
#include "director/shell/input_repair.h"
#include "director/shell/message_room.h"
#include "director/shell/program_side_effects.h"
#include "director/shell/progress_notes.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/worker_admission.h"
#include "director/shell/worker_bytes.h"
#include "director/shell/worker_log_book.h"
#include "director/shell/worker_views.h"
#include "director/shell/worlds.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class Workers {
 public:
  // All outlive it.
  struct Deps {
    store::Store& store;
    ResultTable& results;
    Clock& clock;
    Inbox& inbox;
    Worlds& worlds;
    ReportReader& reports;
    WorkerBytes& bytes;
    AttachedWorkers& attached;
    WorkerViews& views;
    ClockOffsets& clocks;
    WorkerLogBook& log_book;
    WorkerAdmission& admission;
    CollectionCounts& collections;
    ProgramSideEffects& programs;  // of the loop
    ProgressNotes& notes;          // likewise
    InputRepair& repair;
    // How gRPC says it; what goes to a worker.
    std::function<std::string(const std::string& worker)> comes_from;
    std::function<void(const std::string& worker, v1::ToWorker message)> send;
    // One that was launched has come; one said goodbye. On the loop; any thread.
    std::function<void(const std::string& worker)> has_come;
    std::function<void(const std::string& worker)> has_left;
  };
  explicit Workers(Deps deps) : deps_(std::move(deps)) {}

  // From now on workers are let in; before, they are told to come again.
  void Open() { is_open_ = true; }
  // Nobody takes messages any more.
  void Close() { room_.Close(); }

  absl::StatusOr<v1::ToWorker> Attach(const std::string& worker, const v1::FromWorker& first);
  // Waits while too much of what the worker said is still to be taken.
  void HearMessage(const std::string& worker, const v1::FromWorker& message,
                   absl::FunctionRef<bool()> is_present);
  // Workers that are attached learn of the world. Loop thread.
  void Announce(const World& world);

 private:
  void TakeMessage(const std::string& worker, const v1::FromWorker& message);
  void TakeHello(WorkerId id, const std::string& worker, const v1::FromWorker& message);
  void HearClock(const std::string& worker, const v1::FromWorker& message);
  void TakeFigures(const std::string& worker, const v1::FromWorker& message);
  void ReadReports(WorkerId id, const std::string& worker, const v1::FromWorker& message);
  void TakeReports(WorkerReported reported, uint64_t world_number);
  void NoteFailedAttempts(const std::string& worker, const WorkerReported& reported);
  void GiveSegmentIfLow(const std::string& worker, const v1::FromWorker& message);

  const Deps deps_;
  MessageRoom room_;
  std::atomic<bool> is_open_ = false;
};

}  // namespace galley::director
