// Enroll: a launched worker exchanges the token of its ticket for a certificate, and later, by
// Renew, each certificate for the next. Keys are made here, and never leave the process.
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
  std::string authority;    // PEM: the authority of the director's certificate
  absl::Duration wait_max;  // the time for all tries
};

// Returns the worker's certificate, and the authority that the worker trusts from now on. Asks
// again if an answer is lost or late. UNAVAILABLE: nobody answers at the address, or the director
// ends; FAILED_PRECONDITION, at once: the certificate of the answering side is not acceptable;
// UNAUTHENTICATED and others: as the director says.
absl::StatusOr<wire::ClientTls> Enroll(const EnrollOptions& options);

// The next certificate of the same name, in exchange for `present`, for an attached worker.
// FAILED_PRECONDITION: the worker is drained or quarantined, and gets none; UNAVAILABLE: nobody
// answers, or the worker is not attached; others: as the director says.
absl::StatusOr<wire::ClientTls> Renew(const EnrollOptions& options, const wire::ClientTls& present);

}  // namespace galley::worker
