// CertificateKeeper: renews the certificate of a launched worker in time: when two thirds have
// passed of the time that the present certificate had left when it came. A renewal that fails is
// tried again and again, until the director says that this worker gets no more.
//
//   CertificateKeeper keeper(first, {.clock = ..., .renew = ..., .take = ...});
//   keeper.Start();   // or call Look now and then
//
// Threads: a single one calls Look; after Start it is the keeper's own.
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
    // Asks for the next certificate by the present one. FAILED_PRECONDITION, PERMISSION_DENIED and
    // UNIMPLEMENTED: there will be no more; other codes: try again. May wait.
    std::function<absl::StatusOr<wire::ClientTls>(const wire::ClientTls& present)> renew;
    // From now on the worker shows `next`.
    std::function<void(const wire::ClientTls& next)> take;
  };
  CertificateKeeper(wire::ClientTls present, Deps deps);
  ~CertificateKeeper();

  // Starts a thread that looks once a second. Called once.
  void Start();
  // Renews the certificate if it is time.
  void Look();
  // The time when Look will have something to do; InfiniteFuture: never.
  absl::Time next() const { return next_; }

 private:
  void Plan();
  bool Pause();

  const Deps deps_;
  wire::ClientTls present_;
  absl::Time end_;   // of present_
  absl::Time next_;  // wall clock
  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_over_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace galley::worker
