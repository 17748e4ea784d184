// Workers: handles the messages of attached workers: posts events to the core, and passes log
// lines, clock times and counts to the objects that keep them.
//
// Threads: Announce: the loop's; the others: any, one call at a time for each worker.
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
  // Everything in Deps outlives Workers.
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
    ProgramSideEffects& programs;  // used on the loop
    ProgressNotes& notes;          // used on the loop
    InputRepair& repair;
    // The worker's peer in gRPC's form.
    std::function<std::string(const std::string& worker)> peer_of;
    // Sends a message to the worker.
    std::function<void(const std::string& worker, v1::ToWorker message)> send;
    // Called on the loop: a launched worker has attached.
    std::function<void(const std::string& worker)> on_launched_attached;
    // Called on any thread: a worker said goodbye.
    std::function<void(const std::string& worker)> on_goodbye;
  };
  explicit Workers(Deps deps) : deps_(std::move(deps)) {}

  // Lets workers attach; before, Attach returns UNAVAILABLE.
  void Open() { is_open_ = true; }
  // Ends the waits of HearMessage, which drops messages from now on.
  void Close() { room_.Close(); }

  absl::StatusOr<v1::ToWorker> Attach(const std::string& worker, const v1::FromWorker& first);
  // Handles a message. Blocks while too many messages of the worker wait for the loop.
  void HearMessage(const std::string& worker, const v1::FromWorker& message,
                   absl::FunctionRef<bool()> is_present);
  // Sends the world to the attached workers.
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
