// WorkerAdmission: decides which workers may attach, makes their welcome, and quarantines workers
// (QuarantineFile).
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/record/worker_offer.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/shell/attached_workers.h"
#include "director/shell/machines.h"
#include "director/shell/quarantine_file.h"
#include "director/shell/worker_log_book.h"
#include "director/shell/worker_views.h"
#include "director/shell/world.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

// Folder under the state folder, with a folder for each worker's process.
inline constexpr const char* kScratchFolder = "scratch";

class WorkerAdmission {
 public:
  struct Options {
    std::string state_directory;
    std::string cookers_json;         // descriptions of this director's cookers
    bool is_identity_binary = false;  // [cook] identity = "binary"
    bool has_far_programs = false;    // workers without the project's files get jobs of `command`
    record::WorkerOffer local_offer;
    uint32_t term = 0;
    uint64_t memory_bytes_default = 0;
    absl::Duration timeout_default;
    std::function<absl::Status()> may_write;  // as in ShellOptions
  };
  // Everything in Deps outlives WorkerAdmission.
  struct Deps {
    const WorldHolder& world;
    store::Store& store;
    Clock& clock;
    AttachedWorkers& workers;
    WorkerViews& views;
    WorkerLogBook& log_book;
    std::function<void(Event)> tell_core;
  };

  WorkerAdmission(Options options, Deps deps);

  // Attaches the worker, and returns its welcome. An error says why the worker may not attach;
  // UNAVAILABLE: the worker will try again. `comes_from`: the peer in gRPC's form.
  absl::StatusOr<v1::ToWorker> Attach(const std::string& worker, const v1::FromWorker& first,
                                      const std::string& comes_from);
  // Returns the cookers for which the worker gets no jobs. INVALID_ARGUMENT: the worker's
  // descriptions of its cookers do not parse.
  absl::StatusOr<std::vector<std::string>> LackedBy(const v1::Hello& hello) const;
  // Says whether an attached, launched worker may get another certificate.
  absl::Status MayRenew(const std::string& worker) const;

  // Quarantines the worker, and writes that for later directors; an error is only logged.
  void Quarantine(const QuarantinedWorker& quarantined);
  // Bars a process that broke the protocol: when it tries to attach again, it is refused, with the
  // reason. Another process may use the worker's name.
  void EndProcess(const std::string& worker, uint64_t session, const std::string& why);
  // Adds the workers that earlier directors quarantined to the WorkerViews.
  void ShowQuarantined();

 private:
  absl::Status CheckCookers(const std::string& worker, const v1::Hello& hello) const;
  absl::Status CheckQuarantine(const std::string& worker, const std::string& machine);
  static absl::Status CheckWalls(const v1::Hello& hello, const World& world);
  absl::Status FillWelcome(const v1::Hello& hello, const World& world, v1::Welcome& welcome) const;

  const Options options_;
  const Deps deps_;
  absl::Status CheckProcess(const std::string& worker, uint64_t session);

  Machines machines_;
  QuarantineFile quarantine_;
  struct EndedProcess {
    uint64_t session = 0;
    std::string why;
  };
  base::Mutex mutex_;
  std::map<std::string, EndedProcess> ended_ GALLEY_GUARDED_BY(mutex_);  // the last, by worker
};

}  // namespace galley::director
