// Acknowledgements: the reports that a worker need not send again, and the attempts on which no
// worker will report any more.
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

  // The report is durable, or no cook wants it: the worker need not send the report again.
  void Acknowledge(WorkerId worker, ReportId report);
  // The worker's last report on the attempt was seen: the attempt is forgotten when all reports up
  // to the last one are acknowledged. The caller acknowledges the last report.
  void NoteEnded(WorkerId worker, ReportId report, AttemptId attempt);

 private:
  void ForgetEnded(Worker& worker);

  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
};

}  // namespace galley::director
