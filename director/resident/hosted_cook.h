// HostedCook: what `galley status` hears of a director that a command hosts for its own cook.
//
//   HostedCook hosted(...);                      then DirectorDoor::Open(socket, nullptr, &hosted)
//   const HostedCook::In in(hosted, admission);    while the admission is there
//
// Threads: any.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "director/host/cook_admission.h"
#include "director/host/director.h"
#include "director/resident/last_cooks.h"
#include "director/resident/project_reader.h"
#include "director/serve/client_calls.h"

namespace galley::director {

class HostedCook final : public StatusCalls {
 public:
  struct Options {
    const Director& director;  // outlives it
    v1::BuildIdentity build;
    v1::StatusAnswer::Cook cook;  // as far as it is known before it begins
    ProjectReader::Load load;     // the project, once more
  };
  explicit HostedCook(Options options);

  class In {
   public:
    In(HostedCook& hosted, const CookAdmission& admission) : hosted_(hosted) {
      hosted_.Enter(&admission);
    }
    ~In() { hosted_.Enter(nullptr); }
    In(const In&) = delete;
    In& operator=(const In&) = delete;

   private:
    HostedCook& hosted_;
  };

  void SetNumber(uint64_t cook);
  // The files were looked at.
  void SetCooking();
  void SetProgress(v1::CookProgress progress);
  // It is over, and among the last ones from then on.
  void SetEnd(const CookReport& report);

  absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask) override;

 private:
  void Enter(const CookAdmission* admission);

  const Director& director_;
  const v1::BuildIdentity build_;
  const absl::Time started_;
  ProjectReader project_;
  LastCooks last_;
  mutable base::Mutex mutex_;
  v1::StatusAnswer::Cook cook_ GALLEY_GUARDED_BY(mutex_);
  bool has_ended_ GALLEY_GUARDED_BY(mutex_) = false;
  const CookAdmission* admission_ GALLEY_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace galley::director
