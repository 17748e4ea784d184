// WorkerPresence: adopts workers of an earlier director, declares silent workers lost, and drains
// workers.
//
// Threads: the loop's, unless a function says otherwise.
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
  // Everything in Deps outlives WorkerPresence.
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

  // Survivors: the living workers of a dead director, and the attempts that it gave them.
  struct Survivors {
    std::vector<WorkerRecord> workers;
    std::vector<AttemptRecord> given;
  };
  // Adopts at most `workers_max` survivors. Ends the other survivors, and survivors that look for a
  // director at another address.
  void Adopt(const Survivors& survivors, uint32_t workers_max, const JobBuilder& builder);
  // Declares silent workers of other machines lost. Called repeatedly.
  void LoseSilent();
  // Lets these workers end when they have no jobs. Any thread.
  void Drain(const std::vector<std::string>& workers);

 private:
  const Deps deps_;
  SilenceWatch silence_;
};

}  // namespace galley::director
