// Persisting: results are durable, or could not be made so.
// Threads: none; owned by Core.
#pragma once

#include <string>
#include <vector>

#include "director/core/jobs/acknowledgements.h"
#include "director/core/jobs/advancing.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/explored.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/faults.h"

namespace galley::director {

class Persisting : JobPart {
 public:
  Persisting(const JobGround& ground, Attempts& attempts, Advancing& advancing,
             PendingCommits& commits, Explored& explored, Acknowledgements& acknowledgements,
             Breakers& breakers, Faults& faults)
      : JobPart(ground),
        attempts_(attempts),
        advancing_(advancing),
        commits_(commits),
        explored_(explored),
        acknowledgements_(acknowledgements),
        breakers_(breakers),
        faults_(faults) {}

  void OnPersisted(const Persisted& event);

 private:
  void OnRefused(PackageId package, PlatformIndex platform, const std::string& why);
  void JudgeWorker(WorkerId worker, const Persisted::Item& item);
  void StandInstead(PackageId package, PlatformIndex platform, const ResultViewPtr& instead);
  void Uncommit(const std::vector<Persisted::Item>& items);

  Attempts& attempts_;
  Advancing& advancing_;
  PendingCommits& commits_;
  Explored& explored_;
  Acknowledgements& acknowledgements_;
  Breakers& breakers_;
  Faults& faults_;
};

}  // namespace galley::director
