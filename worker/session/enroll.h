// Enroll: a launched worker exchanges the token of its ticket for a certificate of its own, and
// later, by Renew, that one for the next. Keys are made here, and never leave the process.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/wire/client_tls.h"

namespace galley::worker {

struct EnrollOptions {
  std::string director;  // "host:port"
  std::string worker_id;
  std::string token;
  std::string authority;    // PEM: of the director's certificate
  absl::Duration wait_max;  // so long it is tried
};

// What the worker shows and trusts from here on. An answer that is lost or late is asked for again.
// UNAVAILABLE: nobody answers at that address, or the director ends; FAILED_PRECONDITION: who
// answers there shows a certificate that will not do, at once; UNAUTHENTICATED and others: as the
// director says.
absl::StatusOr<wire::ClientTls> Enroll(const EnrollOptions& options);

// The next certificate of the same name, in exchange for `present`, of a worker that is attached.
// FAILED_PRECONDITION: it is drained or quarantined, and gets none; UNAVAILABLE: nobody answers, or
// it is not attached; others: as the director says.
absl::StatusOr<wire::ClientTls> Renew(const EnrollOptions& options, const wire::ClientTls& present);

}  // namespace galley::worker
