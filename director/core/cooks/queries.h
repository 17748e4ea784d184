// Queries: answers QueryAsked from the state of the present graph, a page at a time.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/packages/urgencies.h"
#include "director/core/workers/parked_jobs.h"

namespace galley::director {

class Queries : JobPart {
 public:
  Queries(const JobGround& ground, Grants& grants, Attempts& attempts, Urgencies& urgencies,
          ParkedJobs& parked_jobs)
      : JobPart(ground),
        grants_(grants),
        attempts_(attempts),
        urgencies_(urgencies),
        parked_jobs_(parked_jobs) {}

  void OnQueryAsked(const QueryAsked& event);
  // "Save", "Save, pending", "Idle, cooked".
  std::string StateTextOf(PackageId package) const;

 private:
  // True: the package failed in one cook alone (CookOnlyFailures).
  bool IsJudged(PackageId package) const;
  // True: a cook asked for the package, and leaves it out (Claimant::refused).
  bool IsRefused(PackageId package) const;
  Reply AnswerInstigators(const QueryAsked& event) const;
  std::string WaitTextOf(PackageId package) const;
  Reply AnswerPackage(const QueryAsked& event) const;

  Grants& grants_;
  Attempts& attempts_;
  Urgencies& urgencies_;
  ParkedJobs& parked_jobs_;
};

}  // namespace galley::director
