// CommitOutcomes: handles the end of commits: results are durable, refused, or not committed.
// Threads: none; owned by its layer.
#pragma once

#include <string>
#include <vector>

#include "director/core/jobs/acknowledgements.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/discovered_references.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/faults.h"

namespace galley::director {

class CommitOutcomes : JobPart {
 public:
  struct Deps {
    Attempts& attempts;
    PackageProgress& package_progress;
    PendingCommits& commits;
    DiscoveredReferences& discovered_references;
    Acknowledgements& acknowledgements;
    Breakers& breakers;
    Faults& faults;
  };
  CommitOutcomes(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  void OnPersisted(const Persisted& event);

 private:
  void OnRefused(PackageId package, PlatformIndex platform, const std::string& why);
  void JudgeWorker(WorkerId worker, const Persisted::Item& item);
  void StandInstead(PackageId package, PlatformIndex platform, const ResultViewPtr& instead);
  void Uncommit(const std::vector<Persisted::Item>& items);

  const Deps deps_;
};

}  // namespace galley::director
