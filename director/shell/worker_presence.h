// WorkerPresence: which workers there are: workers of an earlier director are adopted, workers that
// fell silent are lost, and workers that a person drains end.
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

  // Survivors: the workers of a dead director that still live, and the attempts that the dead
  // director gave them.
  struct Survivors {
    std::vector<WorkerRecord> workers;
    std::vector<AttemptRecord> given;
  };
  // Adopts at most `workers_max` survivors; ends other survivors, and survivors that cannot find
  // us.
  void Adopt(const Survivors& survivors, uint32_t workers_max, const JobBuilder& builder);
  // Loses silent workers whose end no launcher tells. Called again and again.
  void LoseSilent();
  // Lets these workers end when they have nothing in hand. Any thread.
  void Drain(const std::vector<std::string>& workers);

 private:
  const Deps deps_;
  SilenceWatch silence_;
};

}  // namespace galley::director
