// Acknowledgements: tells workers which reports they need not send again, and forgets the attempts
// on which no worker will report any more.
// Threads: none; owned by its layer.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/resumed_attempts.h"

namespace galley::director {

class Acknowledgements : JobPart {
 public:
  Acknowledgements(const JobGround& ground, Attempts& attempts, ResumedAttempts& resumed_attempts)
      : JobPart(ground), attempts_(attempts), resumed_attempts_(resumed_attempts) {}

  // The report's result is durable, or not wanted: the worker need not send the report again.
  void Acknowledge(WorkerId worker, ReportId report);
  // `report` is the worker's last report on the attempt. The attempt is forgotten when all reports
  // up to it are acknowledged. The caller acknowledges `report`.
  void NoteEnded(WorkerId worker, ReportId report, AttemptId attempt);

 private:
  void ForgetEnded(Worker& worker);

  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
};

}  // namespace galley::director
