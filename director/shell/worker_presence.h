// WorkerPresence: which workers are there: those that a director before left are adopted, those
// that fell silent are lost, and those that a person drains end.
//
// Threads: the loop's, but where a function says otherwise.
#pragma once

#include <string>
#include <vector>

#include "common/base/clock.h"
#include "director/journal/journal.h"
#include "director/launch/worker_record.h"
#include "director/serve/tcp_door.h"
#include "director/serve/worker_service.h"
#include "director/shell/inbox.h"
#include "director/shell/job_builder.h"
#include "director/shell/launches.h"
#include "director/shell/shared_tables.h"
#include "director/shell/silence_watch.h"
#include "director/shell/worker_log_book.h"

namespace galley::director {

class WorkerPresence {
 public:
  // All outlive it.
  struct Deps {
    Clock& clock;
    Inbox& inbox;
    WorkerService& service;
    TcpDoor* farm_door = nullptr;  // null: no worker of another machine can attach
    Launches& launches;
    SharedTables& tables;
    WorkerLogBook& log_book;
  };
  explicit WorkerPresence(const Deps& deps) : deps_(deps) {}

  // The workers of a director that died which still live, and the attempts that it gave to them.
  struct Survivors {
    std::vector<WorkerRecord> workers;
    std::vector<AttemptRecord> given;
  };
  // Adopts at most `workers_max`; the others, and those that cannot find us, are ended.
  void Adopt(const Survivors& survivors, uint32_t workers_max, const JobBuilder& builder);
  // To be called again and again: workers are lost of whose end no launcher tells.
  void LoseSilent();
  // These workers end when they have nothing in hand. Any thread.
  void Drain(const std::vector<std::string>& workers);

 private:
  const Deps deps_;
  SilenceWatch silence_;
};

}  // namespace galley::director
