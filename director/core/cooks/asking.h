// Asking: questions about a running cook are answered from what is there, a page at a time.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/packages/urgencies.h"
#include "director/core/workers/parking.h"

namespace galley::director {

class Asking : JobPart {
 public:
  Asking(const JobGround& ground, Grants& grants, Attempts& attempts, Urgencies& urgencies,
         Parking& parking)
      : JobPart(ground),
        grants_(grants),
        attempts_(attempts),
        urgencies_(urgencies),
        parking_(parking) {}

  void OnQueryAsked(const QueryAsked& event);
  // "Save", "Save, pending", "Idle, cooked".
  std::string StateTextOf(PackageId package) const;

 private:
  // It failed in a cook for how it fits in, though its results stand.
  bool IsJudged(PackageId package) const;
  Reply AnswerInstigators(const QueryAsked& event) const;
  std::string WaitTextOf(PackageId package) const;
  Reply AnswerPackage(const QueryAsked& event) const;

  Grants& grants_;
  Attempts& attempts_;
  Urgencies& urgencies_;
  Parking& parking_;
};

}  // namespace galley::director
