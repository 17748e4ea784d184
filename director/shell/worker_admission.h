// WorkerAdmission: which workers may attach, what one that may is told at first, and which get no
// more jobs (QuarantineFile).
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

// Under the state folder: a folder for each worker's process.
inline constexpr const char* kScratchFolder = "scratch";

class WorkerAdmission {
 public:
  struct Options {
    std::string state_directory;
    std::string cookers_json;         // as the cookers of this director describe themselves
    bool is_identity_binary = false;  // [cook] identity = "binary"
    bool has_far_programs = false;    // workers without the project's files are given `command`
    record::WorkerOffer local_offer;
    uint32_t term = 0;
    uint64_t memory_bytes_default = 0;
    absl::Duration timeout_default;
    std::function<absl::Status()> may_write;  // as ShellOptions says
  };
  // All outlive it.
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

  // The worker is attached, and this is its welcome. `comes_from`: as gRPC says it. An error says
  // why it may not be; UNAVAILABLE: it comes again.
  absl::StatusOr<v1::ToWorker> Attach(const std::string& worker, const v1::FromWorker& first,
                                      const std::string& comes_from);
  // The cookers that the worker lacks, or is not given. INVALID_ARGUMENT: its description of them
  // does not parse.
  absl::StatusOr<std::vector<std::string>> LackedBy(const v1::Hello& hello) const;
  // Whether a launched worker, which is attached, may have another certificate.
  absl::Status MayRenew(const std::string& worker) const;

  // It gets no more jobs from now on; kept for the directors to come, if it can be.
  void Quarantine(const QuarantinedWorker& quarantined);
  // The process broke the protocol: it does not come in again, and is told why. Another one may
  // take its name.
  void EndProcess(const std::string& worker, uint64_t session, const std::string& why);
  // Those of earlier directors, for people.
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
