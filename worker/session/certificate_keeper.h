// CertificateKeeper: renews the certificate of a launched worker when two thirds of its validity
// have passed, counted from its arrival. A failed renewal is repeated until the director refuses
// this worker further certificates.
//
//   CertificateKeeper keeper(first, {.clock = ..., .renew = ..., .take = ...});
//   keeper.Start();   // or call Look now and then
//
// Threads: one thread calls Look; after Start, the keeper's own thread does.
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
    // Exchanges the present certificate for the next. FAILED_PRECONDITION, PERMISSION_DENIED and
    // UNIMPLEMENTED: no next certificate will come; other codes: try again. May block.
    std::function<absl::StatusOr<wire::ClientTls>(const wire::ClientTls& present)> renew;
    // Makes the worker show `next` from now on.
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
  absl::Time end_;   // the expiry of present_
  absl::Time next_;  // wall clock
  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_over_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace galley::worker
