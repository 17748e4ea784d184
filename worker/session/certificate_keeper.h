// CertificateKeeper: gets a launched worker its next certificate before the present one ends, when
// two thirds of the time are over that it had left when it came. One that cannot be had is asked
// for again and again, until the director says that this worker gets no more.
//
//   CertificateKeeper keeper(first, {.clock = ..., .renew = ..., .take = ...});
//   keeper.Start();   // or Look, now and then
//
// Threads: one that calls Look: its own, from Start on.
#pragma once

#include <functional>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/wire/client_tls.h"

namespace galley::worker {

class CertificateKeeper {
 public:
  struct Deps {
    Clock* clock;
    // Asks for the next one with the present one. FAILED_PRECONDITION, PERMISSION_DENIED and
    // UNIMPLEMENTED: there will be none; others: try again. May wait.
    std::function<absl::StatusOr<wire::ClientTls>(const wire::ClientTls& present)> renew;
    // From now on that one is shown.
    std::function<void(const wire::ClientTls& next)> take;
  };
  CertificateKeeper(wire::ClientTls present, Deps deps);
  ~CertificateKeeper();

  // Looks once a second. Once.
  void Start();
  // Renews it if it is time.
  void Look();
  // When Look will have something to do; InfiniteFuture: never.
  absl::Time next() const { return next_; }

 private:
  void Plan();
  bool Pause();

  const Deps deps_;
  wire::ClientTls present_;
  absl::Time end_;   // of the present one
  absl::Time next_;  // wall clock
  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_over_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace galley::worker
